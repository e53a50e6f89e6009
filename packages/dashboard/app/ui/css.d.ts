import "react"

declare module "react" {
  // Custom properties are set by React as any other.
  interface CSSProperties {
    [property: `--${string}`]: string | number | undefined
  }
}

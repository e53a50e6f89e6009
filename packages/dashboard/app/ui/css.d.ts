import "react"

declare module "react" {
  // React also sets custom properties.
  interface CSSProperties {
    [property: `--${string}`]: string | number | undefined
  }
}

import { Icon, type IconName } from "./Icon.tsx"

/** How good a state is. */
export type Tone = "good" | "bad" | "wait" | "quiet"

const LOOKS: Readonly<Record<Tone, readonly [icon: IconName, className: string]>> = {
  good: ["delivered", "delivered"],
  bad: ["failed", "failed"],
  wait: ["pending", "pending"],
  quiet: ["off", "disabled"],
}

/** A badge of a state. Its shape and its word say the state without colours. */
export const StateBadge = ({ tone, word }: { readonly tone: Tone; readonly word: string }) => {
  const [icon, className] = LOOKS[tone]
  return (
    <span className={`badge ${className}`}>
      <Icon name={icon} />
      {word}
    </span>
  )
}

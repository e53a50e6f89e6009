/**
 * What the states of a subscription are called.
 */
import type { Subscription } from "../api/Types.ts"
import type { Tone } from "../ui/StateBadge.tsx"

export const PHASES: Readonly<Record<Subscription["phase"], readonly [tone: Tone, word: string]>> = {
  scheduled: ["wait", "Scheduled"],
  trialing: ["wait", "Trial"],
  active: ["good", "Active"],
  paused: ["quiet", "Paused"],
  ended: ["quiet", "Ended"],
}

/** The phases for a filter. */
export const PHASE_OPTIONS = Object.entries(PHASES).map(([value, [, word]]) => [value, word] as const)

/** `pro, version 2`. */
export const planText = ({ key, version }: Subscription["plan"]): string => `${key}, version ${version}`

/** `12 seats, 3 regions`. Empty without quantities. */
export const quantitiesText = (quantities: Subscription["quantities"]): string =>
  Object.entries(quantities)
    .map(([name, quantity]) => `${quantity} ${name}`)
    .join(", ")

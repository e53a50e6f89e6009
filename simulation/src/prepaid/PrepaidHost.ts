/**
 * A host of prepaid credits, and the shape of what it does.
 */
import type { Host, PaymentCommand, Work } from "../payments/PaymentCommands.ts"
import type { Choice } from "../world/Choice.ts"

/** A host: a tenant with one customer. */
export interface PrepaidHost extends Host {
  /** The holds that it knows of. */
  readonly holds: Array<string>
  /** The usage records that it knows of. */
  readonly records: Array<string>
}

/** A command that is decided. It may run several times. */
type PrepaidWork = (host: PrepaidHost) => ReturnType<Work>

export interface PrepaidCommand extends Omit<PaymentCommand, "decide"> {
  readonly decide: (choice: Choice, number: number) => PrepaidWork
}

/** The idempotency key of a command. */
export const keyOf = (number: number): string => `command ${number}`

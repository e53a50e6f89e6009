/**
 * How a call of a payment provider fails.
 */
import { Data } from "effect"

/**
 * A call of a provider failed. `transient`: surely nothing happened, and the same call may work later. `permanent`: surely
 * nothing happened, and a person has to change something. `unknown`: it may have happened.
 */
export class ProviderFailure extends Data.TaggedError("ProviderFailure")<{
  readonly reason: "transient" | "permanent" | "unknown"
  /** What went wrong, for people. It must have no secret and no detail of a card. */
  readonly message: string
}> {}

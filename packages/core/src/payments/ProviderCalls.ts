/**
 * Calls of a payment provider, within their time.
 */
import type { Effect } from "effect"
import { answerWithin } from "../shared/OutsideCall.ts"
import { PROVIDER_MILLIS } from "./PaymentProvider.ts"
import { ProviderFailure } from "./ProviderFailure.ts"

const failureOf = (problem: unknown) =>
  new ProviderFailure({
    reason: "unknown",
    message: problem instanceof Error ? problem.message : "the provider failed",
  })

/** A call within its time. Whatever else goes wrong in it leaves its outcome unknown. */
export const within = <A>(call: () => Effect.Effect<A, ProviderFailure>): Effect.Effect<A, ProviderFailure> =>
  answerWithin(call, PROVIDER_MILLIS, failureOf)

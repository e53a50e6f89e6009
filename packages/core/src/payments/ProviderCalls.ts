/**
 * Calls of a payment provider, within their time.
 */
import { Effect } from "effect"
import { PROVIDER_MILLIS } from "./PaymentProvider.ts"
import { ProviderFailure } from "./ProviderFailure.ts"

const unknown = (message: string) => new ProviderFailure({ reason: "unknown", message })

/** A call within its time. Whatever else goes wrong in it leaves its outcome unknown. */
export const within = <A>(call: Effect.Effect<A, ProviderFailure>): Effect.Effect<A, ProviderFailure> =>
  call.pipe(
    Effect.timeoutOrElse({
      duration: PROVIDER_MILLIS,
      orElse: () => Effect.fail(unknown("the provider did not answer in time")),
    }),
    Effect.catchDefect((defect) =>
      Effect.fail(unknown(defect instanceof Error ? defect.message : "the provider failed")),
    ),
  )

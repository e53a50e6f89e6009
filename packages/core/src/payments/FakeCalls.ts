/**
 * Calls of a provider for tests, and what goes wrong with them.
 */
import { Effect } from "effect"
import type { MethodProvider } from "./MethodProvider.ts"
import type { PaymentProvider } from "./PaymentProvider.ts"
import { ProviderFailure } from "./ProviderFailure.ts"

/** A call of a provider. */
export type ProviderCall =
  | Exclude<keyof PaymentProvider, "name" | "chargeable" | "methods" | "receive">
  | keyof MethodProvider

/**
 * What goes wrong with a call.
 *
 * - `lose_request`: the request never arrives, and nobody knows that.
 * - `lose_reply`: it is done, and the answer is lost.
 * - `refuse`: the provider is busy; surely nothing happened.
 * - `break`: it refuses for good, such as for a wrong key of the host; surely nothing happened.
 * - `twice`: the request arrives twice.
 * - `late`: the answer is one of earlier.
 */
export type ProviderFault = "lose_request" | "lose_reply" | "refuse" | "break" | "twice" | "late"

/** What goes wrong with a call. `undefined`: nothing. */
export type FaultOf = (call: ProviderCall) => ProviderFault | undefined

const unknown = (message: string) => new ProviderFailure({ reason: "unknown", message })

/** Makes a call, with what goes wrong. `before` is the answer of earlier, if there is one. */
export const callWith =
  (faultOf: FaultOf) =>
  <A>(
    call: ProviderCall,
    work: () => A,
    before: () => A | undefined = () => undefined,
  ): Effect.Effect<A, ProviderFailure> =>
    Effect.suspend((): Effect.Effect<A, ProviderFailure> => {
      switch (faultOf(call)) {
        case "lose_request":
          return Effect.fail(unknown("the connection was lost"))
        case "lose_reply":
          work()
          return Effect.fail(unknown("the connection was lost"))
        case "refuse":
          return Effect.fail(new ProviderFailure({ reason: "transient", message: "too many requests" }))
        case "break":
          return Effect.fail(new ProviderFailure({ reason: "permanent", message: "the key is wrong" }))
        case "twice":
          work()
          return Effect.sync(work)
        case "late": {
          const now = work()
          return Effect.succeed(before() ?? now)
        }
        case undefined:
          return Effect.sync(work)
      }
    })

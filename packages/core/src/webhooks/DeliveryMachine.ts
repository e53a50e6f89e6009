/**
 * The delivery state machine: the next state of a delivery after an event. It is pure, and it is the only code that
 * changes a status.
 *
 * | from      | on                           | to                                           |
 * | --------- | ---------------------------- | -------------------------------------------- |
 * | —         | published, replayed          | `Pending`, due now                           |
 * | `Pending` | answered 2xx                 | `Delivered`                                  |
 * | `Pending` | failed, attempts left        | `Pending`, due after the back-off            |
 * | `Pending` | failed, none left            | `Failed` (`exhausted`)                       |
 * | `Pending` | answered 410                 | `Failed` (`gone`), the endpoint is disabled  |
 * | `Pending` | result lost, attempts left   | `Pending`, due now                           |
 * | `Pending` | result lost, none left       | `Failed` (`exhausted`)                       |
 * | `Pending` | not begun, for want of room  | `Pending`, due now                           |
 * | `Pending` | endpoint disabled or deleted | `Failed` (`endpoint_disabled`, `_deleted`)   |
 * | `Pending` | can't be read                | `Failed` (`unreadable`)                      |
 *
 * `Delivered` and `Failed` are final. A replay is a new delivery of the same event.
 */
import type { FailureReason } from "./Delivery.ts"
import { MAX_FAILING_MILLIS } from "./Endpoint.ts"
import { allowsAfter, delayMillis, type RetryPolicy } from "./RetryPolicy.ts"

/** The state of a delivery. `attemptCount` counts attempts that ended. Instants are epoch milliseconds. */
export type DeliveryState =
  | { readonly status: "Pending"; readonly attemptCount: number; readonly dueAt: number }
  | { readonly status: "Delivered"; readonly attemptCount: number }
  | { readonly status: "Failed"; readonly attemptCount: number; readonly reason: FailureReason }

/** What can happen to a pending delivery. */
export type DeliveryEvent =
  /** The receiver answered 2xx. */
  | { readonly _tag: "Succeeded" }
  /**
   * The receiver gave any other answer, or none. `notBefore` is the earliest instant of the next attempt when the
   * receiver asked to wait (`Retry-After`).
   */
  | { readonly _tag: "AttemptFailed"; readonly notBefore: number | undefined }
  /** The receiver answered 410 Gone. */
  | { readonly _tag: "Gone" }
  /** A lease ended without a result. The attempt was recorded as `unknown` and is already counted. */
  | { readonly _tag: "Lost" }
  /** It was leased, and no attempt was begun. */
  | { readonly _tag: "Released" }
  | { readonly _tag: "EndpointDisabled" }
  | { readonly _tag: "EndpointDeleted" }
  /** The stored row can't be read. */
  | { readonly _tag: "Unreadable" }

/** What the next state depends on. `random`, from 0 to 1, chooses the delay within the jitter of the back-off. */
export interface Circumstances {
  readonly policy: RetryPolicy
  readonly now: number
  readonly random: number
}

/** The next state. Final states never change. */
export const next = (
  state: DeliveryState,
  event: DeliveryEvent,
  { now, policy, random }: Circumstances,
): DeliveryState => {
  if (state.status !== "Pending") return state
  const { attemptCount } = state
  const ended = attemptCount + 1
  switch (event._tag) {
    case "Succeeded":
      return { status: "Delivered", attemptCount: ended }
    case "AttemptFailed": {
      if (!allowsAfter(policy, ended)) return { status: "Failed", attemptCount: ended, reason: "exhausted" }
      const backOff = now + delayMillis(policy, ended, random)
      return { status: "Pending", attemptCount: ended, dueAt: Math.max(backOff, event.notBefore ?? backOff) }
    }
    case "Gone":
      return { status: "Failed", attemptCount: ended, reason: "gone" }
    case "Lost":
      return allowsAfter(policy, attemptCount)
        ? { status: "Pending", attemptCount, dueAt: now }
        : { status: "Failed", attemptCount, reason: "exhausted" }
    case "Released":
      return { status: "Pending", attemptCount, dueAt: now }
    case "EndpointDisabled":
      return { status: "Failed", attemptCount, reason: "endpoint_disabled" }
    case "EndpointDeleted":
      return { status: "Failed", attemptCount, reason: "endpoint_deleted" }
    case "Unreadable":
      return { status: "Failed", attemptCount, reason: "unreadable" }
  }
}

/**
 * Why an attempt's result disables its endpoint: it answered 410, or all attempts have failed for
 * `MAX_FAILING_MILLIS`. `undefined` when the endpoint stays enabled.
 */
export const disables = (
  event: DeliveryEvent,
  failingSince: number | undefined,
  now: number,
): "gone" | "failing" | undefined => {
  if (event._tag === "Gone") return "gone"
  const isFailing = event._tag === "AttemptFailed" && failingSince !== undefined
  return isFailing && now - failingSince >= MAX_FAILING_MILLIS ? "failing" : undefined
}

/**
 * What a payment provider answers, checked: it comes from outside. What is not understood leaves the outcome of the call
 * unknown.
 */
import type { PaymentRead } from "@billwright/engine"
import { DateTime, Effect, Redacted, Schema } from "effect"
import * as Text from "../shared/Text.ts"
import { MAX_REFERENCE_LENGTH } from "./Payment.ts"
import type { AttemptAnswer } from "./PaymentProvider.ts"
import { ProviderFailure } from "./ProviderFailure.ts"
import type { ProviderDispute, ProviderRefund } from "./ProviderRefunds.ts"

/** Longest code of a decline that is kept, in code points. The rest is cut. */
export const MAX_CODE_LENGTH = 100
/** The code of a decline without one. */
const NO_CODE = "declined"
/** How far ahead a provider may put the next attempt: a year. */
const MAX_WAIT_MILLIS = 366 * 86_400_000

const isSecret = (value: unknown): value is Redacted.Redacted<string> =>
  Redacted.isRedacted(value) && typeof Redacted.value(value) === "string"
const Secret = Schema.NullOr(Schema.declare(isSecret))

const Declined = Schema.Struct({
  status: Schema.Literal("declined"),
  attemptId: Schema.String,
  code: Schema.String,
  advice: Schema.NullOr(Schema.Literals(["retry", "new_method", "confirm", "stop"])),
  notBefore: Schema.NullOr(Schema.Int),
})
const Simple = Schema.Struct({ status: Schema.Literals(["open", "closed", "succeeded", "processing"]) })
const Read = Schema.Union([Simple, Schema.Struct({ status: Schema.Literal("requires_action") }), Declined])
const Attempted = Schema.Union([
  Simple,
  Schema.Struct({
    status: Schema.Literal("requires_action"),
    action: Schema.optionalKey(Schema.Struct({ clientSecret: Secret, url: Secret })),
  }),
  Declined,
])
const Reference = Text.bounded(1, MAX_REFERENCE_LENGTH)
const returned = {
  paymentReference: Schema.String,
  amount: Schema.BigInt,
  currency: Schema.String,
}
const Refund = Schema.Struct({
  ...returned,
  reference: Schema.NullOr(Reference),
  refundId: Schema.NullOr(Schema.String),
  status: Schema.Literals(["pending", "succeeded", "failed"]),
  code: Schema.NullOr(Schema.String),
})
const Dispute = Schema.Struct({
  ...returned,
  reference: Reference,
  status: Schema.Literals(["open", "won", "lost"]),
  reason: Schema.String,
  respondBy: Schema.NullOr(Schema.Int),
})
const Opened = Schema.Struct({ reference: Reference })
const Closed = Schema.Literals(["closed", "already_succeeded"])

/** The message has nothing of the answer: it may have secrets. */
const notUnderstood = (what: string) =>
  new ProviderFailure({ reason: "unknown", message: `the provider's answer has ${what}` })

const checked = <A>(schema: Schema.Codec<A, unknown>, what: string) => {
  const decode = Schema.decodeUnknownEffect(schema)
  return (answer: unknown): Effect.Effect<A, ProviderFailure> =>
    Effect.mapError(decode(answer), () => notUnderstood(what))
}

const codeOf = (code: string, otherwise: string): string =>
  Text.cleaned(code, MAX_CODE_LENGTH).trim() || otherwise

const cleaned = Effect.fnUntraced(function* <A extends AttemptAnswer | PaymentRead>(answer: A) {
  if (answer.status !== "declined") return answer
  const { epochMilliseconds: now } = yield* DateTime.now
  if (answer.notBefore !== null && answer.notBefore > now + MAX_WAIT_MILLIS) {
    return yield* notUnderstood("a date that is more than a year ahead")
  }
  return { ...answer, code: codeOf(answer.code, NO_CODE) }
})

const NO_STATE = "no state of a payment"
const toRead = checked<PaymentRead>(Read, NO_STATE)
const toAttempted = checked<AttemptAnswer>(Attempted, NO_STATE)

/** How a payment stands. */
export const paymentRead = (answer: unknown) => Effect.flatMap(toRead(answer), cleaned)
/** What an attempt came to. */
export const attemptAnswer = (answer: unknown) => Effect.flatMap(toAttempted(answer), cleaned)
/** The reference of an opened payment. */
export const openedPayment = checked(Opened, `no reference of 1 to ${MAX_REFERENCE_LENGTH} characters`)
/** Whether a payment is closed, or has succeeded. */
export const closedPayment = checked(Closed, "neither closed nor already_succeeded")

const toRefund = checked<ProviderRefund>(Refund, "no refund")
const toRefundOrNone = checked<ProviderRefund | null>(Schema.NullOr(Refund), "no refund")
const toDisputeOrNone = checked<ProviderDispute | null>(Schema.NullOr(Dispute), "no dispute")

const cleanedRefund = (refund: ProviderRefund): ProviderRefund => ({
  ...refund,
  code: refund.code === null ? null : codeOf(refund.code, "failed"),
})

/** A refund that was made. */
export const madeRefund = (answer: unknown) => Effect.map(toRefund(answer), cleanedRefund)
/** How a refund stands. `null`: there is none. */
export const refundRead = (answer: unknown) =>
  Effect.map(toRefundOrNone(answer), (refund) => (refund === null ? null : cleanedRefund(refund)))
/** How a dispute stands. `null`: there is none. */
export const disputeRead = (answer: unknown) =>
  Effect.map(toDisputeOrNone(answer), (dispute) =>
    dispute === null ? null : { ...dispute, reason: codeOf(dispute.reason, "unknown") },
  )

/**
 * Refunds and disputes at Stripe.
 */
import type {
  ProviderDispute,
  ProviderFailure,
  ProviderRefund,
  RefundPayment,
  RefundQuery,
} from "@billwright/core"
import { Effect } from "effect"
import type { Stripe } from "stripe"
import { METADATA } from "./PaymentStates.ts"
import { fromStripe, isRepresentable, toStripe } from "./StripeAmounts.ts"
import { orFail, orMissing, type StripeCalls } from "./StripeCalls.ts"
import type { StripeRefusal } from "./StripeRefusal.ts"

/** Refunds on a page of a list, and the most pages that are looked through for one. */
const PAGE = 100
const MAX_PAGES = 20

const AMOUNT_TOO_LARGE = "amount_too_large"
const NOT_REPRESENTABLE = "not_representable"

const idOf = (value: string | { readonly id: string } | null | undefined): string | null =>
  typeof value === "object" ? (value?.id ?? null) : (value ?? null)

const refundOf = (refund: Stripe.Refund): ProviderRefund | null => {
  const paymentReference = idOf(refund.payment_intent)
  if (paymentReference === null) return null
  const hasFailed = refund.status === "failed" || refund.status === "canceled"
  return {
    reference: refund.id,
    paymentReference,
    refundId: refund.metadata?.[METADATA.refund] ?? null,
    ...fromStripe(refund.amount, refund.currency),
    status: hasFailed ? "failed" : refund.status === "succeeded" ? "succeeded" : "pending",
    code: hasFailed ? (refund.failure_reason ?? refund.status) : null,
  }
}

const DISPUTE_STATUS: Partial<Record<Stripe.Dispute.Status, ProviderDispute["status"]>> = {
  lost: "lost",
  won: "won",
  warning_closed: "won",
}

/** One that was prevented was settled before it began: by giving the money to the customer, or without that. */
const statusOf = ({ balance_transactions: moves, status }: Stripe.Dispute): ProviderDispute["status"] => {
  if (status !== "prevented") return DISPUTE_STATUS[status] ?? "open"
  return moves.reduce((sum, { amount }) => sum + amount, 0) < 0 ? "lost" : "won"
}

const disputeOf = (dispute: Stripe.Dispute): ProviderDispute | null => {
  const paymentReference = idOf(dispute.payment_intent)
  const { due_by: due } = dispute.evidence_details
  return paymentReference === null
    ? null
    : {
        reference: dispute.id,
        paymentReference,
        ...fromStripe(dispute.amount, dispute.currency),
        status: statusOf(dispute),
        reason: dispute.reason,
        respondBy: due === null ? null : due * 1_000,
      }
}

/** Why Stripe does not make a refund. `null`: that is not what it says. */
const refusedBy = ({ code, param, status }: StripeRefusal): string | null => {
  if (status !== 400) return null
  if (code === "charge_already_refunded" || param === "amount") return AMOUNT_TOO_LARGE
  return code?.startsWith("parameter_") === true ? null : (code ?? "refused")
}

/** Gives money back. */
export class StripeRefunds {
  readonly #calls: StripeCalls

  constructor(calls: StripeCalls) {
    this.#calls = calls
  }

  /** A refund that is there is not made again, also when Stripe has forgotten its key. */
  refund(refund: RefundPayment): Effect.Effect<ProviderRefund, ProviderFailure> {
    const { amount, currency, paymentReference, refundId } = refund
    const params: Stripe.RefundCreateParams = {
      payment_intent: paymentReference,
      amount: toStripe(refund),
      metadata: { [METADATA.refund]: refundId },
    }
    const refused = (code: string): ProviderRefund => ({
      reference: null,
      paymentReference,
      refundId,
      amount,
      currency,
      status: "failed",
      code,
    })
    if (!isRepresentable(refund)) return Effect.succeed(refused(NOT_REPRESENTABLE))
    const made = this.#calls.sendOnce(refundId, (client, options) => client.refunds.create(params, options))
    return this.#find(paymentReference, refundId).pipe(
      // Nothing was given back yet.
      Effect.mapError((refusal) => (refusal.reason === "unknown" ? refusal.asTransient : refusal)),
      Effect.flatMap((found) => (found === undefined ? made : Effect.succeed(found))),
      Effect.map((one) => refundOf(one) ?? refused("no_payment")),
      Effect.catchTag("StripeRefusal", (refusal) => {
        const code = refusedBy(refusal)
        return code === null ? Effect.fail(refusal) : Effect.succeed(refused(code))
      }),
      orFail,
    )
  }

  readRefund(query: RefundQuery): Effect.Effect<ProviderRefund | null, ProviderFailure> {
    const read: Effect.Effect<Stripe.Refund | null | undefined, StripeRefusal> =
      "reference" in query
        ? orMissing(
            this.#calls.send((client, options) => client.refunds.retrieve(query.reference, {}, options)),
          )
        : this.#find(query.paymentReference, query.refundId)
    return read.pipe(
      Effect.map((refund) => (refund === null || refund === undefined ? null : refundOf(refund))),
      orFail,
    )
  }

  readDispute(reference: string): Effect.Effect<ProviderDispute | null, ProviderFailure> {
    const read = this.#calls.send((client, options) => client.disputes.retrieve(reference, {}, options))
    return orMissing(read).pipe(
      Effect.map((dispute) => (dispute === null ? null : disputeOf(dispute))),
      orFail,
    )
  }

  /** The refund of our id. Stripe's list shows what was made at once. */
  #find(paymentIntent: string, refundId: string): Effect.Effect<Stripe.Refund | undefined, StripeRefusal> {
    const calls = this.#calls
    return Effect.gen(function* () {
      let after: string | undefined
      for (let page = 0; page < MAX_PAGES; page += 1) {
        const params = {
          payment_intent: paymentIntent,
          limit: PAGE,
          ...(after !== undefined && { starting_after: after }),
        }
        const { data, has_more: hasMore } = yield* calls.send((client, options) =>
          client.refunds.list(params, options),
        )
        const found = data.find(({ metadata }) => metadata?.[METADATA.refund] === refundId)
        if (found !== undefined || !hasMore) return found
        after = data.at(-1)?.id
      }
      return undefined
    })
  }
}

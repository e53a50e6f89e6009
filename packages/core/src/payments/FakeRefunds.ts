/**
 * The refunds and disputes of a fake provider.
 */
import type { FakeNotices } from "./FakeNotices.ts"
import type { ProviderDispute, ProviderRefund, RefundPayment, RefundQuery } from "./ProviderRefunds.ts"

/** What a new refund comes to, if nothing goes wrong. */
export type FakeRefundOutcome = "succeeded" | "pending" | { readonly code: string }

/** What was taken of a payment. */
interface Taken {
  readonly reference: string
  readonly amount: bigint
  readonly currency: string
}

const failed = (refund: ProviderRefund, code: string): ProviderRefund => ({
  ...refund,
  status: "failed",
  code,
})

/** Keeps refunds and disputes in memory. */
export class FakeRefunds {
  readonly #refunds = new Map<string, ProviderRefund>()
  readonly #disputes = new Map<string, ProviderDispute>()
  readonly #notices: FakeNotices

  constructor(notices: FakeNotices) {
    this.#notices = notices
  }

  get refunds(): ReadonlyArray<ProviderRefund> {
    return [...this.#refunds.values()]
  }

  get disputes(): ReadonlyArray<ProviderDispute> {
    return [...this.#disputes.values()]
  }

  /** What was given back of a payment, or is about to be. */
  refunded(paymentReference: string): bigint {
    return this.refunds
      .filter((one) => one.paymentReference === paymentReference && one.status !== "failed")
      .reduce((sum, { amount }) => sum + amount, 0n)
  }

  refund(
    {
      amount,
      currency,
      paymentReference,
      refundId,
    }: Omit<RefundPayment, "refundId"> & {
      readonly refundId: string | null
    },
    taken: Taken | undefined,
    outcome: FakeRefundOutcome,
  ): ProviderRefund {
    const known = this.refunds.find((one) => one.refundId === refundId && refundId !== null)
    if (known !== undefined) return known
    const asked: ProviderRefund = {
      reference: null,
      paymentReference,
      refundId,
      amount,
      currency,
      status: "succeeded",
      code: null,
    }
    if (taken === undefined) return failed(asked, "payment_not_succeeded")
    if (currency !== taken.currency) return failed(asked, "wrong_currency")
    const disputed = this.disputes.some(
      (one) => one.paymentReference === paymentReference && one.status !== "won",
    )
    if (disputed) return failed(asked, "payment_disputed")
    if (this.refunded(paymentReference) + amount > taken.amount) return failed(asked, "amount_too_large")
    const made = { ...asked, reference: `fake_re_${this.#refunds.size + 1}` }
    return this.#keep(
      typeof outcome === "string" ? { ...made, status: outcome } : failed(made, outcome.code),
      made.reference,
    )
  }

  find(query: RefundQuery): ProviderRefund | null {
    const found =
      "reference" in query
        ? this.#refunds.get(query.reference)
        : this.refunds.find(
            ({ paymentReference, refundId }) =>
              paymentReference === query.paymentReference && refundId === query.refundId,
          )
    return found ?? null
  }

  settle(reference: string, outcome: "succeeded" | { readonly code: string }): void {
    const refund = this.#refunds.get(reference)
    if (refund === undefined) throw new TypeError(`no refund has the reference ${reference}`)
    this.#keep(
      outcome === "succeeded" ? { ...refund, status: outcome, code: null } : failed(refund, outcome.code),
      reference,
    )
  }

  dispute(taken: Taken, amount: bigint): ProviderDispute {
    const reference = `fake_dp_${this.#disputes.size + 1}`
    return this.#keepDispute({
      reference,
      paymentReference: taken.reference,
      amount,
      currency: taken.currency,
      status: "open",
      reason: "fraudulent",
      respondBy: null,
    })
  }

  findDispute(reference: string): ProviderDispute | null {
    return this.#disputes.get(reference) ?? null
  }

  closeDispute(reference: string, status: "won" | "lost"): void {
    const dispute = this.#disputes.get(reference)
    if (dispute === undefined) throw new TypeError(`no dispute has the reference ${reference}`)
    this.#keepDispute({ ...dispute, status })
  }

  #keep(refund: ProviderRefund, reference: string): ProviderRefund {
    this.#refunds.set(reference, refund)
    this.#notices.note("refund", reference)
    return refund
  }

  #keepDispute(dispute: ProviderDispute): ProviderDispute {
    this.#disputes.set(dispute.reference, dispute)
    this.#notices.note("dispute", dispute.reference)
    return dispute
  }
}

/**
 * Money that the bank gives back: refunds, also by hand, and disputes that customers' banks decide. It keeps the promises
 * of `PaymentProvider`: a refund counts once, what was refused stays refused, and refunds are never more than is left.
 */
import type { ProviderDispute, ProviderRefund, RefundPayment, RefundQuery } from "@billwright/core"
import type { Choice } from "../world/Choice.ts"

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** What happened to money that goes back. `refused` is a refund that the bank never made. */
export type ReturnFact =
  | { readonly type: "refund"; readonly refund: ProviderRefund; readonly invoiceId: string }
  | { readonly type: "refused"; readonly refund: ProviderRefund; readonly invoiceId: string }
  | { readonly type: "dispute"; readonly dispute: ProviderDispute; readonly invoiceId: string }

/** A payment whose money the bank has taken. */
export interface Taken {
  readonly reference: string
  readonly invoiceId: string
  readonly amount: bigint
  readonly currency: string
}

/** How money that goes back reaches the rest of the bank. */
interface Outside {
  /** Whether the bank tells of what happens by itself. Otherwise nothing does that nobody asked for. */
  readonly isTelling: boolean
  readonly later: (afterMillis: number, arrive: () => void) => void
  /** Notes what happened, and tells the host of it. */
  readonly note: (fact: ReturnFact, taken: Taken) => void
}

export class GivenBack {
  readonly #choice: Choice
  readonly #outside: Outside
  readonly #refunds = new Map<string, ProviderRefund>()
  readonly #refused = new Map<string, ProviderRefund>()
  readonly #disputes = new Map<string, ProviderDispute>()

  constructor(choice: Choice, outside: Outside) {
    this.#choice = choice
    this.#outside = outside
  }

  /** `taken` is undefined if the bank has not taken the money. */
  refund({ amount, currency, paymentReference, refundId }: RefundPayment, taken: Taken | undefined) {
    const known = this.#made(refundId) ?? this.#refused.get(refundId)
    if (known !== undefined) return known
    const asked = { reference: null, paymentReference, refundId, amount, currency, code: null }
    if (taken === undefined || amount > this.#left(taken)) {
      const code = taken === undefined ? "payment_not_succeeded" : "amount_too_large"
      const refused = { ...asked, status: "failed", code } as const
      this.#refused.set(refundId, refused)
      if (taken !== undefined) {
        const { invoiceId } = taken
        this.#outside.note({ type: "refused", refund: refused, invoiceId }, taken)
      }
      return refused
    }
    return this.#make({ ...asked, status: "pending" }, taken)
  }

  find(query: RefundQuery): ProviderRefund | null {
    const found = "reference" in query ? this.#refunds.get(query.reference) : this.#made(query.refundId)
    return found ?? null
  }

  findDispute(reference: string): ProviderDispute | null {
    return this.#disputes.get(reference) ?? null
  }

  /** What may become of money that was just taken: somebody refunds it by hand, or the customer disputes it. */
  expect(taken: Taken): void {
    if (!this.#outside.isTelling) return
    const choice = this.#choice
    if (choice.chance(0.15)) this.#outside.later(choice.int(HOUR, 8 * DAY), () => this.#refundByHand(taken))
    if (choice.chance(0.3)) this.#outside.later(choice.int(HOUR, 10 * DAY), () => this.#dispute(taken))
  }

  #made(refundId: string): ProviderRefund | undefined {
    return [...this.#refunds.values()].find((one) => one.refundId === refundId)
  }

  #left({ amount, reference }: Taken): bigint {
    const refunds = [...this.#refunds.values()].filter(({ status }) => status !== "failed")
    const disputes = [...this.#disputes.values()].filter(({ status }) => status !== "won")
    return [...refunds, ...disputes]
      .filter(({ paymentReference }) => paymentReference === reference)
      .reduce((left, one) => left - one.amount, amount)
  }

  #part(most: bigint): bigint {
    return this.#choice.chance(0.5) || most === 1n ? most : most / BigInt(this.#choice.int(2, 3))
  }

  #refundByHand(taken: Taken): void {
    const left = this.#left(taken)
    if (left <= 0n) return
    const { currency, reference: paymentReference } = taken
    const amount = this.#part(left)
    const asked = { reference: null, paymentReference, refundId: null, amount, currency, code: null }
    this.#make({ ...asked, status: "pending" }, taken)
  }

  #make(refund: ProviderRefund, taken: Taken): ProviderRefund {
    const made = { ...refund, reference: `refund_${this.#refunds.size + 1}` }
    const status = this.#choice.weighted<ProviderRefund["status"]>([
      [6, "succeeded"],
      [3, "pending"],
      [1, "failed"],
    ])
    return this.#becomes(made, status, taken)
  }

  #becomes(refund: ProviderRefund, status: ProviderRefund["status"], taken: Taken): ProviderRefund {
    const choice = this.#choice
    const changed = { ...refund, status, code: status === "failed" ? "lost_card" : null }
    this.#refunds.set(refund.reference!, changed)
    this.#outside.note({ type: "refund", refund: changed, invoiceId: taken.invoiceId }, taken)
    if (status === "pending") {
      const next = choice.chance(0.75) ? "succeeded" : "failed"
      this.#outside.later(choice.int(HOUR, 6 * DAY), () => this.#becomes(changed, next, taken))
    }
    // The customer's bank sends it back. Nobody asks about that: it is known because the bank tells it.
    if (status === "succeeded" && this.#outside.isTelling && choice.chance(0.15)) {
      this.#outside.later(choice.int(HOUR, 10 * DAY), () => this.#becomes(changed, "failed", taken))
    }
    return changed
  }

  /** Customers also dispute what was refunded already. */
  #dispute(taken: Taken): void {
    const { amount, currency, reference: paymentReference } = taken
    const reference = `dispute_${this.#disputes.size + 1}`
    const opened: ProviderDispute = {
      reference,
      paymentReference,
      amount: this.#part(amount),
      currency,
      status: "open",
      reason: "fraudulent",
      respondBy: null,
    }
    this.#decides(opened, "open", taken, 3)
  }

  /** A bank may think again, a few times. */
  #decides(dispute: ProviderDispute, status: ProviderDispute["status"], taken: Taken, times: number): void {
    const choice = this.#choice
    const changed = { ...dispute, status }
    this.#disputes.set(dispute.reference, changed)
    this.#outside.note({ type: "dispute", dispute: changed, invoiceId: taken.invoiceId }, taken)
    if (times === 0 || !choice.chance(status === "open" ? 0.9 : 0.3)) return
    const next = choice.weighted<ProviderDispute["status"]>([
      [4, "lost"],
      [3, "won"],
      [1, "open"],
    ])
    if (next === status) return
    this.#outside.later(choice.int(HOUR, 8 * DAY), () => this.#decides(changed, next, taken, times - 1))
  }
}

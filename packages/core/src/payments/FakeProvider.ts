import { Redacted } from "effect"
import type { Mode } from "../shared/Tenant.ts"
/**
 * A payment provider for tests. It keeps payments in memory, and fails as it is told.
 */
import { callWith, type FaultOf } from "./FakeCalls.ts"
import { fakeAction, FakeMethods, type FakePages } from "./FakeMethods.ts"
import { FakeNotices, type FakeSigning } from "./FakeNotices.ts"
import { type FakeRefundOutcome, FakeRefunds } from "./FakeRefunds.ts"
import type {
  AttemptAnswer,
  AttemptPayment,
  Chargeable,
  Money,
  OpenPayment,
  PaymentProvider,
  PaymentRead,
} from "./PaymentProvider.ts"
import type { Notice, NoticeRequest } from "./ProviderNotices.ts"
import type { ProviderDispute, ProviderRefund, RefundPayment, RefundQuery } from "./ProviderRefunds.ts"

/** What an attempt comes to, if nothing goes wrong. */
export type FakeOutcome =
  | { readonly status: "succeeded" | "processing" | "requires_action" }
  | Omit<Extract<PaymentRead, { readonly status: "declined" }>, "attemptId">

/** How a fake provider behaves. */
export interface FakeOptions {
  /** The name by which payments remember it. Default: `fake`. */
  readonly name?: string
  /** The payments that it has at first. Default: none. */
  readonly known?: ReadonlyArray<FakePayment>
  /** What goes wrong with a call. Default: nothing. */
  readonly faultOf?: FaultOf
  /** What a new attempt comes to. `undefined`, and the default: what the card does, and without a card it succeeds. */
  readonly outcomeOf?: (attempt: AttemptPayment) => FakeOutcome | undefined
  /** What amounts it takes. Default: all. */
  readonly chargeable?: (money: Money) => Chargeable
  /** Whether it saves payment methods. Default: it charges every customer without one. */
  readonly hasMethods?: boolean
  /** Where its pages are. Default: nowhere. */
  readonly pages?: FakePages
  /** What a new refund comes to. Default: it succeeds. */
  readonly refundOutcomeOf?: (refund: RefundPayment) => FakeRefundOutcome
  /** The mode of its notices. Default: `test`. */
  readonly mode?: Mode
  /** The secrets of its notices: the first one signs, all of them are right. Default: one. */
  readonly webhookSecrets?: ReadonlyArray<Redacted.Redacted<string>>
}

/** A payment at the fake provider. */
export interface FakePayment extends OpenPayment {
  readonly reference: string
  readonly state: PaymentRead
  readonly isClosed: boolean
  /** How often money was taken: 0 or 1, unless the provider is broken. */
  readonly charges: number
  /** The ids of the attempts that arrived, each once. */
  readonly attempts: ReadonlyArray<string>
}

const declinedAs = (code: string): FakeOutcome => ({
  status: "declined",
  code,
  advice: null,
  notBefore: null,
})
const DEFAULT_SECRETS = [Redacted.make("fake webhook secret")]

/**
 * A provider in memory. A payment succeeds once at most, an attempt counts once however often it arrives, and what is
 * closed never succeeds.
 */
export class FakeProvider implements PaymentProvider {
  readonly name: string
  /** Its saved cards, and what customers do with them. `undefined` if it saves none. */
  readonly methods: FakeMethods | undefined
  readonly #call: ReturnType<typeof callWith>
  readonly #payments = new Map<string, FakePayment>()
  readonly #earlier = new Map<string, PaymentRead>()
  readonly #options: FakeOptions
  readonly #notices: FakeNotices
  readonly #refunds: FakeRefunds

  constructor(options: FakeOptions = {}) {
    this.#options = options
    this.name = options.name ?? "fake"
    for (const payment of options.known ?? []) this.#payments.set(payment.reference, payment)
    const faultOf = options.faultOf ?? (() => undefined)
    this.#call = callWith(faultOf)
    this.#notices = new FakeNotices(options.mode ?? "test", options.webhookSecrets ?? DEFAULT_SECRETS)
    this.#refunds = new FakeRefunds(this.#notices)
    this.methods = options.hasMethods === true ? new FakeMethods(faultOf, options.pages) : undefined
  }

  chargeable(money: Money): Chargeable {
    return this.#options.chargeable?.(money) ?? { status: "ok" }
  }

  /** All payments that were opened, in their order. */
  get payments(): ReadonlyArray<FakePayment> {
    return [...this.#payments.values()]
  }

  /** All refunds that were made, in their order. */
  get refunds(): ReadonlyArray<ProviderRefund> {
    return this.#refunds.refunds
  }

  /** All disputes that were opened, in their order. */
  get disputes(): ReadonlyArray<ProviderDispute> {
    return this.#refunds.disputes
  }

  /** A notice of each change, in their order. */
  get notices(): ReadonlyArray<Notice> {
    return this.#notices.all
  }

  /** The request by which it sends a notice, or something else that it signs. */
  sign(notice: object, signing: FakeSigning): NoticeRequest {
    return this.#notices.sign(notice, signing)
  }

  /**
   * What the customer or a bank does to a payment that waits: it succeeds, or it is declined with a code. One that is
   * closed stays so.
   */
  settle(reference: string, outcome: "succeeded" | { readonly code: string }): void {
    const payment = this.#find(reference)
    if (payment.isClosed) return
    const attemptId = payment.attempts.at(-1) ?? ""
    this.#conclude(
      payment,
      outcome === "succeeded"
        ? { status: "succeeded" }
        : { status: "declined", attemptId, code: outcome.code, advice: null, notBefore: null },
    )
  }

  openPayment(payment: OpenPayment) {
    return this.#call("openPayment", () => {
      const reference = `fake_${payment.paymentId}`
      if (!this.#payments.has(reference)) {
        const state = { status: "open" } as const
        this.#payments.set(reference, {
          ...payment,
          reference,
          state,
          isClosed: false,
          charges: 0,
          attempts: [],
        })
      }
      return { reference }
    })
  }

  attemptPayment(attempt: AttemptPayment) {
    return this.#call(
      "attemptPayment",
      () => this.#answer(attempt),
      () => this.#earlier.get(attempt.reference),
    )
  }

  readPayment(reference: string) {
    return this.#call(
      "readPayment",
      () => this.#find(reference).state,
      () => this.#earlier.get(reference),
    )
  }

  closePayment(reference: string) {
    return this.#call("closePayment", () => {
      const payment = this.#find(reference)
      if (payment.state.status === "succeeded") return "already_succeeded" as const
      if (!payment.isClosed) {
        this.#payments.set(reference, { ...payment, state: { status: "closed" }, isClosed: true })
      }
      return "closed" as const
    })
  }

  /** What comes of an attempt, and how the customer goes on with it. */
  #answer(attempt: AttemptPayment): AttemptAnswer {
    const { presence, reference, returnUrl } = attempt
    const read = this.#attempt(attempt)
    return read.status === "requires_action" && presence === "on_session"
      ? { ...read, action: fakeAction(reference, returnUrl, this.#options.pages) }
      : read
  }

  refund(refund: RefundPayment) {
    return this.#call("refund", () =>
      this.#refunds.refund(
        refund,
        this.#taken(refund.paymentReference),
        this.#options.refundOutcomeOf?.(refund) ?? "succeeded",
      ),
    )
  }

  readRefund(query: RefundQuery) {
    return this.#call("readRefund", () => this.#refunds.find(query))
  }

  readDispute(reference: string) {
    return this.#call("readDispute", () => this.#refunds.findDispute(reference))
  }

  receive(request: NoticeRequest, now: number) {
    return this.#notices.receive(request, now)
  }

  /** What a bank does to a refund: it succeeds, or it fails with a code, also after it has succeeded. */
  settleRefund(reference: string, outcome: "succeeded" | { readonly code: string }): void {
    this.#refunds.settle(reference, outcome)
  }

  /** A person refunds a payment at the provider. */
  refundByHand(paymentReference: string, amount: bigint): ProviderRefund {
    const taken = this.#find(paymentReference)
    const refund = { refundId: null, paymentReference, amount, currency: taken.currency }
    return this.#refunds.refund(refund, this.#taken(paymentReference), "succeeded")
  }

  /** The customer disputes a payment that has succeeded. Default: all of it. Gives the dispute's reference. */
  dispute(paymentReference: string, amount?: bigint): string {
    const taken = this.#taken(paymentReference)
    if (taken === undefined) throw new TypeError(`the payment ${paymentReference} has not succeeded`)
    return this.#refunds.dispute(taken, amount ?? taken.amount).reference
  }

  /** The bank decides a dispute. */
  closeDispute(reference: string, status: "won" | "lost"): void {
    this.#refunds.closeDispute(reference, status)
  }

  #taken(reference: string): FakePayment | undefined {
    const payment = this.#find(reference)
    return payment.state.status === "succeeded" ? payment : undefined
  }

  #attempt(attempt: AttemptPayment): PaymentRead {
    const payment = this.#find(attempt.reference)
    const { attempts, isClosed, state } = payment
    const isPossible = !isClosed && state.status !== "succeeded" && state.status !== "processing"
    if (!isPossible || attempts.includes(attempt.attemptId)) return state
    const outcome = this.#options.outcomeOf?.(attempt) ?? this.#outcomeOf(attempt)
    return this.#conclude(
      { ...payment, attempts: [...attempts, attempt.attemptId] },
      outcome.status === "declined" ? { ...outcome, attemptId: attempt.attemptId } : outcome,
    )
  }

  /** What the card does. */
  #outcomeOf({ method, presence }: AttemptPayment): FakeOutcome {
    if (this.methods === undefined) return { status: "succeeded" }
    const behaviour = method === null ? undefined : this.methods.behaviourOf(method)
    if (behaviour === "works") return { status: "succeeded" }
    if (behaviour !== "needs_confirmation") return declinedAs(behaviour?.code ?? "no_method")
    return presence === "on_session" ? { status: "requires_action" } : declinedAs("authentication_required")
  }

  #conclude(payment: FakePayment, state: PaymentRead): PaymentRead {
    this.#earlier.set(payment.reference, payment.state)
    const isCharge = state.status === "succeeded" && payment.state.status !== "succeeded"
    this.#payments.set(payment.reference, {
      ...payment,
      state,
      charges: payment.charges + (isCharge ? 1 : 0),
    })
    this.#notices.note("payment", payment.reference)
    return state
  }

  #find(reference: string): FakePayment {
    const found = this.#payments.get(reference)
    if (found === undefined) throw new TypeError(`no payment has the reference ${reference}`)
    return found
  }
}

/**
 * What the contract of payment providers is tested with.
 */
import {
  type AttemptPayment,
  IdGenerator,
  Invoice,
  type Notice,
  type NoticeRequest,
  type OpenPayment,
  Payment,
  type PaymentProvider,
  type ProviderCall,
} from "@billwright/core"
import { it } from "@effect/vitest"
import { Effect } from "effect"
import * as Sample from "./Sample.ts"

/** What the suite makes go wrong, once and with the next call of a kind. */
export type ProviderLever = "lose_request" | "lose_reply"

/** What a customer does at the provider. A provider that saves payment methods needs it. */
export interface TestCustomer {
  /** The customer enters a card that works, or one that needs a confirmation of each payment. */
  readonly save: (setup: string, card: "works" | "needs_confirmation") => void
  /** The customer enters a card that is refused. */
  readonly fail: (setup: string) => void
}

/** How a notice is signed. */
export interface NoticeSigning {
  /** When, in epoch milliseconds. */
  readonly at: number
  /** With which secret. `previous`: the one that is being replaced. Default: `current`. */
  readonly secret?: "current" | "previous" | "unknown"
}

/** A provider with levers, and what it took. */
export interface TestProvider {
  readonly provider: PaymentProvider
  /** Makes the next call of a kind go wrong. */
  readonly fail: (call: ProviderCall, lever: ProviderLever) => void
  /**
   * Makes the next new attempt end so. Others succeed. `requires_action` is asked for attempts while the customer is there.
   */
  readonly next: (outcome: "processing" | "requires_action" | "insufficient_funds") => void
  /** The customer or a bank does what a payment waits for. */
  readonly settle: (reference: string) => void
  /** How often money was taken for a payment. */
  readonly charges: (reference: string) => number
  /** Makes the next new refund wait for a bank. Others succeed. */
  readonly nextRefundPends: () => void
  /** A bank does what a refund waits for. `failed`: the money comes back. */
  readonly settleRefund: (reference: string, outcome: "succeeded" | "failed") => void
  /** What was given back of a payment, in the currency's minor unit. */
  readonly refunded: (paymentReference: string) => bigint
  /** The customer disputes all of a payment that has succeeded. Gives the dispute's reference. */
  readonly dispute: (paymentReference: string) => string
  /** The bank decides a dispute. */
  readonly closeDispute: (reference: string, status: "won" | "lost") => void
  /** The request that tells of something, as often as it is asked for, with the same event id each time. */
  readonly notice: (about: Notice["about"], reference: string, signing: NoticeSigning) => NoticeRequest
  /** A signed request about something that is not read again, such as a payout. */
  readonly foreignNotice: (signing: NoticeSigning) => NoticeRequest
  /** What customers do, if the provider has `methods`. */
  readonly customer?: TestCustomer
}

/** Who pays, and by what. */
export interface Paying {
  readonly customer: string | null
  readonly method: string | null
}

/** A customer with a saved method, if the provider saves methods. */
export const paying = Effect.fnUntraced(function* ({ customer: person, provider }: TestProvider) {
  if (provider.methods === undefined || person === undefined) return { customer: null, method: null }
  const { customer, setup } = yield* startedSetup(provider.methods)
  person.save(setup.reference, "works")
  const read = yield* provider.methods.readSetup(setup.reference)
  return { customer, method: read.status === "saved" ? read.method.reference : null }
})

/** A new customer of the provider, and a setup of it that was started. */
export const startedSetup = Effect.fnUntraced(function* (
  methods: NonNullable<PaymentProvider["methods"]>,
  returnUrl: string | null = null,
) {
  const customerId = yield* Sample.customerId
  const details = { customerId, name: "Ada Lovelace", email: "ada@example.com" }
  const { reference: customer } = yield* methods.ensureCustomer(details)
  const input = { setupId: yield* (yield* IdGenerator).next("pm"), customer, returnUrl }
  return { details, customer, input, setup: yield* methods.startSetup(input) }
})

/** A payment of 20.00, or of what 2,000 of the minor unit are. */
export const paymentOf = Effect.fnUntraced(function* (currency: string, { customer }: Paying) {
  const ids = yield* IdGenerator
  const payment: OpenPayment = {
    paymentId: Payment.PaymentId.make(yield* ids.next(Payment.PAYMENT_ID_PREFIX)),
    mode: "test",
    invoiceId: Invoice.InvoiceId.make(yield* ids.next(Invoice.INVOICE_ID_PREFIX)),
    customerId: yield* Sample.customerId,
    customer,
    amount: 2_000n,
    currency,
  }
  return payment
})

/** An attempt while the customer is not there. Attempts of a payment have different names. */
export const attemptOf = (
  { method, reference }: Pick<AttemptPayment, "method" | "reference">,
  name: string,
): AttemptPayment => ({
  reference,
  attemptId: `att_${name}_${reference.slice(-40)}`,
  method,
  presence: "off_session",
  returnUrl: null,
})

/** A provider with an open payment. */
interface Opened extends Omit<TestProvider, "customer">, Paying {
  readonly payment: OpenPayment
  readonly reference: string
}

type OpenedBody = (opened: Opened) => Effect.Effect<unknown, unknown>

/** What registers a test with an open payment, of a provider of its own. */
export const openedTest =
  (make: () => TestProvider) =>
  (title: string, body: OpenedBody): void =>
    it.effect(title, () =>
      Effect.gen(function* () {
        const made = make()
        const by = yield* paying(made)
        const payment = yield* paymentOf("EUR", by)
        const { reference } = yield* made.provider.openPayment(payment)
        yield* body({ ...made, ...by, payment, reference })
      }).pipe(Effect.provide(IdGenerator.layer)),
    )

/** What registers a test with a payment that has succeeded, of a provider of its own. */
export const paidTest = (make: () => TestProvider) => {
  const test = openedTest(make)
  return (title: string, body: OpenedBody): void =>
    test(title, (opened) =>
      Effect.andThen(opened.provider.attemptPayment(attemptOf(opened, "paid")), body(opened)),
    )
}

/**
 * Subscriptions and invoices to store in tests, made by the engine.
 */
import {
  type Billing,
  Collections,
  CreditNote,
  CreditNoteStore,
  type CurrentTenant,
  Customer,
  IdGenerator,
  Invoice,
  InvoiceStore,
  Page,
  Payment,
  type StorageError,
  SUBSCRIPTION_ID_PREFIX,
  SubscriptionId,
  type Subscription,
  type Tenant,
  Transactor,
} from "@billwright/core"
import { assert } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import * as Sample from "../Sample.ts"
import { asTenant, type ContractServices, same } from "./ContractTest.ts"
import { firstPage } from "./WebhookProbe.ts"

/** What a test of these ports may use. */
type InvoicingServices = ContractServices | Billing.InvoicingStorage

/** Registers a test. It has its own tenant, and shares the storage with all other tests. */
export type InvoicingTest = (name: string, body: Effect.Effect<unknown, unknown, InvoicingServices>) => void

/** The instant of a minute after the creation of samples. */
export const millisOf = (minutes: number): number => Sample.CREATED_AT.epochMilliseconds + minutes * 60_000
export const minuteOf = (minutes: number): DateTime.Utc =>
  DateTime.toUtc(DateTime.makeUnsafe(millisOf(minutes)))

type Period = NonNullable<Subscription.StoredSubscription["state"]["period"]>
type Line = Invoice.StoredInvoice["state"]["lines"][number]

const PLAN = { key: "pro", version: 1 } as const

/** A period of 1,000 minutes. */
export const periodOf = (number: number): Period => {
  const [start, end] = [millisOf(number * 1_000), millisOf((number + 1) * 1_000)]
  const segment = { start, end, plan: PLAN, quantities: {}, snap: "down", unused: "prorate" } as const
  return { number, start, end, trial: null, segments: [segment] }
}

/** A new customer, stored. */
export const insertCustomer = Effect.gen(function* () {
  const customer = yield* Sample.customer()
  yield* (yield* Collections).of(Customer.customers).insert(customer)
  return customer
})

/** A subscription of a customer that is active in its first period, and due at its end. */
export const subscriptionOf = Effect.fnUntraced(function* (
  customerId: Customer.CustomerId,
  change: Partial<Subscription.StoredSubscription> = {},
) {
  const id = SubscriptionId.make(yield* (yield* IdGenerator).next(SUBSCRIPTION_ID_PREFIX))
  const period = periodOf(0)
  const stored: Subscription.StoredSubscription = {
    id,
    customerId,
    state: {
      phase: "active",
      plan: PLAN,
      currency: "EUR",
      quantities: { seats: "2.5" },
      periods: { anchor: "2026-03-10T09:30:15.250", timezone: "UTC", unit: "month", count: 1 },
      startAt: period.start,
      trialEndAt: null,
      trialUsage: "free",
      trialReminderAt: null,
      activatedAt: period.start,
      period,
      opened: 1,
      closed: null,
      pending: null,
      pausedAt: null,
      resume: null,
      canceledAt: null,
      endsAt: null,
      endCredit: "prorate",
      endedAt: null,
      asOf: period.start,
      sequence: 2,
    },
    invoiceGroup: null,
    metadata: { order: "7" },
    dueAt: period.end,
    failure: null,
    createdAt: Sample.CREATED_AT,
    updatedAt: Sample.CREATED_AT,
    ...change,
  }
  return stored
})

/** A line of 20.00 for a period of a subscription. */
export const lineOf = (subscriptionId: SubscriptionId, period: number, id = `${period}.0.base`): Line => ({
  id,
  kind: "advance",
  origin: { subscriptionId, plan: PLAN, period, segment: 0, group: null, gross: 2_000n },
  charge: "base",
  description: "Base fee",
  periodStart: periodOf(period).start,
  periodEnd: periodOf(period).end,
  quantity: null,
  amount: 2_000n,
  steps: [
    { type: "flat", amount: "20" },
    { type: "round", digits: 2, amount: "20" },
  ],
  receipt: null,
  taxCode: null,
  fixedTax: null,
  creditOf: null,
  discount: 0n,
  net: 2_000n,
  tax: { category: "O", rate: "0", country: null, reason: "Not subject to tax" },
})

/** What makes the invoice of a period of a subscription. */
export const causeOf = (
  subscriptionId: SubscriptionId,
  number: number,
  segment = 0,
): Invoice.InvoiceCause => {
  const period = periodOf(number)
  return { subscriptionId, effect: { kind: "invoice", at: period.start, period, segment } }
}

/** A draft of 20.00 for a period of a subscription, due to be finalized a minute after the period began. */
export const draftOf = Effect.fnUntraced(function* (
  { customerId, id: subscriptionId }: Subscription.StoredSubscription,
  number: number,
  change: Partial<Invoice.StoredInvoice> = {},
) {
  const id = Invoice.InvoiceId.make(yield* (yield* IdGenerator).next(Invoice.INVOICE_ID_PREFIX))
  const period = periodOf(number)
  const line = lineOf(subscriptionId, number)
  const tax = { ...line.tax, taxable: 2_000n, amount: 0n }
  const stored: Invoice.StoredInvoice = {
    id,
    customerId,
    subscriptionId,
    causes: [causeOf(subscriptionId, number)],
    state: {
      id,
      customerId,
      subscriptionId,
      currency: "EUR",
      periodStart: period.start,
      periodEnd: period.end,
      lines: [line],
      discounts: [],
      taxBehavior: "exclusive",
      subtotal: 2_000n,
      tax: 0n,
      taxes: [tax],
      total: 2_000n,
      applied: [],
      credited: 0n,
      amountDue: 2_000n,
      steps: [
        { type: "lines", lines: 1, amount: 2_000n },
        {
          type: "tax",
          behavior: "exclusive",
          category: "O",
          rate: "0",
          taxable: 2_000n,
          tax: 0n,
          amount: 2_000n,
        },
        { type: "total", amount: 2_000n },
        { type: "due", amount: 2_000n },
      ],
      status: "draft",
      number: null,
      issuedAt: null,
      dueAt: null,
      amountPaid: 0n,
      amountCredited: 0n,
      amountWaived: 0n,
      collection: "idle",
      availableActions: ["finalize"],
      sequence: 1,
    },
    taxedBy: {
      customer: { country: "DE", taxId: null, taxStatus: "taxable" },
      asked: "0123456789abcdef".repeat(4),
      quote: { behavior: "exclusive", rates: { [line.id]: line.tax } },
      billedTo: { name: "Ada", address: { city: "Berlin" }, locale: null, timezone: null },
    },
    pastDueSince: null,
    voidedAt: null,
    writtenOffAt: null,
    dueAt: period.start + 60_000,
    failure: null,
    createdAt: Sample.CREATED_AT,
    updatedAt: Sample.CREATED_AT,
    ...change,
  }
  return stored
})

/** A draft of a period of several subscriptions, with a line of 20.00 for each. */
export const sharedDraftOf = Effect.fnUntraced(function* (
  subscriptions: readonly [
    Subscription.StoredSubscription,
    ...ReadonlyArray<Subscription.StoredSubscription>,
  ],
  number: number,
) {
  const draft = yield* draftOf(subscriptions[0], number)
  const lines = subscriptions.map(({ id }) => lineOf(id, number, `${id}.${number}.0.base`))
  const total = 2_000n * BigInt(lines.length)
  const { steps, taxes } = draft.state
  const shared: Invoice.StoredInvoice = {
    ...draft,
    subscriptionId: null,
    causes: subscriptions.map(({ id }) => causeOf(id, number)),
    state: {
      ...draft.state,
      subscriptionId: null,
      lines,
      subtotal: total,
      total,
      amountDue: total,
      steps: steps.map((step) => ({
        ...step,
        amount: total,
        ...(step.type === "lines" ? { lines: lines.length } : {}),
        ...(step.type === "tax" ? { taxable: total } : {}),
      })),
      taxes: taxes.map((tax) => ({ ...tax, taxable: total })),
    },
  }
  return shared
})

/** An invoice as it is after it was issued, as number 1 of its series. */
export const issuedOf = (draft: Invoice.StoredInvoice): Invoice.StoredInvoice => ({
  ...draft,
  dueAt: null,
  updatedAt: minuteOf(1),
  state: {
    ...draft.state,
    status: "open",
    number: "2026-0001",
    issuedAt: millisOf(1),
    dueAt: millisOf(2),
    availableActions: ["pay"],
    sequence: 2,
  },
})

/** An open payment of an invoice. */
export const paymentOf = Effect.fnUntraced(function* (
  { customerId, id: invoiceId }: Pick<Invoice.StoredInvoice, "customerId" | "id">,
  change: Partial<Payment.StoredPayment> = {},
) {
  const id = Payment.PaymentId.make(yield* (yield* IdGenerator).next(Payment.PAYMENT_ID_PREFIX))
  const payment: Payment.StoredPayment = {
    id,
    invoiceId,
    customerId,
    currency: "EUR",
    provider: "bank",
    reference: null,
    status: "open",
    amount: 2n ** 70n,
    applied: 0n,
    overpaid: 0n,
    paidAt: null,
    sequence: 1,
    createdAt: minuteOf(3),
    updatedAt: minuteOf(3),
    collection: null,
    dueAt: null,
    failure: null,
    ...change,
  }
  return payment
})

/** The state of a series whose format begins so, after its first numbers. */
export const seriesOf = (prefix: string, last: number) => ({
  format: `${prefix}{year}-{number:4}`,
  timezone: "UTC",
  year: 2026,
  lastIssuedAt: millisOf(last),
  last,
})

/** A credit note of 5.00 of an invoice whose first line has more than that. It is the first or a later one of its series. */
export const creditNoteOf = Effect.fnUntraced(function* (
  { customerId, id: invoiceId, state }: Invoice.StoredInvoice,
  counter: number,
) {
  const id = CreditNote.CreditNoteId.make(yield* (yield* IdGenerator).next(CreditNote.CREDIT_NOTE_ID_PREFIX))
  const { id: lineId, tax } = state.lines[0]!
  const note: CreditNote.CreditNote = {
    id,
    number: `CN-2026-000${counter}`,
    invoiceId,
    customerId,
    currency: state.currency,
    reason: "other",
    lines: [{ lineId, amount: 500n, tax }],
    taxBehavior: "exclusive",
    net: 500n,
    tax: 0n,
    taxes: [{ ...tax, taxable: 500n, amount: 0n }],
    total: 500n,
    waived: 500n,
    refund: 0n,
    toBalance: 0n,
    issuedAt: millisOf(counter),
    createdAt: minuteOf(counter),
  }
  return note
})

/** The invoice after so many of these credit notes. It is paid when they leave nothing due. */
export const creditedBy = (invoice: Invoice.StoredInvoice, notes: number): Invoice.StoredInvoice => {
  const amount = 500n * BigInt(notes)
  const { state } = invoice
  return {
    ...invoice,
    state: {
      ...state,
      status: amount === state.total ? "paid" : state.status,
      amountCredited: amount,
      amountWaived: amount,
      amountDue: state.total - amount,
      sequence: 2 + notes,
    },
  }
}

/** Stores an invoice, and issues it as number 1. */
export const issue = Effect.fnUntraced(function* (draft: Invoice.StoredInvoice) {
  const invoices = yield* InvoiceStore
  const issued = issuedOf(draft)
  yield* invoices.insert(draft)
  yield* (yield* Transactor).atomically(
    Effect.gen(function* () {
      yield* invoices.lockSeries("invoice")
      yield* invoices.saveSeries("invoice", seriesOf("", 1))
      yield* invoices.save(issued)
    }),
  )
  return issued
})

/** Stores the next of these credit notes of an invoice, in one transaction. */
export const credit = Effect.fnUntraced(function* (invoice: Invoice.StoredInvoice, counter: number) {
  const note = yield* creditNoteOf(invoice, counter)
  const [invoices, notes] = [yield* InvoiceStore, yield* CreditNoteStore]
  yield* (yield* Transactor).atomically(
    Effect.gen(function* () {
      yield* Effect.fromOption(yield* invoices.lockWithSubscriptions(invoice.id))
      const known = yield* invoices.lockSeries("credit_note")
      if (Option.isSome(known) !== counter > 1) yield* Effect.die("the series is not as it was left")
      yield* invoices.save(creditedBy(invoice, counter))
      yield* notes.insert(note)
      yield* invoices.saveSeries("credit_note", seriesOf("CN-", counter))
    }),
  )
  return note
})

type ListOf<Filter> = (
  filter: Filter,
  page: Page.PageQuery,
) => Effect.Effect<Page.Page<unknown>, Page.CursorNotFound | StorageError, CurrentTenant>

/** Another tenant finds nothing of an item by filters that its owner finds it by, and can't use its id as a cursor. */
export const listsNothing = Effect.fnUntraced(function* <Filter>(
  other: Tenant.Tenant,
  list: ListOf<Filter>,
  id: string,
  filters: ReadonlyArray<Filter>,
) {
  const theirs = asTenant(other)
  for (const filter of filters) {
    assert.isNotEmpty((yield* list(filter, firstPage)).data)
    same(yield* theirs(list(filter, firstPage)), { data: [], hasMore: false })
    for (const direction of ["newer", "older"] as const) {
      const error = yield* Effect.flip(theirs(list(filter, { limit: 10, cursor: { direction, id } })))
      same(error, new Page.CursorNotFound({ id }))
    }
  }
})

/**
 * The contract of what stores sum up for the overview of money.
 */
import {
  InvoiceFigure,
  InvoiceStore,
  type InvoiceSum,
  Invoices,
  Outbox,
  Payments,
  PaymentStore,
  SubscriptionStore,
  Transactor,
} from "@billwright/core"
import { DateTime, Effect, Layer } from "effect"
import { asTenant, otherTenants, same } from "./ContractTest.ts"
import {
  credit,
  draftOf,
  insertCustomer,
  type InvoicingTest,
  issuedOf,
  millisOf,
  paymentOf as openPaymentOf,
  sharedDraftOf,
  subscriptionOf,
} from "./InvoicingProbe.ts"
import { firstPage } from "./WebhookProbe.ts"

const DAY = 86_400_000
/** The instant of the figures. */
const AT = millisOf(0) + 500 * DAY

interface Kind {
  /** When it was issued and when it is due, in milliseconds after `AT`. They are in the order of their numbers. */
  readonly issued: number
  readonly due: number
  readonly status?: "open" | "void" | "uncollectible"
  readonly collection?: "retrying"
  readonly currency?: "USD"
  readonly figures: ReadonlyArray<InvoiceFigure>
}

/** An invoice on each side of each boundary, and the figures that it makes: written down, not computed. */
const KINDS: ReadonlyArray<Kind> = [
  { issued: -100 * DAY, due: -60 * DAY - 1, figures: ["outstanding", "late_more"] },
  { issued: -90 * DAY, due: -60 * DAY, figures: ["outstanding", "late_sixty"] },
  {
    issued: -80 * DAY,
    due: -30 * DAY - 1,
    collection: "retrying",
    figures: ["outstanding", "late_sixty", "to_retry"],
  },
  { issued: -70 * DAY, due: -30 * DAY, currency: "USD", figures: ["outstanding", "late_thirty"] },
  { issued: -30 * DAY, due: -1, figures: ["outstanding", "late_thirty"] },
  { issued: -30 * DAY + 1, due: 0, figures: ["invoiced", "outstanding", "not_due"] },
  { issued: -DAY, due: -1, status: "uncollectible", collection: "retrying", figures: ["invoiced"] },
  { issued: -DAY, due: DAY, status: "void", figures: [] },
  { issued: 0, due: DAY, currency: "USD", figures: ["invoiced", "outstanding", "not_due"] },
  { issued: 1, due: DAY, figures: ["outstanding", "not_due"] },
]
/** The invoice of which a credit note gives 5.00 back, so that its total is not what is due. */
const CREDITED = 5

/** Stores invoices of these kinds, each of 20.00, 40.00 or 60.00, and a draft. */
const insertInvoices = Effect.gen(function* () {
  const { id: customerId } = yield* insertCustomer
  const subscriptions = yield* SubscriptionStore
  const [a, b, c] = [
    yield* subscriptionOf(customerId, { dueAt: null }),
    yield* subscriptionOf(customerId, { dueAt: null }),
    yield* subscriptionOf(customerId, { dueAt: null }),
  ]
  for (const one of [a, b, c]) yield* subscriptions.insert(one)
  const among = [[a], [a, b], [a, b, c]] as const
  const invoices = yield* InvoiceStore
  yield* invoices.insert(yield* draftOf(a, KINDS.length))
  const drafts = yield* Effect.forEach(KINDS, (_, n) => sharedDraftOf(among[n % 3] ?? [a], n))
  const issued = drafts.map((draft, n) => {
    const { collection, currency = "EUR", due, issued: at, status = "open" } = KINDS[n]!
    const { state, ...invoice } = issuedOf({ ...draft, state: { ...draft.state, currency } })
    const number = `2026-${String(n + 1).padStart(4, "0")}`
    const dates = { issuedAt: AT + at, dueAt: AT + due }
    const amountDue = status === "void" ? 0n : state.amountDue
    return {
      ...invoice,
      state: { ...state, ...dates, amountDue, number, collection: collection ?? ("idle" as const), status },
    }
  })
  yield* (yield* Transactor).atomically(
    Effect.gen(function* () {
      for (const draft of drafts) {
        const kind = KINDS[drafts.indexOf(draft)]!
        yield* invoices.insert({ ...draft, state: { ...draft.state, currency: kind.currency ?? "EUR" } })
      }
      yield* invoices.lockSeries("invoice")
      const last = issued.length
      const lastIssuedAt = issued.at(-1)!.state.issuedAt
      const format = "{year}-{number:4}"
      yield* invoices.saveSeries("invoice", { format, timezone: "UTC", year: 2026, lastIssuedAt, last })
      for (const one of issued) yield* invoices.save(one)
    }),
  )
  yield* credit(issued[CREDITED]!, 1)
  return { customerId, ids: issued.map(({ id }) => id) }
})

/** What invoices of a kind count in a figure. */
const countedOf = (figure: InvoiceFigure, n: number): bigint =>
  2_000n * BigInt((n % 3) + 1) - (n === CREDITED && figure !== "invoiced" ? 500n : 0n)

const inOrder = (sums: ReadonlyArray<InvoiceSum>) =>
  sums.toSorted((a, b) => (`${a.figure} ${a.currency}` < `${b.figure} ${b.currency}` ? -1 : 1))

const services = Layer.mergeAll(Invoices.layer, Payments.layer).pipe(Layer.provide(Outbox.layer))

export const moneyContract = (test: InvoicingTest): void => {
  test(
    "invoices are summed up by figure and currency, and listed by what makes a figure",
    Effect.gen(function* () {
      const invoices = yield* InvoiceStore
      same(yield* invoices.sums(AT), [])
      const { ids } = yield* insertInvoices
      const expected: Array<InvoiceSum> = []
      for (const figure of InvoiceFigure.literals) {
        for (const currency of ["EUR", "USD"] as const) {
          const numbers = KINDS.flatMap((kind, n) =>
            kind.figures.includes(figure) && (kind.currency ?? "EUR") === currency ? [n] : [],
          )
          const amount = numbers.reduce((sum, n) => sum + countedOf(figure, n), 0n)
          if (numbers.length > 0) expected.push({ figure, currency, count: numbers.length, amount })
          const filter = { currency, figure: { figure, at: AT } }
          same(
            (yield* invoices.list(filter, firstPage)).data.map(({ id }) => id),
            numbers.map((n) => ids[n]!).toReversed(),
          )
        }
      }
      same(inOrder(yield* invoices.sums(AT)), inOrder(expected))
      for (const other of yield* otherTenants) {
        same(yield* asTenant(other)(invoices.sums(AT)), [])
        const filter = { figure: { figure: "outstanding", at: AT } } as const
        same((yield* asTenant(other)(invoices.list(filter, firstPage))).data, [])
      }
    }),
  )

  test(
    "payments of the last days are summed up by currency, and listed",
    Effect.gen(function* () {
      const [payments, service] = [yield* PaymentStore, yield* Payments]
      const now = (yield* DateTime.now).epochMilliseconds
      same(yield* payments.collected(now), [])
      const { customerId, ids } = yield* insertInvoices
      const paidAt = (millis: number) => DateTime.toUtc(DateTime.makeUnsafe(now + millis))
      const paid = [
        yield* service.record({ invoiceId: ids[0]!, amount: 100n, paidAt: paidAt(-30 * DAY) }),
        yield* service.record({ invoiceId: ids[0]!, amount: 20n, paidAt: paidAt(-30 * DAY + 1) }),
        yield* service.record({ invoiceId: ids[1]!, amount: 3n, paidAt: paidAt(0) }),
        yield* service.record({ invoiceId: ids[3]!, amount: 7n, paidAt: paidAt(-DAY) }),
      ]
      yield* payments.insert(yield* openPaymentOf({ id: ids[2]!, customerId }))
      const sums = yield* payments.collected(now)
      same(
        sums.toSorted((a, b) => (a.currency < b.currency ? -1 : 1)),
        [
          { currency: "EUR", count: 2, amount: 23n },
          { currency: "USD", count: 1, amount: 7n },
        ],
      )
      const before = yield* payments.collected(now - 1)
      same(
        before.filter(({ currency }) => currency === "EUR"),
        [{ currency: "EUR", count: 2, amount: 120n }],
      )
      const filter = { currency: "EUR", figure: { figure: "collected", at: now } } as const
      same(
        (yield* payments.list(filter, firstPage)).data.map(({ id }) => id),
        [paid[2]!.id, paid[1]!.id],
      )
      for (const other of yield* otherTenants) same(yield* asTenant(other)(payments.collected(now)), [])
    }).pipe(Effect.provide(services)),
  )

  test(
    "payments that a person has to look at are listed",
    Effect.gen(function* () {
      const payments = yield* PaymentStore
      const { customerId, ids } = yield* insertInvoices
      const collection = {
        state: "needs_attention",
        attempt: null,
        declines: [],
        tries: 1,
        nextAt: null,
      } as const
      const attention = { code: "provider_refused", since: AT, detail: null } as const
      const troubled = yield* openPaymentOf(
        { id: ids[0]!, customerId },
        { collection: { ...collection, attention } },
      )
      yield* payments.insert(troubled)
      yield* payments.insert(yield* openPaymentOf({ id: ids[1]!, customerId }, { collection }))
      const filter = { figure: { figure: "attention", at: AT } } as const
      same((yield* payments.list(filter, firstPage)).data, [troubled])
      same((yield* payments.list({ ...filter, currency: "USD" }, firstPage)).data, [])
    }),
  )

  test(
    "active subscriptions are counted by their terms",
    Effect.gen(function* () {
      const store = yield* SubscriptionStore
      const { id } = yield* insertCustomer
      const insert = Effect.fnUntraced(function* (change: object = {}) {
        const subscription = yield* subscriptionOf(id, { dueAt: null })
        yield* store.insert({ ...subscription, state: { ...subscription.state, ...change } })
      })
      same(yield* store.sameTerms(10), [])
      const plan = { key: "pro", version: 1 }
      yield* insert()
      yield* insert()
      yield* insert({ quantities: {} })
      yield* insert({ currency: "USD" })
      yield* insert({ plan: { key: "pro", version: 2 } })
      for (const phase of ["scheduled", "trialing", "paused", "ended"]) yield* insert({ phase })
      const found = yield* store.sameTerms(10)
      same(
        found.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
        [
          { plan, currency: "EUR", quantities: {}, count: 1 },
          { plan, currency: "EUR", quantities: { seats: "2.5" }, count: 2 },
          { plan, currency: "USD", quantities: { seats: "2.5" }, count: 1 },
          { plan: { key: "pro", version: 2 }, currency: "EUR", quantities: { seats: "2.5" }, count: 1 },
        ].toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
      )
      same((yield* store.sameTerms(3)).length, 3)
      const filter = { phase: "active", currency: "USD" } as const
      same((yield* store.list(filter, firstPage)).data.length, 1)
      for (const other of yield* otherTenants) same(yield* asTenant(other)(store.sameTerms(10)), [])
    }),
  )
}

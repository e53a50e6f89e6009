/**
 * Credits on invoices: what lowers and pays them, and what they give back.
 */
import {
  Credit,
  CreditAlerts,
  CreditNotes,
  Credits,
  type Customer,
  Customers,
  Holds,
  Invoices,
} from "@billwright/core"
import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { times } from "../contract/ContractTest.ts"
import type { InvoicingTest } from "../contract/InvoicingProbe.ts"
import { at, newCustomer, scenario, subscribed, told, until, use } from "./Scenario.ts"

const services = Layer.mergeAll(CreditAlerts.layer, CreditNotes.layer, Holds.layer)

const granted = Effect.fnUntraced(function* (
  customerId: Customer.CustomerId,
  kind: Credit.CreditGrant["kind"],
  amount: bigint,
  change: Partial<Credit.GrantCredits> = {},
) {
  const grant = { customerId, unit: "EUR", kind, amount, ...change } as const
  return (yield* (yield* Credits).grant(grant)).id
})

const available = Effect.fnUntraced(function* (customerId: Customer.CustomerId, unit = "EUR") {
  const { available: amount, debt } = yield* (yield* Credits).balance({ customerId, unit })
  return amount - debt
})

/** The entries of a customer, oldest first: what happened, and by how much what is available changed. */
const entriesOf = Effect.fnUntraced(function* (customerId: Customer.CustomerId) {
  const { data } = yield* (yield* Credits).listEntries({ customerId, unit: "EUR", limit: 100 })
  return data.toReversed().map((entry) => `${entry.kind} ${entry.available}`)
})

/** A one-off invoice over an amount, as it is issued. */
const issued = Effect.fnUntraced(function* (customerId: Customer.CustomerId, amount: bigint) {
  const invoices = yield* Invoices
  const lines = [{ description: "Work", amount }]
  const { id } = yield* invoices.create({ customerId, currency: "EUR", lines })
  return yield* invoices.finalize(id)
})

const used = (test: InvoicingTest): void => {
  scenario(
    test,
    "credits with a scope lower and pay the lines of its charges alone, and come back when the invoice is voided",
    Effect.gen(function* () {
      const { customer } = yield* subscribed
      const { id: customerId } = customer
      const euros = { customerId, unit: "EUR" }
      const calls = { scope: ["calls"] }
      const present = yield* granted(customerId, "promotional", 30n, calls)
      const paid = yield* granted(customerId, "paid", 5_000n, calls)
      yield* granted(customerId, "paid", 5_000n, { scope: ["something_else"] })
      yield* use(customer, 100)
      yield* until("2026-02-02")
      const [invoice] = (yield* (yield* Invoices).list({})).data
      const line = invoice!.lines.find(({ charge }) => charge === "calls")
      assert.deepInclude(line, { amount: 100n, discount: 30n })
      const parts = invoice!.discounts.map(({ amount, base, id, parts: of }) => [id, base, amount, of])
      assert.deepStrictEqual(parts, [[present, 100n, 30n, [{ lineId: line!.id, amount: 30n }]]])
      const gross = invoice!.applied[0]!.amount
      assert.deepStrictEqual(
        invoice!.applied.map(({ id }) => id),
        [paid],
      )
      assert.isTrue(gross >= 70n && gross < 100n, `${gross}`)
      const { balance } = yield* Credits
      const left = { available: 0n, scoped: 10_000n - gross }
      assert.deepInclude(yield* balance(euros), left)
      assert.deepInclude(yield* balance({ ...euros, purpose: "calls" }), { available: 5_000n - gross })
      yield* (yield* Invoices).void(invoice!.id)
      assert.deepInclude(yield* balance(euros), { available: 0n, scoped: 10_030n })
    }),
  )

  scenario(
    test,
    "an invoice uses promotional credits before tax and paid ones after it, in the order of the ledger",
    Effect.gen(function* () {
      const { id: customerId } = yield* newCustomer
      const later = yield* granted(customerId, "promotional", 300n)
      const sooner = yield* granted(customerId, "promotional", 200n, { expiresAt: at("2026-02-01") })
      const paid = yield* granted(customerId, "paid", 2_000n)
      yield* granted(customerId, "plan", 5_000n)
      yield* granted(customerId, "paid", 5_000n, { unit: "USD" })
      const invoices = yield* Invoices
      const lines = [{ description: "Work", amount: 1_500n }]
      const draft = yield* invoices.create({ customerId, currency: "EUR", lines })
      assert.deepInclude(draft, { total: 1_000n, amountDue: 0n, status: "draft" })
      assert.strictEqual(yield* available(customerId), 7_500n)
      const invoice = yield* invoices.finalize(draft.id)
      assert.deepInclude(invoice, { subtotal: 1_500n, total: 1_000n, amountDue: 0n, status: "paid" })
      assert.deepStrictEqual(
        invoice.discounts.map(({ amount, id, type }) => [type, id, amount]),
        [
          ["promotional_credit", sooner, 200n],
          ["promotional_credit", later, 300n],
        ],
      )
      assert.deepStrictEqual(invoice.applied, [{ type: "paid_credit", id: paid, amount: 1_000n }])
      assert.deepStrictEqual(
        invoice.steps.map((step) => ("taken" in step ? `${step.type} ${step.taken}` : step.type)),
        [
          "lines",
          "promotional_credit 200",
          "promotional_credit 300",
          "tax",
          "total",
          "paid_credit 1000",
          "due",
        ],
      )
      const { data } = yield* (yield* Credits).listEntries({ customerId, unit: "EUR", limit: 3 })
      assert.deepStrictEqual(
        data.map((entry) => [entry.kind, entry.grantId, entry.available, entry.invoiceId]),
        [
          ["apply", paid, -1_000n, invoice.id],
          ["apply", later, -300n, invoice.id],
          ["apply", sooner, -200n, invoice.id],
        ],
      )
      assert.strictEqual(yield* available(customerId), 6_000n)
      assert.strictEqual(yield* available(customerId, "USD"), 5_000n)
    }).pipe(Effect.provide(services)),
  )

  scenario(
    test,
    "the invoices of a subscription use what is left, and no more than is available",
    Effect.gen(function* () {
      const { customer } = yield* subscribed
      yield* until("2026-01-15")
      yield* granted(customer.id, "paid", 2_500n)
      const { id: held } = yield* (yield* Holds).reserve({
        customerId: customer.id,
        unit: "EUR",
        amount: 300n,
        ttlSeconds: 604_800,
      })
      yield* (yield* Holds).commit(held)
      yield* granted(customer.id, "promotional", 100n, { effectiveAt: at("2026-02-15") })
      yield* use(customer, 50)
      yield* until("2026-03-02")
      const { data } = yield* (yield* Invoices).list()
      assert.deepStrictEqual(
        data
          .toReversed()
          .map(({ amountDue, applied, discounts, total }) => [
            total,
            discounts.map(({ amount }) => amount),
            applied.map(({ amount }) => amount),
            amountDue,
          ]),
        [
          [2_000n, [], [], 2_000n],
          [2_050n, [], [2_050n], 0n],
          [1_900n, [100n], [150n], 1_750n],
        ],
      )
      assert.strictEqual(yield* available(customer.id), 0n)
      assert.include(yield* told, "2026-03-01 credit.exhausted")
    }).pipe(Effect.provide(services)),
  )
}

const returned = (test: InvoicingTest): void => {
  scenario(
    test,
    "a voided invoice gives credits back to their grants, and what a grant that has ended gets back is gone",
    Effect.gen(function* () {
      const { id: customerId } = yield* newCustomer
      const [credits, invoices] = [yield* Credits, yield* Invoices]
      const short = yield* granted(customerId, "promotional", 200n, { expiresAt: at("2026-01-10") })
      const taken = yield* granted(customerId, "paid", 100n)
      const long = yield* granted(customerId, "paid", 300n)
      const invoice = yield* issued(customerId, 1_000n)
      assert.deepInclude(invoice, { status: "open", total: 800n, amountDue: 400n })
      assert.strictEqual(yield* available(customerId), 0n)
      yield* until("2026-01-10")
      yield* credits.voidGrant(taken)
      yield* invoices.void(invoice.id)
      const grants = yield* Effect.forEach([short, taken, long], credits.getGrant)
      assert.deepStrictEqual(
        grants.map((grant) => [grant.status, grant.available]),
        [
          ["expired", 0n],
          ["voided", 0n],
          ["active", 300n],
        ],
      )
      assert.deepStrictEqual((yield* entriesOf(customerId)).slice(3), [
        "apply -200",
        "apply -100",
        "apply -300",
        "restore 200",
        "expire -200",
        "restore 100",
        "void -100",
        "restore 300",
      ])
      const again = yield* issued(customerId, 100n)
      assert.deepInclude(again, { amountDue: 0n })
      assert.strictEqual(yield* available(customerId), 200n)
    }).pipe(Effect.provide(services)),
  )

  scenario(
    test,
    "what a credit note gives back beyond what is due becomes paid credits, which pay the next invoice",
    Effect.gen(function* () {
      const { id: customerId } = yield* newCustomer
      yield* granted(customerId, "paid", 700n)
      const invoice = yield* issued(customerId, 1_000n)
      assert.deepInclude(invoice, { amountDue: 300n })
      const note = yield* (yield* CreditNotes).create({
        invoiceId: invoice.id,
        amount: 500n,
        reason: "other",
      })
      assert.deepInclude(note, { waived: 300n, toBalance: 200n })
      const [grant] = (yield* (yield* Credits).listGrants({ customerId })).data
      assert.deepInclude(grant, {
        kind: "paid",
        amount: 200n,
        source: { type: "credit_note", id: note.id, period: null },
        idempotencyKey: null,
      })
      assert.deepInclude(yield* issued(customerId, 250n), { amountDue: 50n })
      assert.strictEqual(yield* available(customerId), 0n)
    }).pipe(Effect.provide(services)),
  )

  scenario(
    test,
    "an issue that is undone uses no credits",
    Effect.gen(function* () {
      const { id: customerId } = yield* newCustomer
      yield* granted(customerId, "paid", 700n)
      const invoices = yield* Invoices
      const lines = [{ description: "Work", amount: 500n }]
      const { id } = yield* invoices.create({ customerId, currency: "EUR", lines })
      yield* (yield* Credits).consume({ customerId, unit: "EUR", amount: 400n })
      assert.deepInclude(yield* invoices.get(id), { amountDue: 200n })
      yield* invoices.finalize(id)
      assert.strictEqual((yield* Effect.flip(invoices.finalize(id)))._tag, "ActionUnavailable")
      assert.strictEqual(yield* available(customerId), 0n)
      assert.deepStrictEqual(yield* entriesOf(customerId), ["grant 700", "consume -400", "apply -300"])
    }).pipe(Effect.provide(services)),
  )
}

const erased = (test: InvoicingTest): void => {
  scenario(
    test,
    "an erased customer has no credits, and can neither use nor get any",
    Effect.gen(function* () {
      const { id: customerId } = yield* newCustomer
      const token = { customerId, unit: "token" }
      const credits = yield* Credits
      const { commit, release, reserve } = yield* Holds
      yield* credits.grant({ ...token, kind: "paid", amount: 1_000n })
      yield* granted(customerId, "paid", 700n)
      const later = yield* credits.grant({
        ...token,
        kind: "paid",
        amount: 5n,
        effectiveAt: at("2026-02-01"),
      })
      const [open, used] = [
        yield* reserve({ ...token, amount: 300n }),
        yield* reserve({ ...token, amount: 200n }),
      ]
      const lines = [{ description: "Work", amount: 900n }]
      const invoices = yield* Invoices
      const { id } = yield* invoices.create({ customerId, currency: "EUR", lines })
      yield* invoices.finalize(id)
      yield* (yield* Customers).erase(customerId)

      const use = { ...token, amount: 1n }
      const refused = [
        yield* Effect.flip(credits.consume(use)),
        yield* Effect.flip(reserve(use)),
        yield* Effect.flip(credits.grant({ ...use, kind: "paid" })),
      ]
      assert.deepStrictEqual(
        refused.map(({ _tag }) => _tag),
        ["CustomerNotFound", "CustomerNotFound", "CustomerNotFound"],
      )
      yield* release(open.id)
      assert.deepInclude(yield* commit(used.id, { amount: 200n }), { status: "committed" })
      assert.strictEqual((yield* credits.getGrant(later.id)).status, "voided")
      // What an invoice gives back is gone, too.
      yield* invoices.void(id)
      assert.strictEqual((yield* Effect.flip(credits.consume(use)))._tag, "CustomerNotFound")
      const entries = (yield* credits.listEntries({ customerId, limit: 100 })).data
      const left = (unit: string) =>
        entries
          .filter((one) => one.unit === unit)
          .reduce((sum, { available, held }) => sum + available + held, 0n)
      assert.deepStrictEqual([left("token"), left("EUR")], [0n, 0n])
    }).pipe(Effect.provide(services)),
  )
}

/** A customer with 100 tokens, and 900 that end on 2026-01-10. */
const ending = Effect.gen(function* () {
  const { id: customerId } = yield* newCustomer
  const { grant } = yield* Credits
  const account = { customerId, unit: "token" }
  yield* grant({ ...account, kind: "paid", amount: 100n })
  yield* grant({ ...account, kind: "promotional", amount: 900n, expiresAt: at("2026-01-10") })
  return account
})

const lowCount = Effect.map(told, (all) => all.filter((one) => one.endsWith(" credit.low")).length)

const byClock = (test: InvoicingTest): void => {
  scenario(
    test,
    "grants that have ended count for no limit, though nothing has happened since",
    Effect.gen(function* () {
      const { id: customerId } = yield* newCustomer
      const token = { unit: "token", expiresAt: at("2026-01-10") }
      yield* Effect.forEach(times(Credit.MAX_LIVE_GRANTS, BigInt), () =>
        granted(customerId, "promotional", 5n, token),
      )
      const more = granted(customerId, "paid", 7n, { unit: "token" })
      assert.strictEqual((yield* Effect.flip(more))._tag, "TooManyCreditGrants")
      yield* TestClock.setTime(at("2026-01-11").epochMilliseconds)
      yield* more
      assert.strictEqual(yield* available(customerId, "token"), 7n)
    }),
  )

  scenario(
    test,
    "an alert that is made or changed fires once for credits that have ended, though nothing has happened since",
    Effect.gen(function* () {
      const alerts = yield* CreditAlerts
      const { consume } = yield* Credits
      const [isNew, isRaised, wasLow] = [yield* ending, yield* ending, yield* ending]
      const raised = yield* alerts.create({ ...isRaised, level: 50n })
      const low = yield* alerts.create({ ...wasLow, level: 150n })
      yield* TestClock.setTime(at("2026-01-11").epochMilliseconds)
      assert.strictEqual(yield* lowCount, 0)
      yield* alerts.create({ ...isNew, level: 200n })
      yield* alerts.update(raised.id, { level: 200n })
      yield* alerts.update(low.id, { level: 200n })
      assert.strictEqual(yield* lowCount, 3)
      for (const account of [isNew, isRaised, wasLow]) yield* consume({ ...account, amount: 1n })
      assert.strictEqual(yield* lowCount, 3)
    }).pipe(Effect.provide(services)),
  )
}

export const creditScenarios = (test: InvoicingTest): void => {
  used(test)
  erased(test)
  returned(test)
  byClock(test)
}

/** The worked year of `docs/books.md`, to the cent. */
import { readFileSync } from "node:fs"
import {
  Books,
  CreditNotes,
  Credits,
  Holds,
  Invoices,
  type JournalEntry,
  journalText,
  Payments,
  Plans,
  Refunds,
  Subscriptions,
  TopUps,
} from "@billwright/core"
import { EU_COUNTRIES, EU_STANDARD_RATES, trialBalance } from "@billwright/engine"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { as, at, globex, inWorld, newCustomer } from "../world.ts"

const document = readFileSync(new URL("../../../../docs/books.md", import.meta.url), "utf8")

const on = (day: string) => TestClock.setTime(at(`${day}T12:00:00.000Z`).epochMilliseconds)

const LICENCE = {
  description: "Licence for 2026",
  amount: 120_000n,
  periodStart: at("2026-01-01T00:00:00.000Z"),
  periodEnd: at("2027-01-01T00:00:00.000Z"),
}

/** The year, as the document tells it. */
const year = Effect.gen(function* () {
  const invoices = yield* Invoices
  const payments = yield* Payments
  const notes = yield* CreditNotes
  const credits = yield* Credits
  yield* on("2026-01-01")
  const { id: customerId } = yield* newCustomer({ country: "DE" })
  const bill = Effect.fnUntraced(function* (line: { description: string; amount: bigint }) {
    const { id } = yield* invoices.create({ customerId, currency: "EUR", lines: [line] })
    return (yield* invoices.finalize(id)).id
  })
  const licence = yield* bill(LICENCE)
  yield* on("2026-01-10")
  const payment = yield* payments.record({ invoiceId: licence })
  yield* on("2026-03-01")
  const workshop = yield* bill({ description: "Workshop", amount: 50_000n })
  yield* on("2026-03-05")
  yield* notes.create({ invoiceId: workshop, amount: 10_000n, reason: "unsatisfactory" })
  yield* on("2026-04-01")
  const bought = { unit: "token", amount: 100_000n, currency: "EUR", price: 5_000n }
  const topUp = yield* (yield* TopUps).create({ customerId, ...bought })
  yield* payments.record({ invoiceId: topUp.invoiceId })
  yield* on("2026-05-01")
  const expiresAt = at("2026-08-01T00:00:00.000Z")
  yield* credits.grant({ customerId, unit: "EUR", kind: "paid", amount: 2_000n, expiresAt })
  yield* on("2026-06-15")
  yield* credits.consume({ customerId, unit: "token", amount: 30_000n })
  yield* on("2026-07-01")
  yield* notes.create({ invoiceId: licence, amount: 30_000n, refund: 35_700n, reason: "order_change" })
  yield* on("2026-08-02")
  yield* credits.grant({ customerId, unit: "EUR", kind: "promotional", amount: 1_000n })
  yield* on("2026-09-01")
  yield* invoices.markUncollectible(workshop)
  yield* on("2026-12-31")
  assert.lengthOf((yield* (yield* Refunds).list({ paymentId: payment.id })).data, 1)
})

const taxed = inWorld({
  invoices: {
    tax: { behavior: "exclusive", seller: "DE", rates: EU_STANDARD_RATES, union: EU_COUNTRIES },
  },
})

const journalTo = Effect.fnUntraced(function* (endDate: string) {
  const { entries, hasMore } = yield* (yield* Books).journal({ endDate })
  assert.isFalse(hasMore)
  return entries
})

const money = (cents: bigint): string => {
  const digits = String(cents < 0n ? -cents : cents).padStart(3, "0")
  const whole = digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, ",")
  return `${cents < 0n ? "-" : ""}${whole}.${digits.slice(-2)}`
}

/** A row of the document's table: an account with its balance on each day. */
const documented = (account: string): ReadonlyArray<string> =>
  new RegExp(String.raw`^\| \`${account}\` +\| +(-?[\d,]+\.\d\d) \| +(-?[\d,]+\.\d\d) \|$`, "m")
    .exec(document)!
    .slice(1)

const balances = (entries: ReadonlyArray<JournalEntry>, account: string): string =>
  money(trialBalance(entries).get(account as never) ?? 0n)

describe("the worked year", () => {
  it.effect("is what the document says, to the cent", () =>
    Effect.gen(function* () {
      yield* year
      const [half, whole] = [yield* journalTo("2026-06-30"), yield* journalTo("2026-12-31")]
      const accounts = [
        "cash",
        "receivable",
        "clearing",
        "contract_liability",
        "refunds_payable",
        "tax_payable",
        "revenue",
        "breakage",
        "bad_debt",
      ]
      for (const account of accounts) {
        assert.deepStrictEqual(
          [balances(half, account), balances(whole, account)],
          documented(account),
          account,
        )
      }
      const revenue = whole.filter(({ kind }) => kind === "recognition")
      assert.strictEqual(balances(revenue, "revenue"), "-1,300.00")
    }).pipe(taxed),
  )

  it.effect("has the entries that the document shows", () =>
    Effect.gen(function* () {
      yield* year
      const entries = yield* journalTo("2026-12-31")
      const shown = /```csv\n([^`]*)```/.exec(document)![1]!
      const rows = entries
        .filter(({ kind }) => kind !== "recognition")
        .map((entry) => journalText(entry, "csv"))
        .join("")
        .replace(/,\w{3}_[0-9a-z]{26}/g, "")
        .replace(/,,/g, ",")
        .trimEnd()
        .split("\n")
        .sort()
      assert.deepStrictEqual(rows, shown.trimEnd().split("\n").slice(1).sort())
    }).pipe(taxed),
  )

  it.effect("can be read by days, and is the account's own", () =>
    Effect.gen(function* () {
      yield* year
      const { journal } = yield* Books
      const { entries } = yield* journal({ startDate: "2026-01-10", endDate: "2026-01-10" })
      assert.deepStrictEqual(
        entries.map(({ kind }) => kind),
        ["payment", "recognition"],
      )
      assert.deepStrictEqual((yield* as(globex)(journal({ endDate: "2026-12-31" }))).entries, [])
      const refused = yield* Effect.flip(journal({ startDate: "2026-02-02", endDate: "2026-02-01" }))
      assert.include(refused.message, "must not be before the start date")
      const unknown = yield* Effect.flip(journal({ startingAfter: "inv_1" as never }))
      assert.include(unknown.message, "startingAfter")
    }).pipe(taxed),
  )
})

/** The balance of an account in the whole journal. */
const balanceIn = Effect.fnUntraced(function* (account: string) {
  return trialBalance(yield* journalTo("2026-12-31")).get(account as never) ?? 0n
})

const granting = (key: string, amount: string) => ({
  key,
  name: key,
  currencies: ["EUR"],
  interval: { unit: "month" as const, count: 1 },
  charges: [{ key: "base", model: "flat" as const, price: { EUR: "0" } }],
  grants: [{ unit: "token", amount }],
})

describe("paid credits", () => {
  it.effect("with a scope are booked as others are", () =>
    Effect.gen(function* () {
      const holds = yield* Holds
      yield* on("2026-01-01")
      const { id: customerId } = yield* newCustomer({ country: "DE" })
      const account = { customerId, unit: "EUR" }
      yield* (yield* Credits).grant({ ...account, kind: "paid", amount: 100n, scope: ["api"] })
      const { id } = yield* holds.reserve({ ...account, amount: 60n, purpose: "api" })
      assert.strictEqual(yield* balanceIn("contract_liability"), -100n)
      assert.strictEqual(yield* balanceIn("clearing"), 100n)
      yield* holds.commit(id, { amount: 60n })
      assert.strictEqual(yield* balanceIn("contract_liability"), -40n)
      assert.strictEqual(yield* balanceIn("revenue"), -60n)
    }).pipe(taxed),
  )

  it.effect("become revenue when a smaller plan takes them", () =>
    Effect.gen(function* () {
      const credits = yield* Credits
      const subscriptions = yield* Subscriptions
      yield* on("2026-01-01")
      const { id: customerId } = yield* newCustomer({ country: "DE" })
      const account = { customerId, unit: "token" }
      yield* (yield* Plans).push({ plans: [granting("big", "100"), granting("small", "50")] })
      const { id } = yield* subscriptions.create({ customerId, plan: "big" })
      yield* credits.consume({ ...account, amount: 100n })
      const topUp = yield* (yield* TopUps).create({
        ...account,
        amount: 100n,
        currency: "EUR",
        price: 1_000n,
      })
      yield* (yield* Payments).record({ invoiceId: topUp.invoiceId })
      yield* subscriptions.change(id, { plan: "small", at: "now" })
      assert.strictEqual((yield* credits.balance(account)).available, 50n)
      assert.strictEqual(yield* balanceIn("contract_liability"), -500n)
      yield* credits.consume({ ...account, amount: 50n })
      assert.strictEqual(yield* balanceIn("contract_liability"), 0n)
      assert.strictEqual(yield* balanceIn("revenue"), -1_000n)
    }).pipe(taxed),
  )
})

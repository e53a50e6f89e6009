/** The worked year of `docs/books.md`, to the cent. */
import { readFileSync } from "node:fs"
import {
  BillingRuns,
  Books,
  CreditNotes,
  Credits,
  Holds,
  Invoices,
  InvoiceStore,
  type JournalEntry,
  journalText,
  Page,
  Payments,
  Plans,
  Refunds,
  Subscriptions,
  TopUps,
} from "@billwright/core"
import { EU_COUNTRIES, EU_STANDARD_RATES, trialBalance } from "@billwright/engine"
import { Memory } from "@billwright/memory"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
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
  yield* (yield* BillingRuns).runDue()
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

/** An invoice of 100.00 and 19.00 of tax that was written off, and voided so many milliseconds later. */
const voidedAfter = Effect.fnUntraced(function* (milliseconds: number) {
  const invoices = yield* Invoices
  yield* on("2026-01-01")
  const { id: customerId } = yield* newCustomer({ country: "DE" })
  const lines = [{ description: "Work", amount: 10_000n }]
  const { id } = yield* invoices.create({ customerId, currency: "EUR", lines })
  yield* invoices.finalize(id)
  yield* on("2026-02-01")
  yield* invoices.markUncollectible(id)
  yield* TestClock.adjust(milliseconds)
  yield* invoices.void(id)
})

describe("a void invoice", () => {
  for (const [when, milliseconds] of [
    ["after it was written off", 1],
    ["at the instant at which it was written off", 0],
    ["by a clock that is slow, before it was written off", -86_400_000],
  ] as const) {
    it.effect(`is taken back whole when it is voided ${when}`, () =>
      Effect.gen(function* () {
        yield* voidedAfter(milliseconds)
        const balances = trialBalance(yield* journalTo("2026-12-31"))
        assert.deepStrictEqual(
          [...balances].filter(([, amount]) => amount !== 0n),
          [],
        )
      }).pipe(taxed),
    )
  }
})

const ONE_LINE = { lines: [{ description: "Work", amount: 100n }], currency: "EUR" }

/** Issued invoices and drafts, in the order of their making, by a letter for each. */
const makeInvoices = Effect.fnUntraced(function* (letters: string) {
  const invoices = yield* Invoices
  const { id: customerId } = yield* newCustomer({ country: "DE" })
  return yield* Effect.forEach([...letters], (letter) =>
    Effect.gen(function* () {
      const { id } = yield* invoices.create({ customerId, ...ONE_LINE })
      if (letter === "i") yield* invoices.finalize(id)
      return id
    }),
  )
})

const draftsOf = Effect.flatMap(Invoices, ({ list }) =>
  Effect.map(list({ status: "draft", limit: 100 }), ({ data }) => data.map(({ id }) => id)),
)

/** Reads the journal to its end. All drafts are deleted after its first page. Gives the invoices that it has. */
const readWhileDraftsGo = Effect.gen(function* () {
  const { journal } = yield* Books
  const invoices = yield* Invoices
  const read = new Set<string | null>()
  for (let startingAfter = {}; ;) {
    const { entries, hasMore, last } = yield* journal(startingAfter)
    for (const { invoiceId } of entries) read.add(invoiceId)
    if (!hasMore || last === null) return read
    yield* Effect.forEach(yield* draftsOf, (id) => invoices.delete(id))
    startingAfter = { startingAfter: last }
  }
})

type List = (typeof InvoiceStore.Service)["list"]

/** A world whose list of invoices is read by something else than the store's own `list`. */
const listing = (change: (list: List) => List) =>
  inWorld(
    {},
    Layer.effect(
      InvoiceStore,
      Effect.map(InvoiceStore, (store) => ({ ...store, list: change(store.list) })),
    ).pipe(Layer.provideMerge(Memory.layer)),
  )

describe("a journal that is read while drafts are deleted", () => {
  for (const [which, letters, pages] of [
    ["some of a page", `${"i".repeat(5)}${"d".repeat(5)}${"i".repeat(15)}`, 2],
    ["all of a page and more", `${"i".repeat(3)}${"d".repeat(43)}`, 1],
    ["all of a page after an issued one", `${"i".repeat(3)}${"d".repeat(30)}i`, 2],
  ] as const) {
    it.effect(`goes on after issued invoices: drafts are ${which}`, () =>
      Effect.gen(function* () {
        const made = yield* makeInvoices(letters)
        const first = yield* (yield* Books).journal()
        assert.strictEqual(first.hasMore, pages > 1)
        if (pages > 1) assert.notInclude(yield* draftsOf, first.last)
        const issued = made.filter((_, index) => letters[index] === "i")
        assert.deepStrictEqual([...(yield* readWhileDraftsGo)].sort(), issued.sort())
      }).pipe(taxed),
    )
  }

  it.effect("goes on when the drafts are deleted between two reads of one page", () => {
    let areGone = false
    const list = listing((stored) => ({ ...filter }, page) => {
      if (page.cursor === undefined) return stored(areGone ? { ...filter, status: "open" } : filter, page)
      areGone = true
      return Effect.fail(new Page.CursorNotFound(page.cursor))
    })
    return Effect.gen(function* () {
      const made = yield* makeInvoices(`i${"d".repeat(25)}`)
      const { journal } = yield* Books
      const { entries, hasMore } = yield* journal()
      assert.isFalse(hasMore)
      assert.strictEqual(entries[0]?.invoiceId, made[0])
      const unknown = yield* Effect.flip(journal({ startingAfter: made[10]! }))
      assert.include(unknown.message, "startingAfter")
    }).pipe(list)
  })

  it.effect("ends a page with a draft after 500 reads of drafts alone", () => {
    let reads = 0
    const endless = listing((stored) => (filter, { limit }) => {
      reads++
      const page = stored(filter, { limit, cursor: undefined })
      return Effect.map(page, ({ data }) => ({ data, hasMore: true }))
    })
    return Effect.gen(function* () {
      const [draft] = yield* makeInvoices("d")
      const { entries, hasMore, last } = yield* (yield* Books).journal()
      assert.deepStrictEqual([entries, hasMore, last, reads], [[], true, draft, 500])
    }).pipe(endless)
  })
})

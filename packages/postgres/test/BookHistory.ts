/**
 * Histories that the books have to keep up with: invoices, payments, credit notes, refunds, disputes and credits, one after
 * another, by a seed.
 */
import {
  Billing,
  BillingRuns,
  Books,
  CreditNotes,
  Credits,
  type Customer,
  Customers,
  Disputes,
  FakeProvider,
  Invoices,
  type JournalEntry,
  Payments,
  Plans,
  Refunds,
  Subscriptions,
  TopUps,
} from "@billwright/core"
import { assert } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { TestClock } from "effect/testing"
import { START, subscribe, use } from "./Invoicing.ts"

const DAY = 86_400_000
const FUTURE = "2030-12-31"

/** Numbers that look random, the same for a seed. */
class Dice {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** From 0 to below `sides`. */
  roll(sides: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((this.#state / 2 ** 32) * sides)
  }

  amount(most: number): bigint {
    return BigInt(1 + this.roll(most))
  }

  pick<A>(all: ReadonlyArray<A>): A {
    return all[this.roll(all.length)]!
  }

  /** One of what was found, which may be nothing. */
  found<A>(all: ReadonlyArray<A>): Effect.Effect<A, "NothingFound"> {
    return all.length === 0 ? Effect.fail("NothingFound") : Effect.succeed(this.pick(all))
  }
}

export const worldOf = (behavior: "exclusive" | "inclusive", payments?: FakeProvider) =>
  Billing.layerWithIds({
    ...(payments === undefined ? {} : { payments }),
    invoices: { tax: { behavior, seller: "DE", rates: [{ country: "DE", rate: "19", from: "2024-01-01" }] } },
  })

/** An operation that the rules of billing may refuse. */
const tried = <E, R>(effect: Effect.Effect<unknown, E, R>) => Effect.ignore(effect)

const passDays = Effect.fnUntraced(function* (days: number) {
  const { epochMilliseconds: now } = yield* DateTime.now
  yield* TestClock.setTime(now + days * DAY)
  yield* (yield* BillingRuns).runDue()
})

const lineOf = (dice: Dice, now: number) => {
  const from = now + (dice.roll(60) - 30) * DAY + dice.roll(DAY)
  const amount = dice.roll(6) === 0 ? -dice.amount(3_000) : dice.amount(90_000)
  const to = from + 1 + dice.roll(60 * DAY)
  const period = { periodStart: DateTime.makeUnsafe(from), periodEnd: DateTime.makeUnsafe(to) }
  return { description: "Work", amount, ...(dice.roll(2) === 0 ? {} : period) }
}

const bill = Effect.fnUntraced(function* (dice: Dice, customerId: Customer.CustomerId) {
  const invoices = yield* Invoices
  const { epochMilliseconds: now } = yield* DateTime.now
  const lines = Array.from({ length: 1 + dice.roll(3) }, () => lineOf(dice, now))
  const { id } = yield* invoices.create({ customerId, currency: dice.pick(["EUR", "EUR", "JPY"]), lines })
  yield* invoices.finalize(id)
})

const someInvoice = Effect.fnUntraced(function* (dice: Dice) {
  const { data } = yield* (yield* Invoices).list({ limit: 100 })
  return yield* dice.found(data)
})

const pay = Effect.fnUntraced(function* (dice: Dice) {
  const { amountDue, id } = yield* someInvoice(dice)
  const amount = dice.roll(2) === 0 ? amountDue : dice.amount(90_000)
  yield* (yield* Payments).record({ invoiceId: id, amount, acceptOverpayment: true })
})

const creditSome = Effect.fnUntraced(function* (dice: Dice) {
  const { amountPaid, id, total } = yield* someInvoice(dice)
  const amount = dice.roll(3) === 0 ? {} : { amount: dice.amount(Number(total) + 1) }
  const refund = dice.roll(2) === 0 ? {} : { refund: BigInt(dice.roll(Number(amountPaid) + 1)) }
  yield* (yield* CreditNotes).create({ invoiceId: id, reason: "other", ...amount, ...refund } as never)
})

const refundSome = Effect.fnUntraced(function* (dice: Dice) {
  const { data } = yield* (yield* Payments).list({ limit: 100 })
  const { amount, id } = yield* dice.found(data)
  yield* (yield* Refunds).create({ paymentId: id, amount: dice.amount(Number(amount)), reason: "other" })
})

const dispute = Effect.fnUntraced(function* (dice: Dice, fake: FakeProvider) {
  const { data } = yield* (yield* Payments).list({ status: "succeeded", limit: 100 })
  const { amount, reference } = yield* dice.found(data.filter(({ provider }) => provider === "fake"))
  const id = fake.dispute(reference!, dice.amount(Number(amount)))
  const payments = yield* Payments
  const tell = Effect.flatMap(DateTime.now, ({ epochMilliseconds: at }) =>
    payments.receive(fake.sign(fake.notices.at(-1)!, { at })),
  )
  yield* tell
  for (const end of dice.pick([["lost"], ["won"], ["lost", "won"], []] as const)) {
    fake.closeDispute(id, end)
    yield* tell
  }
})

const useCredits = Effect.fnUntraced(function* (dice: Dice, customerId: Customer.CustomerId) {
  const credits = yield* Credits
  const unit = dice.pick(["token", "EUR"])
  const { epochMilliseconds: now } = yield* DateTime.now
  const expiresAt = DateTime.makeUnsafe(now + (1 + dice.roll(40)) * DAY)
  switch (dice.roll(4)) {
    case 0: {
      const kind = dice.pick(["paid", "promotional"] as const)
      const scope = dice.roll(2) === 0 ? {} : { scope: ["calls"] }
      return yield* credits.grant({ customerId, unit, kind, amount: dice.amount(9_000), expiresAt, ...scope })
    }
    case 1: {
      const price = unit === "EUR" ? {} : { currency: "EUR", price: dice.amount(5_000) }
      return yield* (yield* TopUps).create({ customerId, unit, amount: dice.amount(5_000), ...price })
    }
    case 2: {
      const { data } = yield* credits.listGrants({ customerId, limit: 100 })
      return yield* credits.voidGrant((yield* dice.found(data)).id)
    }
    default: {
      const purpose = dice.roll(2) === 0 ? {} : { purpose: "calls" }
      return yield* credits.consume({ customerId, unit, amount: dice.amount(2_000), ...purpose })
    }
  }
})

/** A plan that grants tokens, which usage burns. */
const burning = (key: string, amount: string) => ({
  key,
  name: key,
  currencies: ["EUR"],
  interval: { unit: "month" as const, count: 1 },
  charges: [
    { key: "calls", model: "unit" as const, meter: "calls", burns: "token", price: { token: "0.5" } },
  ],
  grants: [{ unit: "token", amount }],
})

const subscribeToTokens = Effect.fnUntraced(function* (customerId: Customer.CustomerId) {
  yield* (yield* Plans).push({ plans: [burning("big", "2000"), burning("small", "200")] })
  yield* (yield* Subscriptions).create({ customerId, plan: "big" })
})

const changePlan = Effect.fnUntraced(function* (dice: Dice) {
  const subscriptions = yield* Subscriptions
  const [newest] = (yield* subscriptions.list()).data
  yield* subscriptions.change(newest!.id, { plan: dice.pick(["big", "small"]), at: "now" })
})

const step = Effect.fnUntraced(function* (dice: Dice, customer: Customer.Customer, fake: FakeProvider) {
  const invoices = yield* Invoices
  switch (dice.roll(13)) {
    case 0:
    case 1:
      return yield* tried(bill(dice, customer.id))
    case 2: {
      return yield* tried(pay(dice))
    }
    case 3:
      return yield* tried(creditSome(dice))
    case 4:
      return yield* tried(refundSome(dice))
    case 5:
      return yield* tried(Effect.flatMap(someInvoice(dice), ({ id }) => invoices.void(id)))
    case 6:
      return yield* tried(Effect.flatMap(someInvoice(dice), ({ id }) => invoices.markUncollectible(id)))
    case 7:
      return yield* tried(dispute(dice, fake))
    case 8:
      return yield* tried(use(customer, 1 + dice.roll(3_000)))
    case 9:
    case 10:
      return yield* tried(useCredits(dice, customer.id))
    case 11:
      return yield* tried(changePlan(dice))
    default:
      return yield* passDays(dice.roll(20))
  }
})

/** Attempts of odd amounts are declined, whatever their order. */
export const providerOf = (): FakeProvider => {
  const fake: FakeProvider = new FakeProvider({
    mode: "live",
    outcomeOf: (attempt) => {
      const payment = fake.payments.find(({ reference }) => reference === attempt.reference)
      return payment!.amount % 2n === 0n
        ? { status: "succeeded" }
        : { status: "declined", code: "no_funds", advice: null, notBefore: null }
    },
  })
  return fake
}

/** Runs a history from `START` on, with the clock of a test. */
export const live = Effect.fnUntraced(function* (seed: number, fake: FakeProvider, steps: number) {
  const dice = new Dice(seed)
  yield* TestClock.setTime(START.epochMilliseconds)
  const { customer } = yield* subscribe
  yield* (yield* Customers).update(customer.id, { country: "DE" } as never)
  yield* subscribeToTokens(customer.id)
  yield* passDays(0)
  for (let n = 0; n < steps; n++) yield* step(dice, customer, fake)
  // What ends by the clock is written with the next change of an account.
  for (const unit of ["token", "EUR", "JPY"]) {
    yield* (yield* Credits).grant({ customerId: customer.id, unit, kind: "promotional", amount: 1n })
  }
})

/** Writes invoices off, and does more with them at the same instant: the clock of a test stands still. Nothing is collected. */
export const liveAtOneInstant = Effect.gen(function* () {
  yield* TestClock.setTime(START.epochMilliseconds)
  const invoices = yield* Invoices
  const payments = yield* Payments
  const notes = yield* CreditNotes
  const { id: customerId } = yield* (yield* Customers).create({
    name: "Ada",
    email: "ada@example.com",
    country: "DE",
  })
  const lines = [{ description: "Work", amount: 10_000n }]
  const issue = Effect.gen(function* () {
    const { id } = yield* invoices.create({ customerId, currency: "EUR", lines })
    return (yield* invoices.finalize(id)).id
  })
  const voided = yield* issue
  yield* invoices.markUncollectible(voided)
  yield* invoices.void(voided)
  const touched = yield* issue
  yield* payments.record({ invoiceId: touched, amount: 1_000n })
  yield* notes.create({ invoiceId: touched, amount: 200n, reason: "other" })
  yield* invoices.markUncollectible(touched)
  const payment = yield* payments.record({ invoiceId: touched, amount: 3_000n })
  yield* notes.create({ invoiceId: touched, amount: 400n, reason: "other" })
  yield* (yield* Refunds).create({ paymentId: payment.id, amount: 700n, reason: "other" })
  const later = yield* issue
  yield* invoices.markUncollectible(later)
  yield* TestClock.adjust(1)
  yield* invoices.void(later)
})

/** All entries of the journal to a day. */
const journalTo = Effect.fnUntraced(function* (endDate: string) {
  const books = yield* Books
  const entries: Array<JournalEntry> = []
  let startingAfter: Parameters<typeof books.journal>[0]
  for (;;) {
    const page = yield* books.journal({ endDate, ...startingAfter })
    entries.push(...page.entries)
    if (!page.hasMore || page.last === null) return entries
    startingAfter = { startingAfter: page.last }
  }
})

const sum = (amounts: ReadonlyArray<bigint>): bigint => amounts.reduce((all, one) => all + one, 0n)

/** What an account comes to in a currency. */
export const balanceOf = (entries: ReadonlyArray<JournalEntry>, account: string, currency: string): bigint =>
  sum(
    entries
      .filter((entry) => entry.currency === currency)
      .flatMap(({ postings }) =>
        postings.filter((one) => one.account === account).map(({ amount }) => amount),
      ),
  )

/** What issued invoices bill in the end, without tax and top-ups, after their credit notes. */
const billedOf = Effect.fnUntraced(function* (currency: string) {
  const { data: invoices } = yield* (yield* Invoices).list({ limit: 100 })
  const { data: notes } = yield* (yield* CreditNotes).list({ limit: 100 })
  const isService = (one: { readonly lines: ReadonlyArray<{ readonly kind: string }> }) =>
    one.lines.every(({ kind }) => kind !== "top_up")
  const billed = invoices.filter(
    (one) => one.currency === currency && one.status !== "draft" && one.status !== "void" && isService(one),
  )
  const credited = notes.filter((note) => billed.some(({ id }) => id === note.invoiceId))
  return sum(billed.map(({ tax, total }) => total - tax)) - sum(credited.map(({ net }) => net))
})

/** An integer fraction, rounded half up. None of it is below 0. */
const rounded = (above: bigint, below: bigint): bigint => (2n * above + below) / (2n * below)

/** What is left of paid credits is what the books owe for them: from what grants and invoices say, not from entries of credits. */
const checkGrants = Effect.fnUntraced(function* (entries: ReadonlyArray<JournalEntry>) {
  const { data: grants } = yield* (yield* Credits).listGrants({ limit: 100 })
  const { data: invoices } = yield* (yield* Invoices).list({ limit: 100 })
  const { data: notes } = yield* (yield* CreditNotes).list({ limit: 100 })
  for (const { amount, available, held, id, kind, source, unit } of grants) {
    if (kind !== "paid") continue
    const own = entries.filter(({ documentId }) => documentId === id)
    const currency = own[0]?.currency ?? unit
    const left = available + held
    const uses = invoices.filter(({ status }) => status !== "void").flatMap(({ applied }) => applied)
    const applied = sum(uses.filter((one) => one.id === id).map((one) => one.amount))
    const bill = invoices.find((one) => one.id === source?.id && one.lines[0]?.kind === "top_up")
    const credited = notes.filter(({ invoiceId }) => invoiceId === bill?.id).map(({ net }) => net)
    const price = bill === undefined ? amount : bill.total - bill.tax - sum(credited)
    if (bill === undefined && unit === "token") assert.isEmpty(own)
    else {
      const paid = source === null ? amount : 0n
      const gone = rounded(price * (amount - left), amount) - applied
      assert.strictEqual(
        balanceOf(own, "contract_liability", currency),
        gone - paid,
        `what is left of ${unit}`,
      )
    }
  }
})

/** The books say what the documents say. */
export const checkBooks = Effect.gen(function* () {
  const entries = yield* journalTo(FUTURE)
  for (const { postings } of entries) assert.strictEqual(sum(postings.map(({ amount }) => amount)), 0n)
  const { data: invoices } = yield* (yield* Invoices).list({ limit: 100 })
  const { data: payments } = yield* (yield* Payments).list({ limit: 100 })
  const { data: refunds } = yield* (yield* Refunds).list({ limit: 100 })
  const { data: disputes } = yield* (yield* Disputes).list({ limit: 100 })
  for (const currency of ["EUR", "JPY"]) {
    const of = (account: string) => balanceOf(entries, account, currency)
    const due = invoices.filter((one) => one.status === "open" && one.currency === currency)
    assert.strictEqual(of("receivable"), sum(due.map(({ amountDue }) => amountDue)), "receivable")
    const bad = invoices.filter((one) => one.status === "uncollectible" && one.currency === currency)
    assert.strictEqual(of("bad_debt"), sum(bad.map(({ amountDue }) => amountDue)), "bad_debt")
    const came = payments.filter((one) => one.status === "succeeded" && one.currency === currency)
    const went = refunds.filter((one) => one.status === "succeeded" && one.currency === currency)
    const lost = disputes.filter((one) => one.status === "lost" && one.currency === currency)
    const back = sum([...went, ...lost].map(({ amount }) => amount))
    const moved = sum(came.map(({ amount }) => amount)) - back
    assert.strictEqual(of("cash"), moved, "cash")
    const recognized = entries.filter(({ kind }) => kind === "recognition" || kind === "void")
    const revenue = -balanceOf(recognized, "revenue", currency)
    assert.strictEqual(revenue, yield* billedOf(currency), "revenue")
  }
  yield* checkGrants(entries)
  return entries
})

/**
 * Payments under faults, with real processes on a real Postgres, and a bank in a process of its own: rows 57 to 62 of the
 * fault matrix. Each must lead to paid invoices, and to one charge and one refund for each in the book of the bank.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import type { Readable } from "node:stream"
import { text } from "node:stream/consumers"
import { Customers, Events, Invoices, Payments, Refunds } from "@billwright/core"
import { problemsOfPayments, problemsOfSums } from "@billwright/engine"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { FaultyPostgres } from "../FaultyPostgres.ts"
import { until } from "../Until.ts"
import { answer, bankAt, bankedAt, hold } from "./billing/BankClient.ts"
import { Installation, onPostgres } from "./billing/Installation.ts"
import { DAY, START_MILLIS } from "./billing/Scenario.ts"
import { ofRows, TIMEOUT } from "./Matrix.ts"

/** Longer than a lease, and than an attempt that nobody knows the outcome of is left alone. */
const LEASED = 10 * 60_000
/** The total of each invoice, in the minor unit. */
const TOTAL = 2_000n

const postgres = new FaultyPostgres({})
let bankUrl = ""
let bank: ChildProcessByStdio<null, Readable, null>
let databases = 0

const urlOf = (name: string): string => {
  const url = new URL(postgres.url)
  url.pathname = `/${name}`
  return url.href
}

/** Every database has a book of its own at the bank. */
const bookOf = (name: string): string => `${bankUrl}/${name}`

const database = async (template = "template1"): Promise<string> => {
  const name = `payments_${++databases}`
  await postgres.query(`create database ${name} template ${template} owner service`)
  return name
}

const on = async <A>(name: string, now: number, body: (one: Installation) => Promise<A>): Promise<A> => {
  const payments = bankAt(bookOf(name))
  const installation = new Installation(onPostgres(urlOf(name)), now, { payments })
  try {
    return await body(installation)
  } finally {
    await installation.close()
  }
}

/** A database with issued invoices whose payments are due. */
const issued = async (count: number): Promise<string> => {
  const name = await database()
  const issue = Effect.gen(function* () {
    const { create, finalize } = yield* Invoices
    const { id } = yield* (yield* Customers).create({ name: "Ada", email: "ada@example.com" })
    const lines = [{ description: "Setup", amount: TOTAL }]
    const { id: invoiceId } = yield* create({ customerId: id, currency: "EUR", lines })
    yield* finalize(invoiceId)
  })
  await on(name, START_MILLIS, async (one) => {
    for (let n = 0; n < count; n++) await one.run(issue)
  })
  return name
}

/** A process that does what is due once. */
const runner = (name: string, env: Readonly<Record<string, string>> = {}, now = START_MILLIS) => {
  const child = spawn(process.execPath, [join(import.meta.dirname, "billing/Runner.ts")], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      DATABASE_URL: urlOf(name),
      RUN_AT: String(now),
      BANK: bookOf(name),
      ...env,
    },
  })
  const ended = async () => {
    const all = [text(child.stderr), text(child.stdout), once(child, "close")] as const
    const [stderr] = await Promise.all(all)
    return { signal: child.signalCode, stderr }
  }
  return { child, ended: ended() }
}

/** Waits until an attempt is carried out, whose answer is held. */
const isCharged = (name: string) =>
  until("the bank has taken the money", async () =>
    (await bankedAt(bookOf(name))).some(({ charges }) => charges > 0),
  )

/** Collects the rest, and compares the books with that of the bank. Gives the book of the bank. */
const ends = (name: string) =>
  on(name, START_MILLIS + LEASED, async (one) => {
    await one.advanceTo(START_MILLIS + 2 * DAY)
    const banked = await bankedAt(bookOf(name))
    const charges = banked.filter((payment) => payment.charges > 0)
    const invoices = await one.invoices()
    assert.deepStrictEqual(
      charges.map((charge) => [charge.invoiceId, charge.amount, charge.charges]).toSorted(),
      invoices.map(({ id }) => [id, String(TOTAL), 1]).toSorted(),
    )
    for (const { id, state } of invoices) {
      const list = Effect.flatMap(Payments, (payments) => payments.list({ invoiceId: id }))
      const { data } = await one.run(list)
      assert.deepStrictEqual(problemsOfSums(state), [])
      assert.deepStrictEqual(problemsOfPayments(state, data), [])
      assert.deepInclude(state, { status: "paid", collection: "paid", amountPaid: TOTAL })
      const booked = data.filter(({ status }) => status === "succeeded").map(({ reference }) => reference)
      assert.deepStrictEqual(
        booked,
        charges.filter(({ invoiceId }) => invoiceId === id).map(({ reference }) => reference),
      )
    }
    return banked
  })

beforeAll(async () => {
  bank = spawn(process.execPath, [join(import.meta.dirname, "billing/Bank.ts")], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  const [line] = (await once(bank.stdout, "data")) as ReadonlyArray<Buffer>
  bankUrl = String(line).trim()
  await postgres.start()
}, TIMEOUT)
afterAll(async () => {
  bank.kill()
  await postgres.remove()
}, TIMEOUT)

/** Runs a process until it dies at a moment of a step, for each step. Gives how many steps there are. */
const stepsOf = async (
  moments: readonly [string, string],
  prepared: () => Promise<string>,
  check: (name: string) => Promise<unknown>,
): Promise<number> => {
  for (let step = 1; ; step++) {
    const names = [await prepared(), await prepared()] as const
    const [first, second] = await Promise.all([
      runner(names[0], { KILL: `${moments[0]} ${step}` }).ended,
      runner(names[1], { KILL: `${moments[1]} ${step}` }).ended,
    ])
    assert.strictEqual(first.signal, second.signal, `${first.stderr}${second.stderr}`)
    for (const name of names) await check(name)
    if (first.signal === null) return step - 1
  }
}

/** What goes back of each payment. */
const BACK = 700n

/** A database with invoices that are paid, and a refund of each that is due. */
const toRefund = async (count: number): Promise<string> => {
  const name = await issued(count)
  await on(name, START_MILLIS, async (one) => {
    await one.advanceTo(START_MILLIS)
    const refund = Effect.gen(function* () {
      const { data } = yield* (yield* Payments).list()
      const { create } = yield* Refunds
      for (const { id } of data) yield* create({ paymentId: id, amount: BACK, reason: "other" })
    })
    await one.run(refund)
  })
  return name
}

/** Refunds the rest, and compares the books with that of the bank. */
const endsRefunded = (name: string) =>
  on(name, START_MILLIS + LEASED, async (one) => {
    await one.advanceTo(START_MILLIS + 2 * DAY)
    const banked = await bankedAt(bookOf(name))
    const { events, refunds } = await one.run(
      Effect.gen(function* () {
        const published = (yield* (yield* Events).list({ type: "refund.succeeded", limit: 100 })).data
        return { events: published, refunds: (yield* (yield* Refunds).list({ limit: 100 })).data }
      }),
    )
    assert.lengthOf(events, refunds.length)
    assert.deepStrictEqual(
      refunds
        .map(({ amount, id, reference, reversed, status }) => [id, reference, amount, reversed, status])
        .toSorted(),
      banked
        .flatMap((payment) => payment.refunds)
        .map(({ amount, reference, refundId }) => [refundId, reference, BigInt(amount), BACK, "succeeded"])
        .toSorted(),
    )
    for (const { id, state } of await one.invoices()) {
      const { data } = await one.run(Effect.flatMap(Payments, (payments) => payments.list({ invoiceId: id })))
      const own = refunds.filter(({ invoiceId }) => invoiceId === id)
      assert.lengthOf(own, 1)
      assert.deepStrictEqual(problemsOfPayments(state, data, own), [])
      assert.deepInclude(state, { status: "open", collection: "stopped", amountPaid: TOTAL - BACK })
    }
  })

describe("a payment", () => {
  it(
    "is taken and booked once after SIGKILL between any two steps of it",
    { ...ofRows(57), timeout: 3 * TIMEOUT },
    async () => {
      const template = await issued(1)
      const prepared = () => database(template)
      // It is opened and attempted.
      assert.strictEqual(await stepsOf(["call", "answer"], prepared, ends), 2)
      // Each of that has a claim, a commit before the call and one after it. The last claim finds nothing.
      assert.isAtLeast(await stepsOf(["before", "after"], prepared, ends), 2 * 3)
    },
  )

  it("is booked once when Postgres restarts before the answer", ofRows(58), async () => {
    const name = await issued(1)
    await hold(bookOf(name))
    const { ended } = runner(name)
    await isCharged(name)
    await postgres.crash()
    await answer(bookOf(name))
    await postgres.start()
    await ended
    await ends(name)
  })

  it("is attempted once by 4 processes", ofRows(59), async () => {
    const name = await issued(3)
    const runners = Array.from({ length: 4 }, () => runner(name))
    for (const { ended } of runners) {
      const { signal, stderr } = await ended
      assert.isNull(signal, stderr)
    }
    for (const { arrived } of await ends(name)) assert.lengthOf(arrived, 1)
  })

  it("is booked once when its runner goes on after its lease", ofRows(60), async () => {
    const name = await issued(1)
    await hold(bookOf(name))
    const late = runner(name)
    await isCharged(name)
    late.child.kill("SIGSTOP")
    const other = await runner(name, {}, START_MILLIS + LEASED).ended
    assert.isNull(other.signal, other.stderr)
    await answer(bookOf(name))
    late.child.kill("SIGCONT")
    const { signal, stderr } = await late.ended
    assert.isNull(signal, stderr)
    for (const { arrived } of await ends(name)) assert.lengthOf(arrived, 1)
  })
})

describe("a refund", () => {
  it(
    "is made and booked once after SIGKILL between any two steps of it",
    { ...ofRows(61), timeout: 4 * TIMEOUT },
    async () => {
      const prepared = () => toRefund(1)
      assert.strictEqual(await stepsOf(["call", "answer"], prepared, endsRefunded), 1)
      // A claim, a commit before the call and one after it. The last claim finds nothing.
      assert.isAtLeast(await stepsOf(["before", "after"], prepared, endsRefunded), 3)
    },
  )

  it("is booked once when the provider tells of it before it answers", ofRows(62), async () => {
    const name = await toRefund(3)
    await hold(bookOf(name))
    const runners = Array.from({ length: 3 }, () => runner(name))
    const refundsAt = async () => (await bankedAt(bookOf(name))).flatMap(({ refunds }) => refunds)
    await until("the bank has made the refunds", async () => (await refundsAt()).length === 3)
    const told = await on(name, START_MILLIS, async (one) => {
      const receive = ({ reference }: { readonly reference: string }, index: number) => {
        const notice = { eventId: `event_${index % 3}`, mode: "live", about: "refund", reference }
        const body = new TextEncoder().encode(JSON.stringify(notice))
        return one.run(Effect.flatMap(Payments, (payments) => payments.receive({ body, headers: {} })))
      }
      const all = await refundsAt()
      return Promise.all([...all, ...all, ...all].map(receive))
    })
    assert.isTrue(told.every(({ outcome }) => outcome === "accepted"))
    await answer(bookOf(name))
    for (const { ended } of runners) {
      const { signal, stderr } = await ended
      assert.isNull(signal, stderr)
    }
    await endsRefunded(name)
  })
})

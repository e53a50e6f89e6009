/**
 * Payments under faults, with real processes on a real Postgres, and a bank in a process of its own: rows 57 to 60 of the
 * fault matrix. Each must lead to paid invoices, and to one charge for each in the book of the bank.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import type { Readable } from "node:stream"
import { text } from "node:stream/consumers"
import { Customers, Invoices, Payments } from "@billwright/core"
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

describe("a payment", () => {
  it(
    "is taken and booked once after SIGKILL between any two steps of it",
    { ...ofRows(57), timeout: 3 * TIMEOUT },
    async () => {
      const template = await issued(1)
      const stepsOf = async (moments: readonly [string, string]): Promise<number> => {
        for (let step = 1; ; step++) {
          const names = [await database(template), await database(template)] as const
          const [first, second] = await Promise.all([
            runner(names[0], { KILL: `${moments[0]} ${step}` }).ended,
            runner(names[1], { KILL: `${moments[1]} ${step}` }).ended,
          ])
          assert.strictEqual(first.signal, second.signal, `${first.stderr}${second.stderr}`)
          for (const name of names) await ends(name)
          if (first.signal === null) return step - 1
        }
      }
      // It is opened and attempted.
      assert.strictEqual(await stepsOf(["call", "answer"]), 2)
      // Each of that has a claim, a commit before the call and one after it. The last claim finds nothing.
      assert.isAtLeast(await stepsOf(["before", "after"]), 2 * 3)
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

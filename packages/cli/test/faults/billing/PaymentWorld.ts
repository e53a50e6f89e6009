/**
 * Invoices that are collected, on a real Postgres with processes that can be killed, by a bank in a process of its own.
 * Each test has databases of its own, and each database has a book at the bank.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import type { Readable } from "node:stream"
import { text } from "node:stream/consumers"
import { Customers, Invoices, Payments, Refunds } from "@billwright/core"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { program } from "../../Command.ts"
import { FaultyPostgres } from "../../FaultyPostgres.ts"
import { bankAt, copyBook } from "./BankClient.ts"
import { Installation, onPostgres } from "./Installation.ts"
import { START_MILLIS } from "./Scenario.ts"

/** Longer than a lease, and than an attempt that nobody knows the outcome of is left alone. */
export const LEASED = 10 * 60_000
/** The total of each invoice, in the minor unit. */
export const TOTAL = 2_000n
/** What goes back of each payment by a refund that is prepared. */
export const BACK = 700n

type Env = Readonly<Record<string, string>>

export class PaymentWorld {
  readonly postgres = new FaultyPostgres({})
  #bankUrl = ""
  #bank: ChildProcessByStdio<null, Readable, null> | undefined
  #databases = 0

  async start(): Promise<void> {
    this.#bank = spawn(process.execPath, [join(import.meta.dirname, "Bank.ts")], {
      stdio: ["ignore", "pipe", "inherit"],
    })
    const [line] = (await once(this.#bank.stdout, "data")) as ReadonlyArray<Buffer>
    this.#bankUrl = String(line).trim()
    await this.postgres.start()
  }

  async remove(): Promise<void> {
    this.#bank?.kill()
    await this.postgres.remove()
  }

  /** The book of a database at the bank. */
  bookOf(name: string): string {
    return `${this.#bankUrl}/${name}`
  }

  /** A new database: empty, or a copy of another one with a copy of its book. */
  async database(template?: string): Promise<string> {
    const name = `payments_${++this.#databases}`
    await this.postgres.makeDatabase(name, template)
    if (template !== undefined) await copyBook(this.bookOf(template), this.bookOf(name))
    return name
  }

  async on<A>(name: string, now: number, body: (one: Installation) => Promise<A>): Promise<A> {
    const payments = bankAt(this.bookOf(name))
    const installation = new Installation(onPostgres(this.postgres.urlOf(name)), now, { payments })
    try {
      return await body(installation)
    } finally {
      await installation.close()
    }
  }

  /** A database with issued invoices whose payments are due. */
  async issued(count: number): Promise<string> {
    const name = await this.database()
    const issue = Effect.gen(function* () {
      const { create, finalize } = yield* Invoices
      const { id } = yield* (yield* Customers).create({ name: "Ada", email: "ada@example.com" })
      const lines = [{ description: "Setup", amount: TOTAL }]
      const { id: invoiceId } = yield* create({ customerId: id, currency: "EUR", lines })
      yield* finalize(invoiceId)
    })
    await this.on(name, START_MILLIS, async (one) => {
      for (let n = 0; n < count; n++) await one.run(issue)
    })
    return name
  }

  /** A database with invoices that are paid, and a refund of each that is due. */
  async toRefund(count: number): Promise<string> {
    const name = await this.issued(count)
    await this.on(name, START_MILLIS, async (one) => {
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

  /** A process that does what is due once. */
  runner(name: string, env: Env = {}, now = START_MILLIS) {
    const child = spawn(process.execPath, [program("Runner")], {
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        DATABASE_URL: this.postgres.urlOf(name),
        RUN_AT: String(now),
        BANK: this.bookOf(name),
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

  /** Runs a process until it dies at a moment of a step, for each step. Gives how many steps there are. */
  async stepsOf(
    moments: readonly [string, string],
    prepared: () => Promise<string>,
    check: (name: string) => Promise<unknown>,
  ): Promise<number> {
    for (let step = 1; ; step++) {
      const names = [await prepared(), await prepared()] as const
      const [first, second] = await Promise.all([
        this.runner(names[0], { KILL: `${moments[0]} ${step}` }).ended,
        this.runner(names[1], { KILL: `${moments[1]} ${step}` }).ended,
      ])
      assert.strictEqual(first.signal, second.signal, `${first.stderr}${second.stderr}`)
      for (const name of names) await check(name)
      if (first.signal === null) return step - 1
    }
  }
}

/** Waits until processes have ended by themselves. */
export const endedWell = async (
  runners: ReadonlyArray<ReturnType<PaymentWorld["runner"]>>,
): Promise<void> => {
  for (const { ended } of runners) {
    const { signal, stderr } = await ended
    assert.isNull(signal, stderr)
  }
}

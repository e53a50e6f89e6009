/**
 * Billing runs under faults, with real processes on a real Postgres: rows 46 to 54 of the fault matrix. Each must lead to
 * the invoices and events of a run in memory without any fault.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { text } from "node:stream/consumers"
import { type Customer, Events, SpendAlerts, type Tenant, Transactor } from "@billwright/core"
import { Memory } from "@billwright/memory"
import { type Books, Choice, judgeBooks, outcomeOf } from "@billwright/simulation"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { program } from "../Command.ts"
import { FaultyPostgres } from "../FaultyPostgres.ts"
import { until } from "../Until.ts"
import { Installation, onPostgres } from "./billing/Installation.ts"
import {
  advanced,
  clocked,
  CLOSING,
  DAY,
  HOUR,
  month,
  SETTLED,
  START_MILLIS,
  subscribe,
  use,
} from "./billing/Scenario.ts"
import { ofRows, TIMEOUT } from "./Matrix.ts"

const CUSTOMERS = 2
/** A row with several runners has more customers, so that the runners meet. */
const MANY_CUSTOMERS = 8
/** Longer than a lease. */
const LEASED = 10 * 60_000

const postgres = new FaultyPostgres({ deadlock_timeout: "100ms" })
let databases = 0
let expected: ReadonlyArray<string> = []

/** A new database: empty, or a copy of another one, which nobody may use. */
const database = async (template = "template1"): Promise<string> => {
  const name = `billing_${++databases}`
  await postgres.makeDatabase(name, template)
  return name
}

/** Runs something on a database, and closes it. */
const on = async <A>(
  name: string,
  now: number,
  body: (one: Installation) => Promise<A>,
  mode: Tenant.Mode = "live",
): Promise<A> => {
  const installation = new Installation(onPostgres(postgres.urlOf(name)), now, { mode })
  try {
    return await body(installation)
  } finally {
    await installation.close()
  }
}

/** A database in which the first month is over, and not billed. */
const due = async (customers: number): Promise<string> => {
  const name = await database()
  await on(name, START_MILLIS, (one) => month(one, customers))
  return name
}

/** What a run without faults leads to, in memory. */
const undisturbed = async (
  body: (one: Installation) => Promise<unknown>,
  mode: Tenant.Mode = "live",
): Promise<ReadonlyArray<string>> => {
  const installation = new Installation(Memory.layer, START_MILLIS, { mode })
  await body(installation)
  const books = await installation.books()
  await installation.close()
  return outcomeOf(books)
}

/** Checks all invariants of the books. */
const hold = (books: Books): void => {
  assert.deepStrictEqual(judgeBooks(books), [])
  assert.deepStrictEqual(books.overdue, [])
}

/** The lines of an outcome that another one lacks, and the other way round. */
const isSame = (outcome: ReadonlyArray<string>, other: ReadonlyArray<string>): void => {
  const [surplus, missing] = [
    outcome.filter((line) => !other.includes(line)),
    other.filter((line) => !outcome.includes(line)),
  ]
  assert.deepStrictEqual({ surplus, missing }, { surplus: [], missing: [] })
  assert.deepStrictEqual(outcome, other)
}

/** Bills the rest, and checks that all is as without faults. */
const ends = (name: string, outcome: ReadonlyArray<string>): Promise<void> =>
  on(name, CLOSING + LEASED, async (one) => {
    await one.advanceTo(SETTLED)
    const books = await one.books()
    hold(books)
    isSame(outcomeOf(books), outcome)
  })

interface Ended {
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}

/** A process that does what is due once. */
const runner = (name: string, env: Readonly<Record<string, string>> = {}, now = CLOSING) => {
  const child = spawn(process.execPath, [program("Runner")], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, DATABASE_URL: postgres.urlOf(name), RUN_AT: String(now), ...env },
  })
  const ended = async (): Promise<Ended> => {
    const all = [text(child.stdout), text(child.stderr), once(child, "close")] as const
    const [stdout, stderr] = await Promise.all(all)
    return { signal: child.signalCode, stdout, stderr }
  }
  return ended()
}

const finished = ({ signal, stderr, stdout }: Ended) => {
  assert.isNull(signal, stderr)
  return JSON.parse(stdout) as { readonly failed: number }
}

beforeAll(async () => {
  await postgres.start()
  expected = await undisturbed(async (one) => {
    await month(one, CUSTOMERS)
    await one.advanceTo(SETTLED)
  })
}, TIMEOUT)
afterAll(() => postgres.remove(), TIMEOUT)

describe("billing", () => {
  it(
    "goes on after SIGKILL before or after any commit",
    { ...ofRows(46), timeout: 3 * TIMEOUT },
    async () => {
      const template = await due(CUSTOMERS)
      const commitsOf = async (env: Readonly<Record<string, string>>): Promise<number> => {
        for (let commits = 1; ; commits++) {
          const names = [await database(template), await database(template)] as const
          const [before, after] = await Promise.all([
            runner(names[0], { ...env, KILL: `before ${commits}` }),
            runner(names[1], { ...env, KILL: `after ${commits}` }),
          ])
          for (const name of names) await ends(name, expected)
          // What is done at once may be in one commit or in two, so that one of them may end with fewer commits.
          if (before.signal === null && after.signal === null) return commits
        }
      }
      // Each customer has two invoices to issue and a period to close, and claims come between.
      assert.isAbove(await commitsOf({ ALONE: "1" }), 3 * CUSTOMERS)
      // All of them do each of that at once.
      assert.isAbove(await commitsOf({}), 3 + 1)
    },
  )

  const several = undisturbed(async (one) => {
    await month(one, MANY_CUSTOMERS)
    await one.advanceTo(SETTLED)
  })

  it(
    "fires a spend alert once after SIGKILL before or after any commit, and by 4 processes at once",
    { ...ofRows(70), timeout: 3 * TIMEOUT },
    async () => {
      const template = await database()
      const now = START_MILLIS + 10 * DAY
      await on(template, START_MILLIS, async (one) => {
        const customers = await one.run(subscribe(CUSTOMERS))
        one.now = now
        for (const { id: customerId } of customers) {
          const alert = { customerId, currency: "EUR", amount: 100n, repeat: "multiples" } as const
          await one.run(Effect.flatMap(SpendAlerts, ({ create }) => create(alert)))
        }
        await one.runDue()
        for (const customer of customers) await one.run(use(customer, 1_000, now))
      })
      const fires = async (name: string): Promise<void> => {
        const run = finished(await runner(name, {}, now))
        assert.strictEqual(run.failed, 0)
        await on(name, now, async (one) => {
          const list = Effect.flatMap(Events, (events) => events.list({ type: "spend.alert" }))
          const { data } = await one.run(list)
          const amounts = data.map(({ payload }) => /"amount":(\d+)/.exec(payload)?.[1])
          assert.deepStrictEqual(amounts, Array(CUSTOMERS).fill("1200"))
        })
      }
      let deaths = 0
      for (let commits = 1; ; commits++) {
        const names = [await database(template), await database(template)] as const
        const [before, after] = await Promise.all([
          runner(names[0], { KILL: `before ${commits}` }, now),
          runner(names[1], { KILL: `after ${commits}` }, now),
        ])
        for (const name of names) await fires(name)
        if (before.signal === null && after.signal === null) break
        deaths++
      }
      assert.isAtLeast(deaths, CUSTOMERS)
      const crowded = await database(template)
      for (const one of await Promise.all(Array.from({ length: 4 }, () => runner(crowded, {}, now))))
        finished(one)
      await fires(crowded)
    },
  )

  it("is done once by 4 processes", ofRows(47), async () => {
    const name = await due(MANY_CUSTOMERS)
    const reports = await Promise.all(Array.from({ length: 4 }, () => runner(name)))
    for (const report of reports) assert.strictEqual(finished(report).failed, 0, report.stderr)
    await ends(name, await several)
  })

  it("is repeated after a deadlock", ofRows(48), async () => {
    const name = await due(CUSTOMERS)
    // Another transaction holds the numbers, and then wants the subscriptions that the run holds.
    await on(name, START_MILLIS, (one) => one.runDue())
    const session = postgres.open(name)
    const locks = "select from billwright.billing"
    await session.query("begin", `${locks}_series for update`)
    const run = runner(name)
    await until("the run waits for the numbers", async () => {
      const waiting = `select from pg_stat_activity where datname = '${name}' and wait_event_type = 'Lock'`
      return (await postgres.query(waiting)).length > 0
    })
    await session.query(`${locks}_subscriptions for update`).catch((error: unknown) => {
      assert.include(JSON.stringify(error), "40P01")
    })
    await session.query("rollback")
    await session.close()
    finished(await run)
    await until("the deadlock is counted", async () => {
      const counted = `select from pg_stat_database where datname = '${name}' and deadlocks > 0`
      return (await postgres.query(counted)).length > 0
    })
    await ends(name, expected)
  })

  it("is done once by 4 processes in a serializable database", ofRows(49), async () => {
    const name = await due(MANY_CUSTOMERS)
    await postgres.query(`alter database ${name} set default_transaction_isolation = 'serializable'`)
    const reports = await Promise.all(Array.from({ length: 4 }, () => runner(name)))
    for (const report of reports) finished(report)
    await ends(name, await several)
  })

  it("gives numbers in the order of time when a clock was set back", ofRows(50), async () => {
    const name = await due(CUSTOMERS)
    const late = CLOSING + HOUR / 2
    await on(name, late, (one) => one.runDue(3))
    finished(await runner(name, {}, CLOSING - HOUR / 2))
    await on(name, CLOSING, async (one) => {
      const issued = (await one.invoices()).map(({ state }) => state.issuedAt)
      assert.deepStrictEqual(new Set(issued), new Set([late]))
    })
    await ends(name, expected)
  })

  it("of a week is done in the order of its instants", ofRows(51), async () => {
    const week = async (one: Installation): Promise<void> => {
      const customers = await one.run(subscribe(MANY_CUSTOMERS, "daily"))
      await one.runDue()
      for (const [n, customer] of customers.entries()) {
        for (let day = 0; day < 7; day++) {
          one.now = START_MILLIS + day * DAY + 5 * HOUR
          await one.run(use(customer, 40 * n + 11 * day, one.now))
        }
      }
    }
    const end = START_MILLIS + 7 * DAY + 2 * HOUR
    // In memory, runs come in time: what is due is done before anything is recorded later.
    const inTime = await undisturbed(async (one) => {
      await week(one)
      one.now = START_MILLIS
      await one.advanceTo(end)
    })
    const name = await database()
    await on(name, START_MILLIS, async (one) => {
      await week(one)
      one.now = end
      await one.runDue()
      await one.look()
      const books = await one.books()
      hold(books)
      isSame(outcomeOf(books), inTime)
      const numbered = books.invoices
        .map(({ invoice }) => invoice)
        .toSorted((a, b) => (a.state.number! < b.state.number! ? -1 : 1))
      const instants = numbered.map(({ causes }) => causes[0]!.effect.at)
      assert.deepStrictEqual(
        instants,
        instants.toSorted((a, b) => a - b),
      )
    })
  })

  it("bills usage later that a transaction held over the close", ofRows(52), async () => {
    const name = await database()
    const late = (one: Installation, customer: Customer.Customer) => use(customer, 40, one.now)
    await on(name, START_MILLIS, async (one) => {
      const [customer] = (await month(one, 1)) as readonly [Customer.Customer]
      one.now = CLOSING - 3 * HOUR
      const isOpen = Deferred.makeUnsafe<void>()
      const mayCommit = Deferred.makeUnsafe<void>()
      const host = one.run(
        Effect.flatMap(Transactor, (transactor) =>
          transactor.atomically(
            late(one, customer).pipe(
              Effect.tap(() => Deferred.succeed(isOpen, undefined)),
              Effect.tap(() => Deferred.await(mayCommit)),
            ),
          ),
        ),
      )
      await Effect.runPromise(Deferred.await(isOpen))
      one.now = CLOSING
      await one.runDue()
      const closed = await one.invoices()
      assert.strictEqual(closed.length, 2)
      assert.isTrue(closed.every(({ state }) => state.status !== "draft"))
      await Effect.runPromise(Deferred.succeed(mayCommit, undefined))
      await host
      await one.advanceTo(SETTLED)
      const books = await one.books()
      hold(books)
      const lines = books.invoices.map(({ invoice }) =>
        invoice.state.lines.map(({ amount, charge, kind, quantity }) => [charge, kind, quantity, amount]),
      )
      assert.deepStrictEqual(lines, [
        [["base", "advance", null, 2_000n]],
        [
          ["calls", "usage", "51", 1n],
          ["base", "advance", null, 2_000n],
        ],
        [
          // 41 calls above the free ones are 0.533, of which 0.01 was billed.
          ["calls", "adjustment", "91", 52n],
          ["calls", "usage", "0", 0n],
          ["base", "advance", null, 2_000n],
        ],
      ])
      const adjusted = books.invoices[2]!.invoice.state.lines[0]!
      assert.strictEqual(adjusted.periodStart, START_MILLIS)
    })
  })

  it("goes on after an immediate restart of Postgres", ofRows(53), async () => {
    const name = await due(MANY_CUSTOMERS)
    const run = runner(name)
    await until("invoices are issued", async () => {
      const session = postgres.open(name)
      const [row] = await session.query(
        "select count(*) as n from billwright.invoices where status <> 'draft'",
      )
      await session.close()
      return Number(row?.["n"]) > 0
    })
    await postgres.crash()
    await postgres.start()
    await run
    await ends(name, await several)
  })

  /** A test clock on its way to `SETTLED` in a new database. */
  const onItsWay = async () => {
    const name = await database()
    const { id } = await on(name, START_MILLIS, (one) => clocked(one, 1), "test")
    return { name, id, env: { ADVANCE: id, ADVANCE_TO: String(SETTLED) } }
  }

  /** What the same clock leads to without faults. */
  const arrived = (): Promise<ReadonlyArray<string>> =>
    undisturbed(async (one) => {
      const { id } = await clocked(one, 1)
      await advanced(one, id, SETTLED)
    }, "test")

  const hasArrived = async (one: Installation): Promise<void> => {
    const books = await one.books()
    hold(books)
    isSame(outcomeOf(books), await arrived())
  }

  it("on a test clock goes on after SIGKILL at any commit", ofRows(54), async () => {
    const { env, id, name } = await onItsWay()
    const choice = new Choice(54)
    let kills = 0
    for (;;) {
      // The first commit takes the instant to advance to, so from the second on there is progress.
      const kill = `${choice.pick(["before", "after"])} ${choice.int(2, 4)}`
      const { signal, stderr } = await runner(name, { ...env, KILL: kill }, START_MILLIS)
      if (signal === null) break
      assert.strictEqual(signal, "SIGKILL", stderr)
      kills++
    }
    // Two periods are closed and three invoices issued, each in a transaction.
    assert.isAbove(kills, 2)
    await on(
      name,
      START_MILLIS,
      async (one) => {
        await advanced(one, id, SETTLED)
        await hasArrived(one)
      },
      "test",
    )
  })

  it("on a test clock is finished by runs with nobody calling", ofRows(55), async () => {
    const { env, name } = await onItsWay()
    const choice = new Choice(55)
    const called = await runner(name, { ...env, KILL: `after ${choice.int(1, 4)}` }, START_MILLIS)
    assert.strictEqual(called.signal, "SIGKILL", called.stderr)
    let now = START_MILLIS
    let kills = 0
    for (;;) {
      now += LEASED
      // The first commit of a run is its claim.
      const kill = `${choice.pick(["before", "after"])} ${choice.int(3, 4)}`
      const { signal, stderr } = await runner(name, { KILL: kill }, now)
      if (signal === null) break
      assert.strictEqual(signal, "SIGKILL", stderr)
      kills++
    }
    assert.isAbove(kills, 0)
    await on(name, now, hasArrived, "test")
  })
})

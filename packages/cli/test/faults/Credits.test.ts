/**
 * Credits under faults, with real processes on a real Postgres: rows 71 to 75 of the fault matrix. Whatever happens, nobody uses
 * more than there is, each call counts once, and the account is its entries.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { text } from "node:stream/consumers"
import { Credit, CreditAudit, Credits, type Customer, Holds, Transactor } from "@billwright/core"
import { Choice } from "@billwright/simulation"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit } from "effect"
import { program } from "../Command.ts"
import { FaultyPostgres } from "../FaultyPostgres.ts"
import { until } from "../Until.ts"
import { Installation, onPostgres } from "./billing/Installation.ts"
import { account, type Called } from "./credits/Calls.ts"
import { ofRows, TIMEOUT } from "./Matrix.ts"
import { never, Proxy } from "./Proxy.ts"

const START = Date.parse("2026-11-21T15:00:00Z")
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const PROCESSES = 4
/** Two for each caller. */
const CALLS = 128
const PAID = 250n
const PROMOTION = { amount: 120n, expiresAt: START + 30 * MINUTE }
/** The page of entries that is read. No account here has more. */
const PAGE = 100

const postgres = new FaultyPostgres({})
let databases = 0

/** Runs something at an instant on a database, and closes it. */
const at = async <A>(name: string, now: number, body: (one: Installation) => Promise<A>): Promise<A> => {
  const installation = new Installation(onPostgres(postgres.urlOf(name)), now)
  try {
    return await body(installation)
  } finally {
    await installation.close()
  }
}

type Account = Effect.Success<ReturnType<typeof account>>

/** A new database with an account. */
const begin = async (paid = PAID, promotion = PROMOTION): Promise<{ name: string; own: Account }> => {
  const name = `credits_${++databases}`
  await postgres.makeDatabase(name)
  const own = await at(name, START, (one) => one.run(account(paid, promotion)))
  return { name, own }
}

interface Process {
  readonly url: string
  readonly customerId: Customer.CustomerId
  /** Which of the processes it is: each has calls of its own. */
  readonly index: number
  readonly now?: number
  readonly kill?: string
}

/** A process that calls. `undefined`: it was killed. */
const caller = async ({
  customerId,
  index,
  kill = "",
  now = START,
  url,
}: Process): Promise<ReadonlyArray<Called> | undefined> => {
  const share = CALLS / PROCESSES
  const child = spawn(process.execPath, [program("Caller")], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      DATABASE_URL: url,
      RUN_AT: String(now),
      CUSTOMER: customerId,
      FROM: String(index * share),
      TO: String((index + 1) * share),
      KILL: kill,
    },
  })
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")])
  if (child.signalCode === "SIGKILL") return undefined
  assert.strictEqual(child.exitCode, 0, stderr)
  return JSON.parse(stdout) as ReadonlyArray<Called>
}

/** All processes at once: 64 callers. */
const callers = async (one: (index: number) => Process): Promise<ReadonlyArray<Called>> => {
  const all = await Promise.all(Array.from({ length: PROCESSES }, (_, index) => caller(one(index))))
  return all.flatMap((calls) => calls ?? [])
}

const entriesOf = (one: Installation, own: Account) =>
  one.run(
    Effect.gen(function* () {
      const { listEntries } = yield* Credits
      const first = yield* listEntries({ ...own, limit: PAGE })
      const all = [...first.data]
      for (let hasMore = first.hasMore; hasMore;) {
        const next = yield* listEntries({ ...own, limit: PAGE, startingAfter: all.at(-1)!.id })
        all.push(...next.data)
        hasMore = next.hasMore
      }
      return all
    }),
  )

/** Each call counts once, and what is left is what was granted without what was used and what expired. */
const holdsTogether = (
  name: string,
  own: Account,
  results: ReadonlyArray<Called>,
  now = START,
): Promise<void> =>
  at(name, now, async (one) => {
    const entries = await entriesOf(one, own)
    const sum = (kinds: ReadonlyArray<string>): bigint =>
      entries
        .filter(({ kind }) => kinds.includes(kind))
        .reduce((all, { available, debt, held }) => all + available + held - debt, 0n)
    const used = results.reduce((all, result) => ("used" in result ? all + result.used : all), 0)
    assert.strictEqual(-sum(["consume", "commit"]), BigInt(used))
    const refusals = results.flatMap((result) => ("refused" in result ? [result.refused] : []))
    assert.deepStrictEqual(
      [...new Set(refusals)].filter((tag) => tag !== "InsufficientCredits"),
      [],
    )
    const ids = results.flatMap((result) => ("id" in result ? [result.id] : []))
    assert.strictEqual(new Set(ids).size, ids.length)
    const last = await one.run(Effect.flatMap(Credits, ({ balance }) => balance(own)))
    const written = entries.reduce((all, { available, debt, held }) => all + available + held - debt, 0n)
    assert.strictEqual(written, sum(["grant", "expire", "consume", "commit"]))
    assert.isTrue(last.available >= 0n && (last.available === 0n || last.debt === 0n))
    const page = await one.run(Effect.flatMap(CreditAudit, (audit) => audit.page()))
    assert.deepInclude(page, { accounts: 1, discrepancies: [] })
  })

beforeAll(() => postgres.start(), TIMEOUT)
afterAll(() => postgres.remove(), TIMEOUT)

describe("credits of one account, with 64 callers in 4 processes", () => {
  it(
    "count once, and never give more than there is, over SIGKILL",
    { ...ofRows(71), timeout: 3 * TIMEOUT },
    async () => {
      const { name, own } = await begin()
      const of = (index: number, kill: string): Process => ({
        url: postgres.urlOf(name),
        ...own,
        index,
        kill,
      })
      for (const write of [7, 30]) {
        const [moment, other] = write % 2 === 0 ? ["before", "after"] : ["after", "before"]
        const killed = await callers((index) =>
          of(index, `${index % 2 === 0 ? moment : other} ${write + index}`),
        )
        assert.deepStrictEqual(killed, [])
      }
      const first = await callers((index) => of(index, ""))
      const again = await callers((index) => of(index, ""))
      for (const [index, result] of first.entries())
        if ("id" in result) assert.deepStrictEqual(again[index], result)
      await holdsTogether(name, own, again)
    },
  )

  it("while answers to statements are lost", { ...ofRows(72), timeout: 3 * TIMEOUT }, async () => {
    const { name, own } = await begin()
    const proxy = new Proxy(postgres.urlOf(name))
    await proxy.start()
    try {
      const choice = new Choice(72)
      proxy.cutsAnswer = () => choice.chance(0.01)
      const of = (index: number): Process => ({ url: proxy.url, ...own, index })
      await callers(of)
      assert.isAbove(proxy.cuts, 0)
      proxy.cutsAnswer = never
      await holdsTogether(name, own, await callers(of))
    } finally {
      proxy.stop()
    }
  })

  it("whose clocks are set back and forward", { ...ofRows(75), timeout: 3 * TIMEOUT }, async () => {
    const { name, own } = await begin()
    const skews = [0, -HOUR, HOUR, 25 * MINUTE]
    const of = (index: number): Process => ({
      url: postgres.urlOf(name),
      ...own,
      index,
      now: START + skews[index]!,
    })
    await holdsTogether(name, own, await callers(of), START + HOUR)
  })
})

/** Whether somebody waits for a lock. */
const isWaiting = async (name: string): Promise<boolean> => {
  const rows = await postgres.query(
    `select 1 from pg_stat_activity where datname = '${name}' and wait_event_type = 'Lock'`,
  )
  return rows.length > 0
}

describe("a hold", () => {
  const ALL = 10n
  const LAPSED = START + 61_000

  /** A hold of all credits, for a minute. */
  const heldAll = async () => {
    const { name, own } = await begin(ALL, { amount: 1n, expiresAt: START + 1_000 })
    const { id } = await at(name, START + 2_000, (one) =>
      one.run(Effect.flatMap(Holds, ({ reserve }) => reserve({ ...own, amount: ALL, ttlSeconds: 58 }))),
    )
    return { name, own, id }
  }

  const commit = (id: string) => Effect.flatMap(Holds, (holds) => holds.commit(id))
  const consume = (own: Account) => Effect.flatMap(Credits, (all) => all.consume({ ...own, amount: ALL }))

  /** What a process does, and its clock. */
  type Timed = readonly [now: number, effect: Parameters<Installation["run"]>[0]]

  /** Runs one transaction that stays open until another call, of a process with another clock, waits for it. */
  const meet = (name: string, first: Timed, second: Timed) =>
    at(name, first[0], (one) =>
      at(name, second[0], async (other) => {
        const gate = Deferred.makeUnsafe<void>()
        const inside = Deferred.makeUnsafe<void>()
        const body = Effect.tap(first[1], () =>
          Effect.andThen(Deferred.succeed(inside, undefined), Deferred.await(gate)),
        )
        const open = one.run(Effect.exit(Effect.flatMap(Transactor, ({ atomically }) => atomically(body))))
        await Effect.runPromise(Deferred.await(inside))
        const waiting = other.run(Effect.exit(second[1]))
        await until("the other call waits", () => isWaiting(name))
        await Effect.runPromise(Deferred.succeed(gate, undefined))
        return [await open, await waiting] as const
      }),
    )

  const valueOf = (exit: Exit.Exit<unknown, unknown>): unknown =>
    Exit.isSuccess(exit) ? exit.value : Cause.squash(exit.cause)

  it("that lapses during its commit is committed in time, or late with a debt", ofRows(73), async () => {
    for (const isCommitFirst of [true, false]) {
      const { id, name, own } = await heldAll()
      const inTime = [START + 59_000, commit(id)] as const
      const after = [LAPSED, consume(own)] as const
      if (isCommitFirst) {
        const [committed, consumed] = await meet(name, inTime, after)
        assert.deepInclude(valueOf(committed), { committed: ALL, isLate: false })
        assert.instanceOf(valueOf(consumed), Credit.InsufficientCredits)
      } else {
        const [consumed, committed] = await meet(name, after, inTime)
        assert.isTrue(Exit.isSuccess(consumed))
        assert.deepInclude(valueOf(committed), { committed: ALL, isLate: true })
      }
      await at(name, LAPSED, async (one) => {
        const { available, debt, held } = await one.run(
          Effect.flatMap(Credits, ({ balance }) => balance(own)),
        )
        assert.deepStrictEqual(
          { available, debt, held },
          { available: 0n, debt: isCommitFirst ? 0n : ALL, held: 0n },
        )
        const page = await one.run(Effect.flatMap(CreditAudit, (audit) => audit.page()))
        assert.deepStrictEqual(page.discrepancies, [])
      })
    }
  })
})

import {
  Customer,
  Dimensions,
  StorageError,
  Tenant,
  UsageIngest,
  UsageRecord,
  type AppendOutcome,
} from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Cause, DateTime, Deferred, Effect, Exit, Fiber, Scheduler, Scope } from "effect"
import { TestClock } from "effect/testing"
import { fc, holdsEffect } from "../property.ts"

const acme: Tenant.Tenant = { accountId: Tenant.AccountId.make("acme"), mode: "live" }
const acmeTest: Tenant.Tenant = { ...acme, mode: "test" }
const globex: Tenant.Tenant = { accountId: Tenant.AccountId.make("globex"), mode: "live" }

const customerId = Customer.CustomerId.make(`cus_${"0".repeat(26)}`)
/** A record that is told from others by its key. */
const record = (key: string): UsageRecord.NewUsageRecord => ({
  id: UsageRecord.UsageRecordId.make(`usg_${"0".repeat(26)}`),
  customerId,
  productId: "api",
  quantity: 1,
  unit: "call",
  dimensions: Dimensions.NONE,
  timestamp: DateTime.makeUnsafe(0),
  hasOwnTimestamp: false,
  idempotencyKey: key,
  voidedAt: null,
  createdAt: DateTime.makeUnsafe(0),
})
const recorded = (records: ReadonlyArray<UsageRecord.NewUsageRecord>): ReadonlyArray<AppendOutcome> =>
  records.map((record) => ({ _tag: "Recorded", record }))
const unavailable = (retryable: boolean) => new StorageError({ operation: "UsageStore.append", retryable })

/** A commit under way: what it writes and for whom, and how to end it. */
interface Commit {
  readonly tenant: string
  readonly keys: ReadonlyArray<string | null>
  /** Stores all of it. */
  readonly succeed: Effect.Effect<void>
  readonly answer: (outcomes: ReadonlyArray<AppendOutcome>) => Effect.Effect<void>
  readonly fail: (cause: Cause.Cause<StorageError>) => Effect.Effect<void>
}

/** Lets every fiber run until it waits for something. */
const settle = Effect.repeat(Effect.yieldNow, { times: 50 })

/** An ingest over a storage whose commits the test ends, one by one and as it likes. */
const makeIngest = Effect.fnUntraced(function* (options: UsageIngest.UsageIngestOptions = {}) {
  const commits: Array<Commit> = []
  let isTestOver = false
  const append: UsageIngest.AppendGroup = Effect.fnUntraced(function* (records) {
    const tenant = yield* Tenant.CurrentTenant
    const ended = yield* Deferred.make<ReadonlyArray<AppendOutcome>, StorageError>()
    const answer = (outcomes: ReadonlyArray<AppendOutcome>) =>
      Effect.andThen(Deferred.succeed(ended, outcomes), settle)
    commits.push({
      tenant: Tenant.tenantKey(tenant),
      keys: records.map(({ idempotencyKey }) => idempotencyKey),
      succeed: Effect.suspend(() => answer(recorded(records))),
      answer,
      fail: (cause) => Effect.andThen(Deferred.failCause(ended, cause), settle),
    })
    return isTestOver ? recorded(records) : yield* Deferred.await(ended)
  })
  const scope = yield* Scope.make()
  const ingest = yield* Scope.provide(UsageIngest.make(append, options), scope)
  const close = Scope.close(scope, Exit.void)
  yield* Effect.addFinalizer(() => {
    isTestOver = true
    return Effect.andThen(
      Effect.forEach(commits, (commit) => commit.succeed),
      close,
    )
  })
  const submit = (key: string, tenant: Tenant.Tenant = acme) =>
    ingest.submit(record(key)).pipe(
      Effect.map((outcome) =>
        outcome._tag === "Recorded" ? `Recorded ${outcome.record.idempotencyKey}` : outcome._tag,
      ),
      Effect.provideService(Tenant.CurrentTenant, tenant),
    )
  const start = (key: string, tenant?: Tenant.Tenant) =>
    Effect.forkChild(submit(key, tenant), { startImmediately: true })
  const groups = () => commits.map(({ keys }) => keys.join(" "))
  return { close, commits, groups, start, submit }
})

/** An ingest over a storage that answers by itself; `append` says what it answers. */
const makeAnswering = Effect.fnUntraced(function* (append: UsageIngest.AppendGroup) {
  const groups: Array<string> = []
  const ingest = yield* UsageIngest.make(
    (records) =>
      Effect.suspend(() => {
        groups.push(records.map(({ idempotencyKey }) => idempotencyKey).join(" "))
        return Effect.andThen(Effect.yieldNow, append(records))
      }),
    {},
  )
  const submitAll = (keys: string) =>
    Effect.forEach(keys.split(" "), (key) => Effect.exit(ingest.submit(record(key))), {
      concurrency: "unbounded",
    }).pipe(Effect.provideService(Tenant.CurrentTenant, acme))
  return { groups, submitAll }
})

/** The messages of errors that nobody catches, until the scope closes. Otherwise the test run fails with them. */
const uncaughtErrors = Effect.acquireRelease(
  Effect.sync(() => {
    const others = process.listeners("uncaughtException")
    const messages: Array<string> = []
    process.removeAllListeners("uncaughtException")
    process.on("uncaughtException", ({ message }) => messages.push(message))
    return { messages, others }
  }),
  ({ others }) =>
    Effect.sync(() => {
      process.removeAllListeners("uncaughtException")
      for (const listener of others) process.on("uncaughtException", listener)
    }),
).pipe(Effect.map(({ messages }) => messages))

describe("groups", () => {
  it.effect("append the first record of an idle tenant at once and alone, the rest together", () =>
    Effect.gen(function* () {
      const { commits, groups, start } = yield* makeIngest()
      const a = yield* start("a")
      assert.deepStrictEqual(groups(), ["a"])
      const rest = yield* Effect.forEach(["b", "c", "d"], (key) => start(key))
      yield* settle
      assert.deepStrictEqual(groups(), ["a"])
      yield* commits[0]!.succeed
      assert.deepStrictEqual(groups(), ["a", "b c d"])
      assert.strictEqual(yield* Fiber.join(a), "Recorded a")
      yield* commits[1]!.succeed
      assert.deepStrictEqual(yield* Effect.forEach(rest, (fiber) => Fiber.join(fiber)), [
        "Recorded b",
        "Recorded c",
        "Recorded d",
      ])
      // Idle again: at once and alone again.
      yield* start("e")
      assert.deepStrictEqual(groups(), ["a", "b c d", "e"])
    }),
  )

  it.effect("start with the next one before the callers of the last are told, if these are many", () =>
    Effect.gen(function* () {
      const { commits, groups, start, submit } = yield* makeIngest()
      yield* start("a")
      const seen = yield* Effect.forkChild(Effect.map(submit("b"), groups), { startImmediately: true })
      yield* start("c")
      yield* start("d")
      yield* commits[0]!.succeed
      yield* start("e")
      assert.deepStrictEqual(groups(), ["a", "b c d"])
      yield* commits[1]!.succeed
      assert.deepStrictEqual(yield* Fiber.join(seen), ["a", "b c d", "e"])
    }),
  )

  it.effect("have those that call again at once, when few are told", () =>
    Effect.gen(function* () {
      const { commits, groups, start, submit } = yield* makeIngest()
      const again = ["a", "b"].map((key) => Effect.andThen(submit(key), submit(`${key}2`)))
      yield* Effect.forkChild(again[0]!, { startImmediately: true })
      yield* Effect.forkChild(again[1]!, { startImmediately: true })
      yield* start("c")
      yield* commits[0]!.succeed
      yield* settle
      assert.deepStrictEqual(groups(), ["a", "b c a2"])
    }),
  )

  it.effect("of a few callers that call again and again have all of them", () =>
    Effect.gen(function* () {
      const { groups, submitAll } = yield* makeAnswering((records) => Effect.succeed(recorded(records)))
      const caller = (name: string) =>
        Effect.forEach(["1", "2", "3", "4"], (turn) => submitAll(`${name}${turn}`))
      yield* Effect.forEach(["a", "b", "c", "d"], caller, { concurrency: "unbounded" })
      assert.deepStrictEqual(groups, ["a1", "b1 c1 d1 a2", "b2 c2 d2 a3", "b3 c3 d3 a4", "b4 c4 d4"])
    }),
  )

  it.effect("of many callers are two that alternate, also after some callers have stopped", () =>
    Effect.gen(function* () {
      const { groups, submitAll } = yield* makeAnswering((records) => Effect.succeed(recorded(records)))
      const caller = (index: number) =>
        Effect.forEach(
          Array.from({ length: index < 32 ? 4 : 8 }, (_, turn) => `${index}-${turn}`),
          (key) => submitAll(key),
        )
      yield* Effect.forEach(
        Array.from({ length: 64 }, (_, index) => index),
        caller,
        { concurrency: "unbounded" },
      )
      const sizes = groups.map((keys) => keys.split(" ").length)
      assert.isAtMost(Math.max(...sizes), 32)
      assert.isAtMost(Math.max(...sizes.slice(-6)), 16)
    }),
  )

  it.effect("answer all callers, also when code of one of them throws", () =>
    Effect.gen(function* () {
      const thrown = yield* uncaughtErrors
      const { commits, groups, start, submit } = yield* makeIngest()
      yield* start("a")
      const context = yield* Effect.context<never>()
      Effect.runCallbackWith(context)(submit("b"), {
        onExit: () => {
          throw new Error("of the host")
        },
      })
      const other = yield* start("c")
      yield* commits[0]!.succeed
      yield* commits[1]!.succeed
      assert.strictEqual(yield* Fiber.join(other), "Recorded c")
      yield* start("d")
      assert.deepStrictEqual(groups(), ["a", "b c", "d"])
      assert.deepStrictEqual(thrown, ["of the host"])
    }),
  )

  it.effect("need no time to pass", () =>
    Effect.gen(function* () {
      const { groups, submitAll } = yield* makeAnswering((records) => Effect.succeed(recorded(records)))
      const exits = yield* submitAll("a b c")
      assert.isTrue(exits.every((exit) => Exit.isSuccess(exit)))
      assert.deepStrictEqual(groups, ["a", "b c"])
    }),
  )

  it.effect("have at most 1,000 records", () =>
    Effect.gen(function* () {
      const { commits, start } = yield* makeIngest()
      for (let i = 0; i <= 2_500; i++) yield* start(`k${i}`)
      for (let i = 0; i < 4; i++) yield* commits[i]!.succeed
      assert.deepStrictEqual(
        commits.map(({ keys }) => keys.length),
        [1, 1_000, 1_000, 500],
      )
      assert.deepStrictEqual(
        commits.flatMap(({ keys }) => keys),
        Array.from({ length: 2_501 }, (_, i) => `k${i}`),
      )
    }),
  )

  it.effect(
    "are two of the same size when callers come again, so that one is written while the other is answered",
    () =>
      Effect.gen(function* () {
        const { commits, submit } = yield* makeIngest()
        // All but the first wait for its commit: left to themselves they would stay a group of 63 and one of 1.
        for (let i = 0; i < 64; i++) {
          yield* Effect.forkChild(Effect.repeat(submit(`k${i}`), { times: 9 }), { startImmediately: true })
        }
        for (let i = 0; i < 6; i++) yield* commits[i]!.succeed
        assert.deepStrictEqual(
          commits.map(({ keys }) => keys.length),
          [1, 32, 32, 32, 32, 32, 32],
        )
      }),
  )

  it.effect("are not halved when they are small", () =>
    Effect.gen(function* () {
      const { commits, start } = yield* makeIngest()
      for (let i = 0; i <= 16; i++) yield* start(`k${i}`)
      yield* commits[0]!.succeed
      assert.deepStrictEqual(
        commits.map(({ keys }) => keys.length),
        [1, 16],
      )
    }),
  )

  it.effect("give each caller its own outcome", () =>
    Effect.gen(function* () {
      const { commits, start } = yield* makeIngest()
      yield* start("first")
      const fibers = yield* Effect.forEach(["b", "c", "d", "e"], (key) => start(key))
      yield* commits[0]!.succeed
      const [b] = recorded([record("b")])
      yield* commits[1]!.answer([
        b!,
        { _tag: "Duplicate", record: record("c") },
        { _tag: "KeyConflict", recordId: record("d").id },
        { _tag: "CustomerNotFound" },
      ])
      assert.deepStrictEqual(yield* Effect.forEach(fibers, (fiber) => Fiber.join(fiber)), [
        "Recorded b",
        "Duplicate",
        "KeyConflict",
        "CustomerNotFound",
      ])
    }),
  )

  it.effect("never mix tenants, and a tenant's commit doesn't hold up another's", () =>
    Effect.gen(function* () {
      const { commits, start } = yield* makeIngest()
      yield* start("a1", acme)
      const others = [yield* start("t1", acmeTest), yield* start("g1", globex)]
      yield* start("a2", acme)
      yield* start("t2", acmeTest)
      yield* start("a3", acme)
      assert.deepStrictEqual(
        commits.map(({ keys, tenant }) => `${tenant} ${keys.join(" ")}`),
        ["live:acme a1", "test:acme t1", "live:globex g1"],
      )
      yield* commits[1]!.succeed
      yield* commits[2]!.succeed
      assert.deepStrictEqual(yield* Effect.forEach(others, (fiber) => Fiber.join(fiber)), [
        "Recorded t1",
        "Recorded g1",
      ])
      yield* commits[0]!.succeed
      assert.deepStrictEqual(
        commits.slice(3).map(({ keys, tenant }) => `${tenant} ${keys.join(" ")}`),
        ["test:acme t2", "live:acme a2 a3"],
      )
    }),
  )

  it.effect("are written one at a time for a tenant, and as many at a time as allowed for all", () =>
    Effect.gen(function* () {
      for (const [options, allowed] of [
        [{}, 4],
        [{ maxConcurrentCommits: 2 }, 2],
      ] as const) {
        const { commits, start } = yield* makeIngest(options)
        for (let i = 0; i < 6; i++) {
          const tenant: Tenant.Tenant = { accountId: Tenant.AccountId.make(`account-${i}`), mode: "live" }
          yield* start(`first-${i}`, tenant)
          yield* start(`second-${i}`, tenant)
        }
        yield* settle
        assert.lengthOf(commits, allowed)
        for (let i = 0; i < 12; i++) {
          yield* commits[i]!.succeed
          assert.lengthOf(commits, Math.min(12, allowed + i + 1))
        }
      }
    }),
  )
})

describe("a group that fails", () => {
  it.effect("is tried record by record, so that one bad record fails alone", () =>
    Effect.gen(function* () {
      const bad = unavailable(false)
      const { groups, submitAll } = yield* makeAnswering((records) =>
        records.some(({ idempotencyKey }) => idempotencyKey === "bad")
          ? Effect.fail(bad)
          : Effect.succeed(recorded(records)),
      )
      const exits = yield* submitAll("a b bad c")
      assert.deepStrictEqual(groups, ["a", "b bad c", "b", "bad", "c"])
      assert.deepStrictEqual(
        exits.map((exit) => (Exit.isSuccess(exit) ? exit.value._tag : Cause.squash(exit.cause))),
        ["Recorded", "Recorded", bad, "Recorded"],
      )
    }),
  )

  it.effect("is tried record by record when it dies, too, and the queue goes on", () =>
    Effect.gen(function* () {
      const { groups, submitAll } = yield* makeAnswering((records) =>
        records.some(({ idempotencyKey }) => idempotencyKey === "bad")
          ? Effect.die("bug")
          : Effect.succeed(recorded(records)),
      )
      const exits = yield* submitAll("bad b bad c")
      assert.deepStrictEqual(groups, ["bad", "b bad c", "b", "bad", "c"])
      assert.deepStrictEqual(
        exits.map((exit) => (Exit.isSuccess(exit) ? exit.value._tag : Cause.squash(exit.cause))),
        ["bug", "Recorded", "bug", "Recorded"],
      )
      assert.isTrue((yield* submitAll("d e")).every((exit) => Exit.isSuccess(exit)))
    }),
  )

  for (const down of [
    unavailable(true),
    new StorageError({ operation: "UsageStore.append", retryable: false, isOutcomeUnknown: true }),
  ]) {
    const kind = down.retryable ? "may pass later" : "leaves the outcome unknown"
    it.effect(`is not tried record by record when the failure ${kind}, and who waits is told at once`, () =>
      Effect.gen(function* () {
        const { commits, groups, start } = yield* makeIngest()
        const a = yield* start("a")
        const b = yield* start("b")
        const c = yield* start("c")
        yield* commits[0]!.succeed
        const d = yield* start("d")
        yield* commits[1]!.fail(Cause.fail(down))
        assert.deepStrictEqual(groups(), ["a", "b c"])
        assert.strictEqual(yield* Fiber.join(a), "Recorded a")
        assert.strictEqual(yield* Effect.flip(Fiber.join(b)), down)
        assert.strictEqual(yield* Effect.flip(Fiber.join(c)), down)
        const refusal = yield* Effect.flip(Fiber.join(d))
        assert.deepStrictEqual(
          [refusal._tag, refusal.operation, refusal.retryable],
          ["StorageError", "UsageIngest.submit", true],
        )
        const e = yield* start("e")
        yield* commits[2]!.succeed
        assert.strictEqual(yield* Fiber.join(e), "Recorded e")
      }),
    )
  }

  it.effect("of one record is not tried again", () =>
    Effect.gen(function* () {
      const { groups, submitAll } = yield* makeAnswering(() => Effect.fail(unavailable(false)))
      yield* submitAll("a")
      assert.deepStrictEqual(groups, ["a"])
    }),
  )

  it.effect("leaves the next group untouched", () =>
    Effect.gen(function* () {
      const { commits, start } = yield* makeIngest()
      const a = yield* start("a")
      const b = yield* start("b")
      yield* commits[0]!.fail(Cause.fail(unavailable(false)))
      assert.instanceOf(yield* Effect.flip(Fiber.join(a)), StorageError)
      yield* commits[1]!.succeed
      assert.strictEqual(yield* Fiber.join(b), "Recorded b")
    }),
  )
})

describe("interrupting a caller", () => {
  it.effect("that waits withdraws its record", () =>
    Effect.gen(function* () {
      const { commits, groups, start } = yield* makeIngest()
      yield* start("a")
      const b = yield* start("b")
      const c = yield* start("c")
      yield* Fiber.interrupt(b)
      yield* commits[0]!.succeed
      assert.deepStrictEqual(groups(), ["a", "c"])
      yield* commits[1]!.succeed
      assert.strictEqual(yield* Fiber.join(c), "Recorded c")
    }),
  )

  it.effect("that waits alone leaves nothing to write", () =>
    Effect.gen(function* () {
      const { commits, groups, start } = yield* makeIngest()
      yield* start("a")
      const fibers = yield* Effect.forEach(["b", "c"], (key) => start(key))
      yield* Fiber.interruptAll(fibers)
      yield* commits[0]!.succeed
      assert.deepStrictEqual(groups(), ["a"])
      yield* start("d")
      assert.deepStrictEqual(groups(), ["a", "d"])
    }),
  )

  it.effect("whose record is being written ends the caller at once, and not the write", () =>
    Effect.gen(function* () {
      const { commits, groups, start } = yield* makeIngest()
      const a = yield* start("a")
      const rest = yield* Effect.forEach(["b", "c"], (key) => start(key))
      yield* Fiber.interrupt(a)
      yield* settle
      assert.deepStrictEqual(groups(), ["a"])
      yield* commits[0]!.succeed
      assert.deepStrictEqual(groups(), ["a", "b c"])
      yield* Fiber.interrupt(rest[0]!)
      yield* commits[1]!.succeed
      assert.strictEqual(yield* Fiber.join(rest[1]!), "Recorded c")
    }),
  )
})

describe("a full queue", () => {
  it.effect("makes callers wait for a place, and no longer than they may", () =>
    Effect.gen(function* () {
      const { commits, groups, start } = yield* makeIngest({ maxPending: 2 })
      yield* start("a")
      yield* start("b")
      const c = yield* start("c")
      yield* TestClock.adjust(4_999)
      assert.isUndefined(c.pollUnsafe())
      yield* TestClock.adjust(1)
      const error = yield* Effect.flip(Fiber.join(c))
      assert.instanceOf(error, StorageError)
      assert.deepStrictEqual(
        [error.operation, error.retryable, String(error.cause)],
        ["UsageIngest.submit", true, "Error: the usage queue is full"],
      )
      yield* commits[0]!.succeed
      yield* commits[1]!.succeed
      assert.deepStrictEqual(groups(), ["a", "b"])
    }),
  )

  it.effect("waits as long as the options say", () =>
    Effect.gen(function* () {
      const { start } = yield* makeIngest({ maxPending: 1, maxWaitMillis: 20 })
      yield* start("a")
      const b = yield* start("b")
      yield* TestClock.adjust(19)
      assert.isUndefined(b.pollUnsafe())
      yield* TestClock.adjust(1)
      assert.isDefined(b.pollUnsafe())
    }),
  )

  it.effect("counts the records of all tenants", () =>
    Effect.gen(function* () {
      const { commits, start } = yield* makeIngest({ maxPending: 2 })
      yield* start("a", acme)
      yield* start("g", globex)
      yield* start("t", acmeTest)
      yield* settle
      assert.lengthOf(commits, 2)
    }),
  )

  it.effect("gives a place that becomes free to who waits", () =>
    Effect.gen(function* () {
      const { commits, groups, start } = yield* makeIngest({ maxPending: 1 })
      yield* start("a")
      const b = yield* start("b")
      const c = yield* start("c")
      yield* TestClock.adjust(3_000)
      yield* commits[0]!.succeed
      assert.deepStrictEqual(groups(), ["a", "b"])
      // A place came too late for c, which waited since the start.
      yield* TestClock.adjust(2_000)
      assert.instanceOf(yield* Effect.flip(Fiber.join(c)), StorageError)
      yield* commits[1]!.succeed
      assert.strictEqual(yield* Fiber.join(b), "Recorded b")
    }),
  )

  it.effect("gets a place back from a caller that is interrupted", () =>
    Effect.gen(function* () {
      const { commits, groups, start } = yield* makeIngest({ maxPending: 2 })
      yield* start("a")
      const b = yield* start("b")
      const c = yield* start("c")
      const d = yield* start("d")
      yield* Fiber.interrupt(c) // waits for a place
      yield* Fiber.interrupt(b) // has one
      yield* settle
      yield* commits[0]!.succeed
      assert.deepStrictEqual(groups(), ["a", "d"])
      yield* commits[1]!.succeed
      assert.strictEqual(yield* Fiber.join(d), "Recorded d")
    }),
  )

  it.effect("has its 10,000 places by default", () =>
    Effect.gen(function* () {
      const { commits, start } = yield* makeIngest()
      for (let i = 0; i < 10_000; i++) yield* start(`k${i}`)
      const last = yield* start("last")
      yield* TestClock.adjust(5_000)
      assert.isDefined(last.pollUnsafe())
      assert.lengthOf(commits, 1)
    }),
  )

  it.effect("gets a place back from a caller that is interrupted at any step", () =>
    Effect.gen(function* () {
      for (const isFull of [false, true]) {
        // A fiber that yields after every few operations can be interrupted between any two.
        for (let ops = 4; ops <= 8; ops++) {
          for (let yields = 0; yields <= 24; yields++) {
            const { commits, start, submit } = yield* makeIngest({ maxPending: 1 })
            if (isFull) yield* start("first")
            const slow = Effect.provideService(submit("slow"), Scheduler.MaxOpsBeforeYield, ops)
            const fiber = yield* Effect.forkChild(slow, { startImmediately: true })
            if (isFull) {
              yield* settle
              // The place that the caller waits for becomes free; nobody waits here for what that sets off.
              yield* Effect.forkChild(commits[0]!.succeed, { startImmediately: true })
            }
            yield* Effect.repeat(Effect.yieldNow, { times: yields })
            yield* Fiber.interrupt(fiber)
            for (const commit of commits) yield* commit.succeed
            const before = commits.length
            yield* start("last")
            yield* settle
            assert.strictEqual(commits.length, before + 1, `a place was lost: ${isFull} ${ops} ${yields}`)
          }
        }
      }
    }),
  )

  /** What happens to an ingest of three places, in any order. */
  const happening = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ what: fc.constant("submit" as const), tenant: fc.constantFrom(acme, globex) }),
    },
    {
      weight: 3,
      arbitrary: fc.record({ what: fc.constant("interrupt" as const), which: fc.nat({ max: 9 }) }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        what: fc.constant("end" as const),
        how: fc.constantFrom("succeed", "fail", "fail later", "die"),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ what: fc.constant("wait" as const), millis: fc.constantFrom(1, 99, 100) }),
    },
    { weight: 1, arbitrary: fc.record({ what: fc.constant("yield" as const) }) },
  )

  it.effect("never loses a place, whatever happens in whatever order", () =>
    holdsEffect(
      fc.record({
        happenings: fc.array(happening, { minLength: 5, maxLength: 40 }),
        ops: fc.integer({ min: 4, max: 60 }),
      }),
      Effect.fnUntraced(function* ({ happenings, ops }) {
        const { commits, start, submit } = yield* makeIngest({ maxPending: 3, maxWaitMillis: 100 })
        const fibers: Array<Fiber.Fiber<string, StorageError>> = []
        let ended = 0
        const end = (how: string): Effect.Effect<void> => {
          const commit = commits[ended]
          if (commit === undefined) return Effect.void
          ended++
          if (how === "succeed") return commit.succeed
          return commit.fail(how === "die" ? Cause.die("bug") : Cause.fail(unavailable(how === "fail later")))
        }
        for (const [index, happening] of happenings.entries()) {
          // Fibers that yield after every few steps can be interrupted between any two.
          if (happening.what === "submit") {
            const running = Effect.provideService(
              submit(`k${index}`, happening.tenant),
              Scheduler.MaxOpsBeforeYield,
              ops,
            )
            fibers.push(yield* Effect.forkChild(running, { startImmediately: true }))
          } else if (happening.what === "interrupt") {
            const fiber = fibers[happening.which]
            if (fiber !== undefined)
              yield* Effect.forkChild(Fiber.interrupt(fiber), { startImmediately: true })
          } else if (happening.what === "end") yield* end(happening.how)
          else if (happening.what === "wait") yield* TestClock.adjust(happening.millis)
          else yield* Effect.yieldNow
        }
        const isAnswered = () => fibers.every((fiber) => fiber.pollUnsafe() !== undefined)
        for (let round = 0; round < 100 && !isAnswered(); round++) {
          yield* settle
          yield* end("succeed")
        }
        assert.isTrue(isAnswered(), "a caller was never answered")
        // All is at rest: there are three places again, and no fourth.
        const before = commits.length
        const four = yield* Effect.forEach([1, 2, 3, 4], (i) =>
          start(`last-${i}`, { accountId: Tenant.AccountId.make(`last-${i}`), mode: "live" }),
        )
        yield* settle
        assert.strictEqual(commits.length - before, 3, "places")
        yield* Fiber.interruptAll(four)
      }),
      80,
    ),
  )
})

describe("closing", () => {
  it.effect("writes what was accepted and refuses what comes after", () =>
    Effect.gen(function* () {
      const { close, commits, groups, start } = yield* makeIngest()
      const fibers = yield* Effect.forEach(["a", "b", "c"], (key) => start(key))
      const closing = yield* Effect.forkChild(close, { startImmediately: true })
      yield* settle
      assert.isUndefined(closing.pollUnsafe())
      const late = yield* Effect.flip(Fiber.join(yield* start("late")))
      assert.deepStrictEqual(
        [late.operation, late.retryable, String(late.cause)],
        ["UsageIngest.submit", true, "Error: the usage queue is closed"],
      )
      yield* commits[0]!.succeed
      yield* commits[1]!.succeed
      assert.deepStrictEqual(groups(), ["a", "b c"])
      yield* Fiber.join(closing)
      assert.deepStrictEqual(yield* Effect.forEach(fibers, (fiber) => Fiber.join(fiber)), [
        "Recorded a",
        "Recorded b",
        "Recorded c",
      ])
      assert.instanceOf(yield* Effect.flip(Fiber.join(yield* start("later"))), StorageError)
    }),
  )

  it.effect("refuses callers that waited for a place, even when they get one", () =>
    Effect.gen(function* () {
      const { close, commits, groups, start } = yield* makeIngest({ maxPending: 1 })
      const a = yield* start("a")
      const b = yield* start("b")
      const closing = yield* Effect.forkChild(close, { startImmediately: true })
      yield* settle
      yield* commits[0]!.succeed
      yield* Fiber.join(closing)
      yield* TestClock.adjust(5_000)
      assert.strictEqual(yield* Fiber.join(a), "Recorded a")
      assert.deepStrictEqual(groups(), ["a"])
      assert.isDefined(b.pollUnsafe())
      assert.include(String((yield* Effect.flip(Fiber.join(b))).cause), "closed")
    }),
  )

  it.effect("refuses at once also when the queue is full", () =>
    Effect.gen(function* () {
      const { close, start } = yield* makeIngest({ maxPending: 1 })
      yield* start("a")
      yield* Effect.forkChild(close, { startImmediately: true })
      yield* settle
      const b = yield* start("b")
      assert.isDefined(b.pollUnsafe())
    }),
  )

  it.effect("waits 5 seconds for a storage that doesn't answer, and leaves no caller without an answer", () =>
    Effect.gen(function* () {
      const { close, commits, start } = yield* makeIngest({ maxConcurrentCommits: 1 })
      const written = yield* start("a")
      const waiting = yield* start("b")
      const withoutPermit = yield* start("c", globex)
      const closing = yield* Effect.forkChild(close, { startImmediately: true })
      yield* TestClock.adjust(4_999)
      assert.isUndefined(closing.pollUnsafe())
      yield* TestClock.adjust(1)
      yield* Fiber.join(closing)
      const [a, b, c] = yield* Effect.forEach([written, waiting, withoutPermit], (fiber) =>
        Effect.flip(Fiber.join(fiber)),
      )
      // It may have been written, or not.
      assert.deepStrictEqual([a?.retryable, a?.isOutcomeUnknown], [false, true])
      assert.deepStrictEqual([b?.retryable, b?.isOutcomeUnknown], [true, undefined])
      assert.strictEqual(c?._tag, "StorageError")
      assert.lengthOf(commits, 1)
    }),
  )

  it.effect("needs no time when nothing is under way", () =>
    Effect.gen(function* () {
      const { close } = yield* makeIngest()
      yield* close
    }),
  )
})

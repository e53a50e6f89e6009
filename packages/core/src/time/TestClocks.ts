/**
 * The use cases of test clocks.
 */
import { Cause, Context, DateTime, Effect, Exit, Layer, Option, Schema } from "effect"
import { customers } from "../customers/Customer.ts"
import {
  CreateTestClock,
  ListTestClocks,
  MAX_TEST_CLOCKS,
  TEST_CLOCK_ID_PREFIX,
  type TestClock,
  TestClockHasCustomers,
  TestClockId,
  type TestClockNotFound,
  TestClocksAreForTests,
  testClocks,
  TooManyTestClocks,
} from "../customers/TestClock.ts"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import { makeCollector } from "../payments/Collector.ts"
import * as ById from "../shared/ById.ts"
import { Collections } from "../shared/Collections.ts"
import { IdGenerator } from "../shared/Id.ts"
import { decoder, InvalidInput } from "../shared/InvalidInput.ts"
import { filterOf, nameCursor, type Page, toQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import * as WallClock from "../shared/WallClock.ts"
import { failureOf } from "./BillingRuns.ts"
import { DueStore, type FirstDue } from "./DueStore.ts"
import * as DueWork from "./DueWork.ts"

/** Most subjects that one call of `advance` works on. */
const MAX_SUBJECTS_OF_CALL = 100

/** The input of `TestClocks.advance`. */
export const AdvanceTestClock = Schema.Struct({
  /** Not before the time of the clock, nor before the instant that it already advances to. */
  to: Schema.DateTimeUtc,
})
export interface AdvanceTestClock extends Schema.Schema.Type<typeof AdvanceTestClock> {}

const decodeCreate = decoder(CreateTestClock)
const decodeList = decoder(ListTestClocks)
const decodeAdvance = decoder(AdvanceTestClock)
const { knownId, orNotFound } = ById.of(testClocks)

type Failure = TestClockNotFound | StorageError

/** Creates, reads, lists, advances and deletes the test clocks of the current tenant, which must be in test mode. */
export class TestClocks extends Context.Service<
  TestClocks,
  {
    /** Fails with `TestClocksAreForTests` in live mode. An account can have 1,000 test clocks. */
    readonly create: (
      input: CreateTestClock,
    ) => Effect.Effect<
      TestClock,
      InvalidInput | TestClocksAreForTests | TooManyTestClocks | StorageError,
      CurrentTenant
    >

    readonly get: (id: string) => Effect.Effect<TestClock, Failure, CurrentTenant>

    /** Newest first. */
    readonly list: (
      query?: ListTestClocks,
    ) => Effect.Effect<Page<TestClock>, InvalidInput | StorageError, CurrentTenant>

    /**
     * Moves a clock towards an instant, and does what is due for its customers on the way, each thing at its instant and in
     * a transaction of its own. One call works on at most 100 subjects. Repeat it with the same instant until the status is
     * `ready`. What is done stays done, also when the process dies meanwhile. Several callers share the work.
     *
     * What fails is tried again later by the clock, and set aside after 10 failures; the rest goes on.
     */
    readonly advance: (
      id: string,
      input: AdvanceTestClock,
    ) => Effect.Effect<TestClock, InvalidInput | InvoicingUnsupported | Failure, CurrentTenant>

    /**
     * Refused while the clock has customers: erase them first. Drafts that they have left are due in real time then, so that
     * billing runs issue them.
     */
    readonly delete: (id: string) => Effect.Effect<void, TestClockHasCustomers | Failure, CurrentTenant>
  }
>()("@billwright/core/time/TestClocks") {
  static readonly layer = Layer.effect(
    TestClocks,
    Effect.gen(function* () {
      const collections = yield* Collections
      const store = collections.of(testClocks)
      const owners = collections.of(customers)
      const duePort = yield* optionalPort(DueStore)
      const work = yield* DueWork.make
      const collectPayment = yield* makeCollector
      const transactor = yield* Transactor
      const ids = yield* IdGenerator

      const create = Effect.fn("TestClocks.create")(function* (input: CreateTestClock) {
        const { mode } = yield* CurrentTenant
        if (mode === "live") return yield* new TestClocksAreForTests()
        const fields = yield* decodeCreate(input)
        const createdAt = yield* DateTime.now
        const clock: TestClock = {
          name: null,
          now: createdAt,
          ...fields,
          id: TestClockId.make(yield* ids.next(TEST_CLOCK_ID_PREFIX)),
          status: "ready",
          advancingTo: null,
          createdAt,
        }
        const { data } = yield* store
          .list({}, { limit: MAX_TEST_CLOCKS, cursor: undefined })
          .pipe(Effect.catchTag("CursorNotFound", Effect.die))
        if (data.length >= MAX_TEST_CLOCKS) return yield* new TooManyTestClocks()
        yield* store.insert(clock)
        return clock
      })

      const get = Effect.fn("TestClocks.get")(function* (id: string) {
        return yield* orNotFound(yield* store.find(yield* knownId(id)), id)
      })

      const list = Effect.fn("TestClocks.list")(function* (query: ListTestClocks = {}) {
        const request = yield* decodeList(query)
        return yield* store.list(filterOf(request), yield* toQuery(request)).pipe(nameCursor(request))
      })

      /** On a storage without a queue nothing is due. */
      const putIntoRealTime = Effect.fnUntraced(
        function* (id: TestClockId) {
          yield* (yield* duePort).endClock(id, yield* DateTime.now)
        },
        Effect.catchTag("InvoicingUnsupported", () => Effect.void),
      )

      const remove = Effect.fn("TestClocks.delete")(function* (id: string) {
        const known = yield* knownId(id)
        yield* transactor.atomically(
          Effect.gen(function* () {
            yield* orNotFound(yield* store.modify(known, Effect.succeed), id)
            const { data } = yield* owners
              .list({ testClockId: known }, { limit: 1, cursor: undefined })
              .pipe(Effect.catchTag("CursorNotFound", Effect.die))
            if (data.length > 0) return yield* new TestClockHasCustomers({ id })
            yield* putIntoRealTime(known)
            yield* store.remove(known)
          }),
        )
      })

      /** Takes the instant to advance to. */
      const begin = (to: DateTime.Utc) => (clock: TestClock) => {
        const least = clock.advancingTo ?? clock.now
        if (DateTime.isGreaterThanOrEqualTo(to, least)) {
          return Effect.succeed({ ...clock, status: "advancing" as const, advancingTo: to })
        }
        const problem = `must not be before ${DateTime.formatIso(least)}, where the clock ${clock.advancingTo === null ? "stands" : "advances to"}`
        return Effect.fail(new InvalidInput({ field: "to", problem }))
      }

      /** Notes a failure, at the time of the clock. Others go on. */
      const fail = Effect.fnUntraced(function* (
        id: TestClockId,
        first: FirstDue,
        cause: Cause.Cause<unknown>,
      ) {
        const due = yield* duePort
        yield* transactor.atomically(
          Effect.gen(function* () {
            const clock = yield* orNotFound(yield* store.modify(id, (found) => movedTo(found, first.at)), id)
            yield* due.fail(first, failureOf(first.attempts + 1, cause, clock.now))
          }),
        )
        yield* Effect.logError(
          `billing a ${first.subject.kind} failed on a test clock`,
          first.subject.id,
          cause,
        )
      })

      /** The clock, held until the transaction ends so that one thing happens after another, and what is due first. */
      const look = Effect.fnUntraced(function* (id: TestClockId) {
        const due = yield* duePort
        const clock = yield* orNotFound(yield* store.modify(id, Effect.succeed), id)
        const first = Option.getOrUndefined(yield* due.firstDue(id))
        const to = clock.advancingTo
        const isLeft = to !== null && first !== undefined && first.at <= to.epochMilliseconds
        return { clock, to, first: isLeft ? first : undefined }
      })

      /** Ends the advance if nothing is left to do. Otherwise gives what is due first. */
      const nextOf = Effect.fnUntraced(function* (id: TestClockId) {
        const { clock, first, to } = yield* look(id)
        if (to === null || first !== undefined) return first
        const ended: TestClock = { ...clock, now: to, status: "ready", advancingTo: null }
        yield* store.modify(id, () => Effect.succeed(ended))
        return undefined
      })

      /** Does what is due first. Gives false if nothing is left to do. */
      const step = Effect.fnUntraced(function* (id: TestClockId) {
        const next = yield* transactor.atomically(nextOf(id))
        if (next === undefined) return false
        const atItsInstant = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
          transactor.atomically(
            Effect.gen(function* () {
              const { first } = yield* look(id)
              // Somebody else has done it, or something else is due first by now.
              if (first?.subject.id !== next.subject.id || first.at !== next.at) return
              const moved = yield* orNotFound(
                yield* store.modify(id, (found) => movedTo(found, first.at)),
                id,
              )
              yield* WallClock.standingAt(moved.now, effect)
            }),
          )
        const { subject } = next
        const exit = yield* Effect.exit(
          subject.kind === "payment"
            ? collectPayment(subject.id, Effect.succeed(true), atItsInstant)
            : work.run(subject, next.at, heldAfter(next.attempts), atItsInstant),
        )
        if (Exit.isSuccess(exit)) return true
        if (Cause.hasInterrupts(exit.cause)) return yield* Effect.interrupt
        yield* fail(id, next, exit.cause)
        return true
      })

      const advance = Effect.fn("TestClocks.advance")(function* (id: string, input: AdvanceTestClock) {
        const { to } = yield* decodeAdvance(input)
        yield* duePort
        const known = yield* knownId(id)
        yield* orNotFound(yield* store.modify(known, begin(to)), id)
        for (let subjects = 0; subjects < MAX_SUBJECTS_OF_CALL; subjects++) if (!(yield* step(known))) break
        return yield* get(id)
      })

      return TestClocks.of({ create, get, list, advance, delete: remove })
    }),
  )
}

/** The transaction holds the clock, and so all of its subjects. */
const heldAfter = (attempts: number): DueWork.Hold => ({
  attempts,
  holds: Effect.succeed(true),
  giveBack: Effect.void,
})

/** A clock never goes back. */
const movedTo = (clock: TestClock, millis: number) =>
  Effect.succeed({ ...clock, now: DateTime.makeUnsafe(Math.max(clock.now.epochMilliseconds, millis)) })

/**
 * The use cases of test clocks.
 */
import { Context, DateTime, Effect, Layer, Schema } from "effect"
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
import * as ById from "../shared/ById.ts"
import { Collections } from "../shared/Collections.ts"
import { IdGenerator } from "../shared/Id.ts"
import { decoder, type InvalidInput } from "../shared/InvalidInput.ts"
import { filterOf, nameCursor, type Page, toQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import * as ClockAdvance from "./ClockAdvance.ts"
import { DueStore } from "./DueStore.ts"

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
     * `ready`. What is done stays done, also when the process dies meanwhile. Several callers share the work. When nobody has
     * called for a minute, billing runs finish it.
     *
     * What fails is tried again later by the clock; the rest goes on. A subscription or an invoice is set aside after 10 failures
     * in a row.
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
      const clockAdvance = yield* ClockAdvance.make
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
          const due = yield* duePort
          yield* due.endClock(id, yield* DateTime.now)
          yield* due.schedule({ kind: "test_clock", id }, null)
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

      const advance = Effect.fn("TestClocks.advance")(function* (id: string, input: AdvanceTestClock) {
        const { to } = yield* decodeAdvance(input)
        const known = yield* knownId(id)
        yield* clockAdvance.begin(known, to)
        yield* clockAdvance.work(known)
        return yield* get(id)
      })

      return TestClocks.of({ create, get, list, advance, delete: remove })
    }),
  )
}

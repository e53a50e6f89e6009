/**
 * A test clock: the time of customers in test mode, which moves when it is told to.
 */
import { Schema } from "effect"
import * as Field from "../shared/Field.ts"
import * as Id from "../shared/Id.ts"
import * as Resource from "../shared/Resource.ts"
import * as Text from "../shared/Text.ts"
import * as TooMany from "../shared/TooMany.ts"

/** The prefix of ids of test clocks. */
export const TEST_CLOCK_ID_PREFIX = "clk"
/** The longest name, in code points. */
export const MAX_TEST_CLOCK_NAME_LENGTH = 256
/** The most test clocks of an account. */
export const MAX_TEST_CLOCKS = 1_000

export const TestClockId = Id.schema(TEST_CLOCK_ID_PREFIX).pipe(Schema.brand("TestClockId"))
export type TestClockId = typeof TestClockId.Type

export const TestClockStatus = Schema.Literals(["ready", "advancing"])
export type TestClockStatus = typeof TestClockStatus.Type

const given = {
  name: Field.textOrNull(Text.bounded(1, MAX_TEST_CLOCK_NAME_LENGTH), "A name for people, or `null`."),
  now: Field.instant("The time of its customers."),
}

/** The definition of the resource; see `Resource`. */
export const testClocks = Resource.make({
  type: "TestClock",
  noun: "test clock",
  title: "Test clocks",
  description:
    "The time of some customers in test mode. It stands still until it is advanced. What becomes due on the way is then done, each thing at its instant.",
  about: "Years of subscriptions and invoices in seconds, in test mode.",
  path: "/test_clocks",
  scope: "subscriptions",
  id: TestClockId,
  prefix: TEST_CLOCK_ID_PREFIX,
  fields: {
    ...given,
    status: Field.text(
      TestClockStatus,
      "`advancing` while things that are due before `advancing_to` are left to do, otherwise `ready`.",
    ),
    advancingTo: Field.instantOrNull("The instant that it advances to, or `null`."),
  },
  times: { createdAt: Field.instant("When the test clock was created, in real time.") },
  create: {
    name: Field.optional(given.name),
    now: Field.optional(Field.instant("The time at which it stands at first. Default: now.")),
  },
  filters: { status: Field.optional(Field.text(TestClockStatus, "Only test clocks with this status.")) },
  indexed: ["status"],
  operations: {
    create:
      "Creates a test clock. Only in test mode. Attach customers to it when you create them, by `test_clock_id`. Their subscriptions and invoices go by it, and nothing of them happens unless you advance it.",
    remove: {
      verb: "Delete",
      past: "deleted",
      description:
        "Refused while it has customers: erase them first. Drafts that they have left are then issued in real time.",
    },
  },
  example: {
    id: "clk_01kb2r9d3vffx9qd6k4v2n1h7c",
    name: "Three years of Pro",
    now: "2026-12-01T00:00:00.000Z",
    status: "ready",
    advancing_to: null,
    created_at: "2026-11-21T09:32:00.000Z",
  },
})

/** A test clock. */
export const TestClock = testClocks.Value
export interface TestClock extends Schema.Schema.Type<typeof TestClock> {}

export const CreateTestClock = testClocks.Create
export interface CreateTestClock extends Schema.Schema.Type<typeof CreateTestClock> {}

/** Which test clocks to list. */
export const ListTestClocks = testClocks.List
export interface ListTestClocks extends Schema.Schema.Type<typeof ListTestClocks> {}

/** The tenant has no test clock with this id. */
export const TestClockNotFound = testClocks.NotFound
export type TestClockNotFound = InstanceType<typeof TestClockNotFound>

/** The account has as many test clocks as it may have. */
export class TooManyTestClocks extends TooMany.make("TooManyTestClocks", MAX_TEST_CLOCKS, "test clocks") {}

/** Test clocks are for test mode, and this is live mode. Nothing was stored. */
export class TestClocksAreForTests extends Schema.TaggedError<TestClocksAreForTests>()(
  "TestClocksAreForTests",
  {},
  { httpApiStatus: 409 },
) {
  override get message(): string {
    return "test clocks are for test mode: in live mode time is real"
  }
}

/** The test clock can't be deleted while it has customers. Nothing has changed. */
export class TestClockHasCustomers extends Schema.TaggedError<TestClockHasCustomers>()(
  "TestClockHasCustomers",
  { id: Schema.String },
  { httpApiStatus: 409 },
) {
  override get message(): string {
    return `the test clock ${this.id} has customers: erase them first`
  }
}

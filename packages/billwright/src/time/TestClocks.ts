/**
 * Test clocks: the time of some customers in test mode.
 */
import type { CallOptions, Instant } from "../Call.ts"
import type { Listing, PageQuery } from "../Listing.ts"

/** `advancing` while something that is due before `advancingTo` is left to do. */
export type TestClockStatus = "ready" | "advancing"

/** The time of its customers. It stands still until it is advanced. */
export interface TestClock {
  /** `clk_…` */
  readonly id: string
  readonly name: string | null
  readonly now: Date
  readonly status: TestClockStatus
  readonly advancingTo: Date | null
  /** In real time. */
  readonly createdAt: Date
}

/** A new test clock. */
export interface CreateTestClock {
  /** 1 to 256 characters. */
  readonly name?: string | null | undefined
  /** The time at which it stands at first. Default: now. */
  readonly now?: Instant | undefined
}

/** Selects test clocks, newest first. */
export interface ListTestClocks extends PageQuery {
  readonly status?: TestClockStatus | undefined
}

/** Options of `advance`. */
export interface AdvanceOptions extends CallOptions {
  /** Called after each step with the clock. Its `now` says how far it is. */
  readonly onProgress?: ((clock: TestClock) => void) | undefined
}

/**
 * Only in test mode. Errors: `InvalidInputError`, `TestClockNotFoundError`, `ConflictError`
 * (`test_clocks_are_for_tests` in live mode, `test_clock_has_customers`), `LimitReachedError` (1,000 for an account).
 */
export interface TestClocks {
  /** Attach customers to it when you create them, by `testClockId`. */
  create(input: CreateTestClock, options?: CallOptions): Promise<TestClock>
  get(id: string, options?: CallOptions): Promise<TestClock>
  /**
   * Refused while the clock has customers: erase them first. Drafts that they have left are then issued in real time.
   */
  delete(id: string, options?: CallOptions): Promise<void>
  list(query?: ListTestClocks, options?: CallOptions): Listing<TestClock>
  /**
   * Moves the clock to an instant, and does what becomes due for its customers on the way, each thing at its instant. There
   * is no limit on how far. It works in steps of at most 100 subscriptions and invoices; what is done stays done, and after
   * a crash the same call goes on.
   *
   * ```ts
   * await billing.test.testClocks.advance(clock.id, "2029-01-01T00:00:00Z")
   * ```
   */
  advance(id: string, to: Instant, options?: AdvanceOptions): Promise<TestClock>
}

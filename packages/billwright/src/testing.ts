/**
 * Billing for the tests of your app: the clock moves only when you move it, and webhooks go to receivers in the
 * same process.
 */
import type { Billing } from "./Billing.ts"
import type { BillingOptions, DispatcherOptions } from "./BillingOptions.ts"
import type { Instant } from "./Call.ts"
import { ConfigurationError } from "./errors/RuntimeError.ts"
import type { EventDefinition } from "./events/EventDefinition.ts"
import type { BuiltInEvents, EventsOf } from "./events/EventMap.ts"
import { memory } from "./memory.ts"
import * as BillingOptionRules from "./runtime/BillingOptionRules.ts"
import { start } from "./runtime/Engine.ts"
import { makeBilling } from "./runtime/Handle.ts"
import type { Store } from "./Store.ts"
import { FixedClock } from "./testing/FixedClock.ts"
import { makeTesting } from "./testing/MakeTesting.ts"
import type { Testing } from "./testing/Testing.ts"
import { TestReceivers } from "./testing/TestReceivers.ts"

export type { TestDuration, TestEndpoint, Testing } from "./testing/Testing.ts"
export type { ReceivedWebhook, TestAnswer, TestReceiver } from "./testing/TestReceiver.ts"

/** The time at the start of a test: noon on a Thursday in the middle of a month. */
const NOW = "2026-01-15T12:00:00Z"

/** The options of `createTestBilling`: those of `createBilling`, and the time. */
export interface TestBillingOptions<
  Definitions extends ReadonlyArray<EventDefinition> = ReadonlyArray<EventDefinition>,
> extends Omit<BillingOptions<Definitions>, "dispatcher" | "network" | "store"> {
  /** Default: an empty `memory()`. */
  readonly store?: Store
  /** The time at the start. Default 2026-01-15T12:00:00Z. */
  readonly now?: Instant
  /**
   * How webhooks are sent. They go to `testing.receiver(url)`, when `testing.advance`, `testing.deliveries` or
   * `deliverDue` is called.
   */
  readonly dispatcher?: DispatcherOptions
}

/** The result of `createTestBilling`: a `Billing` with `testing`. */
export interface TestBilling<Map = BuiltInEvents> extends Billing<Map> {
  readonly testing: Testing<keyof Map & string>
}

const toMillis = (now: Instant): number => {
  const millis = now instanceof Date ? now.getTime() : Date.parse(now)
  if (Number.isFinite(millis)) return millis
  throw new ConfigurationError("now must be a Date or an instant such as 2026-11-21T09:30:00Z")
}

/**
 * Starts billing for a test. It works like `createBilling`, except for the clock and the network. By default it is
 * in test mode, stores in memory and logs nothing.
 *
 * ```ts
 * const billing = await createTestBilling()
 * const { receiver } = await billing.testing.endpoint({ eventTypes: ["invoice.paid"] })
 * receiver.answer(500, 204)
 * await myApp(billing).payInvoice("in_1")
 * await billing.testing.advance({ minutes: 1 })
 * const [delivery] = await billing.testing.deliveries() // Delivered, by the second attempt
 * ```
 */
export const createTestBilling = async <const Definitions extends ReadonlyArray<EventDefinition> = []>(
  options: TestBillingOptions<Definitions> = {},
): Promise<TestBilling<EventsOf<Definitions>>> => {
  BillingOptionRules.checkOfTest(options)
  const { now = NOW, store = memory(), ...rest } = options
  const clock = new FixedClock(toMillis(now))
  const receivers = new TestReceivers(() => new Date(clock.millis))
  const engine = await start(
    { mode: "test", log: false, ...rest, store },
    { clock: clock.layer, transport: receivers.layer },
  )
  const billing = makeBilling(engine, options.http ?? {})
  const testing = makeTesting(engine, billing, clock, receivers)
  const test: object = Object.defineProperty(billing, "testing", { value: testing, enumerable: true })
  return test as TestBilling<EventsOf<Definitions>>
}

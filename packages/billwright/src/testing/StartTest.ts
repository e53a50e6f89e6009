import { FixedClock } from "@billwright/core"
/**
 * Starts a test billing.
 */
import type { BillingOptions } from "../BillingOptions.ts"
import type { Instant } from "../Call.ts"
import { ConfigurationError } from "../errors/RuntimeError.ts"
import type { EventMap } from "../events/EventMap.ts"
import { start } from "../runtime/Engine.ts"
import { makeBilling } from "../runtime/Handle.ts"
import { makeTesting } from "./MakeTesting.ts"
import type { TestBilling, TestBillingOptions } from "./TestBilling.ts"
import { TestReceivers } from "./TestReceivers.ts"

/** The time at the start of a test: noon on a Thursday in the middle of a month. */
const NOW = "2026-01-15T12:00:00Z"

const toMillis = (now: Instant): number => {
  const millis = now instanceof Date ? now.getTime() : Date.parse(now)
  if (Number.isFinite(millis)) return millis
  throw new ConfigurationError("now must be a Date or an instant such as 2026-11-21T09:30:00Z")
}

/** The caller has checked the names of the options. */
export const startTest = async (
  options: TestBillingOptions & Pick<BillingOptions, "store">,
): Promise<TestBilling<EventMap>> => {
  const { now = NOW, ...rest } = options
  const clock = new FixedClock(toMillis(now))
  const receivers = new TestReceivers(() => new Date(clock.millis))
  const engine = await start(
    { mode: "test", log: false, ...rest },
    { clock: clock.layer, transport: receivers.layer },
  )
  const billing = makeBilling(engine, options)
  const testing = makeTesting(engine, billing, clock, receivers)
  const test: object = Object.defineProperty(billing, "testing", { value: testing, enumerable: true })
  return test as TestBilling<EventMap>
}

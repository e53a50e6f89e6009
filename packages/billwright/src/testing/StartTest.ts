import {
  type CustomerSnapshot,
  FixedClock,
  forkProvider,
  InvalidInput,
  providerOf,
  readSnapshot,
  restoreSnapshot,
} from "@billwright/core"
/**
 * Starts a test billing.
 */
import type { BillingOptions } from "../BillingOptions.ts"
import type { Instant } from "../Call.ts"
import { ConfigurationError } from "../errors/RuntimeError.ts"
import type { EventMap } from "../events/EventMap.ts"
import { toPromises } from "../payments/PromisedProvider.ts"
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

const read = (text: string): CustomerSnapshot => {
  try {
    return readSnapshot(text)
  } catch (cause) {
    if (!(cause instanceof InvalidInput)) throw cause
    throw new ConfigurationError(cause.message, { cause })
  }
}

/** The account and the mode of a snapshot, and a provider in the place of its own. */
const optionsOf = (snapshot: CustomerSnapshot): Partial<BillingOptions> => {
  const { accountId, mode } = snapshot.tenant
  const provider = providerOf(snapshot)
  return {
    accountId,
    mode,
    ...(provider === undefined ? {} : { payments: toPromises(forkProvider(snapshot, provider)) }),
  }
}

/** The caller has checked the names of the options. */
export const startTest = async (
  options: TestBillingOptions & Pick<BillingOptions, "store">,
): Promise<TestBilling<EventMap>> => {
  const { now, snapshot: text, ...rest } = options
  const snapshot = text === undefined ? undefined : read(text)
  const clock = new FixedClock(
    now === undefined && snapshot !== undefined ? snapshot.at : toMillis(now ?? NOW),
  )
  const receivers = new TestReceivers(() => new Date(clock.millis))
  const engine = await start(
    { mode: "test", log: false, ...(snapshot && optionsOf(snapshot)), ...rest },
    { clock: clock.layer, transport: receivers.layer },
  )
  if (snapshot !== undefined) await engine.calls.runAsIs(() => restoreSnapshot(snapshot), undefined)
  const billing = makeBilling(engine, options)
  const testing = makeTesting(engine, billing, clock, receivers)
  const test: object = Object.defineProperty(billing, "testing", { value: testing, enumerable: true })
  return test as TestBilling<EventMap>
}

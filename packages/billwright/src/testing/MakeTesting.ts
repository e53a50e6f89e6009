/**
 * Implements `testing` of a test billing.
 */
import { DeliveryStore } from "@billwright/core"
import { DateTime, Option } from "effect"
import type { BillingCalls } from "../Billing.ts"
import { InvalidInputError } from "../errors/BillingError.ts"
import type { EventMap } from "../events/EventMap.ts"
import type { Engine } from "../runtime/Engine.ts"
import type { DeliveryWithAttempts } from "../webhooks/Deliveries.ts"
import type { FixedClock } from "./FixedClock.ts"
import type { TestDuration, Testing } from "./Testing.ts"
import type { TestReceivers } from "./TestReceivers.ts"

type Account = Pick<BillingCalls<EventMap>, "customers" | "deliveries" | "endpoints">

const MILLIS_OF_UNITS: Readonly<Record<keyof TestDuration, number>> = {
  days: 86_400_000,
  hours: 3_600_000,
  minutes: 60_000,
  seconds: 1_000,
  milliseconds: 1,
}

const DURATION = `{ ${Object.keys(MILLIS_OF_UNITS).join(", ")} }`

/** Throws an `InvalidInputError` when the duration is malformed or negative. */
const millisOf = (duration: TestDuration): number => {
  if (typeof duration !== "object" || duration === null) {
    throw new InvalidInputError(
      "duration",
      `must be an object such as { minutes: 1 }, with the units ${DURATION}`,
    )
  }
  const unknown = Object.keys(duration).find((unit) => !Object.hasOwn(MILLIS_OF_UNITS, unit))
  if (unknown !== undefined) {
    throw new InvalidInputError("duration", `has no unit "${unknown}": the units are ${DURATION}`)
  }
  const millis = Object.entries(MILLIS_OF_UNITS).reduce(
    (sum, [unit, each]) => sum + each * (duration[unit as keyof TestDuration] ?? 0),
    0,
  )
  if (Number.isSafeInteger(millis) && millis >= 0) return millis
  throw new InvalidInputError("duration", `must not be negative, and must be a whole number of milliseconds`)
}

export const makeTesting = (
  { calls, dispatcher }: Engine,
  account: Account,
  clock: FixedClock,
  receivers: TestReceivers,
): Testing => {
  let made = 0
  const deliverDue = () => calls.runAsIs(() => dispatcher!.runDue, undefined)
  const nextDueAt = () => calls.runAsIs(() => calls.service(DeliveryStore).nextDueAt, undefined)

  const advance = async (duration: TestDuration): Promise<void> => {
    const millis = millisOf(duration)
    const end = clock.millis + millis
    for (;;) {
      await deliverDue()
      const next = Option.getOrUndefined(await nextDueAt())
      // A delivery that is still due belongs to another process on the same database.
      if (next === undefined || next.epochMilliseconds > end || next.epochMilliseconds <= clock.millis) break
      clock.moveTo(next.epochMilliseconds)
    }
    clock.moveTo(end)
    await deliverDue()
  }

  const deliveries: Testing["deliveries"] = async (of = account) => {
    await deliverDue()
    const all: Array<Promise<DeliveryWithAttempts>> = []
    for await (const { id } of of.deliveries.list()) all.push(of.deliveries.get(id))
    return (await Promise.all(all)).reverse()
  }

  return {
    get now() {
      return DateTime.toDateUtc(DateTime.makeUnsafe(clock.millis))
    },
    advance,
    deliveries,
    receiver: (url) => receivers.at(url),
    customer: (fields) =>
      account.customers.create({ name: "Ada Lovelace", email: `ada-${++made}@example.com`, ...fields }),
    endpoint: async (fields) => {
      const url = `https://receiver-${++made}.example.com/`
      const endpoint = await account.endpoints.create({
        url,
        eventTypes: ["*"],
        ...fields,
      })
      return { endpoint, receiver: receivers.at(endpoint.url) }
    },
  }
}

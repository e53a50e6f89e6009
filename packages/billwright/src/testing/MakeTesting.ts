import type { FixedClock } from "@billwright/core"
/**
 * Implements `testing` of a test billing.
 */
import { DateTime } from "effect"
import type { BillingCalls } from "../Billing.ts"
import type { EventMap } from "../events/EventMap.ts"
import type { Engine } from "../runtime/Engine.ts"
import type { DeliveryWithAttempts } from "../webhooks/Deliveries.ts"
import type { Testing } from "./Testing.ts"
import type { TestReceivers } from "./TestReceivers.ts"
import { after, makeAdvance, target } from "./TimeTravel.ts"

type Account = Pick<BillingCalls<EventMap>, "customers" | "deliveries" | "endpoints">

export const makeTesting = (
  engine: Engine,
  account: Account,
  clock: FixedClock,
  receivers: TestReceivers,
): Testing => {
  const { calls, dispatcher } = engine
  let made = 0
  const deliverDue = () => calls.runAsIs(() => dispatcher!.runDue, undefined)
  const advanceTo = makeAdvance(engine, clock)

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
    advance: async (duration) => advanceTo(after(clock.millis, duration)),
    advanceTo: async (instant) => advanceTo(target(clock.millis, instant)),
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

/**
 * How a host of prepaid credits begins: with plans and a rate card, and a customer with subscriptions and an automatic
 * top-up, or without.
 */
import {
  AutoTopUps,
  CreditAlerts,
  Customer,
  Customers,
  Meters,
  Plans,
  RateCards,
  Subscriptions,
} from "@billwright/core"
import { Effect } from "effect"
import type { Choice } from "../world/Choice.ts"
import type { PrepaidHost } from "./PrepaidHost.ts"
import { CALLS, KEYS, METERED_KEYS, PLANS } from "./PrepaidPlans.ts"
import { CARDS } from "./TokenCommands.ts"

/** Makes a customer of a name, and gives its host. */
export const beginHost = (choice: Choice, name: string) => {
  const plan = choice.chance(0.85) ? choice.pick(KEYS) : undefined
  const maxPerDay = choice.chance(0.8) ? choice.int(1, 3) : undefined
  const metered = choice.chance(0.7) ? choice.pick(METERED_KEYS) : undefined
  // Invoices that nobody is charged for stay open, and can be voided.
  const collectionMethod = choice.chance(0.5) ? "send_invoice" : "charge_automatically"
  return Effect.gen(function* () {
    const ada = { name, email: "ada@example.com", collectionMethod } as const
    const { id: customerId } = yield* (yield* Customers).create(ada)
    const account = { customerId, unit: "token" }
    yield* (yield* CreditAlerts).create({ ...account, level: 25n })
    yield* (yield* Meters).create(CALLS)
    yield* (yield* Plans).push({ plans: PLANS })
    yield* (yield* RateCards).push({ rateCards: CARDS.slice(0, 1) })
    const { create } = yield* Subscriptions
    if (metered !== undefined) {
      yield* create({ customerId, plan: metered, metadata: { beside: "another" } })
    }
    if (plan !== undefined) yield* create({ customerId, plan })
    if (maxPerDay !== undefined) {
      const pack = { ...account, amount: 30n, currency: "EUR", price: 500n }
      yield* (yield* AutoTopUps).create({ ...pack, level: 20n, maxPerDay })
    }
    const host: PrepaidHost = {
      customerId: Customer.CustomerId.make(customerId),
      recorded: new Map(),
      holds: [],
      records: [],
    }
    return host
  })
}

/**
 * The events of entitlements.
 */
import { Schema } from "effect"
import { CustomerId } from "../customers/Customer.ts"
import * as EventType from "../events/EventType.ts"
import { WireInstant } from "../events/HostEvents.ts"
import { WireInteger } from "../events/WireInteger.ts"
import { SubscriptionId } from "../invoices/SubscriptionId.ts"
import { LimitType } from "./Entitlement.ts"

const Data = Schema.Struct({
  customer_id: CustomerId,
  subscription_id: SubscriptionId,
  feature: Schema.String,
  meter: Schema.String,
  limit_type: LimitType,
  /** What the period includes, and what was used of it, in whole units of the meter. */
  limit: WireInteger,
  used: WireInteger,
  period_start: WireInstant,
  resets_at: WireInstant,
})

/** The types of events of entitlements. */
export const entitlementEvents = {
  "entitlement.limit_reached": EventType.make({
    name: "entitlement.limit_reached",
    description: "A customer used all that a plan includes of a feature in a period, or was refused more.",
    data: Data,
    example: {
      customer_id: "cus_01kahd3kc8e0fsr8zknzqgf2h1",
      subscription_id: "sub_01kahd3kc8e0fsr8zknzqgf2h2",
      feature: "exports",
      meter: "exports",
      limit_type: "hard",
      limit: 50,
      used: 50,
      period_start: "2026-11-01T00:00:00.000Z",
      resets_at: "2026-12-01T00:00:00.000Z",
    },
  }),
}

export type LimitReachedData = (typeof Data)["Encoded"]

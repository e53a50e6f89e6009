/** Two plans: 5 requests a day and then no more, or 1,000 a day and then a cent each. */
import { type Billing, definePlan } from "billwright"

const METER = "requests"

export const free = definePlan("free", {
  name: "Free",
  currencies: ["EUR"],
  interval: { unit: "day", count: 1 },
  meters: [METER],
  charges: [],
  features: { requests: { type: "metered", meter: METER, included: "5", limit: "hard" } },
})

export const pro = definePlan("pro", {
  name: "Pro",
  currencies: ["EUR"],
  interval: { unit: "day", count: 1 },
  meters: [METER],
  charges: [
    { key: "base", model: "flat", price: { EUR: "1.00" } },
    { key: "more", model: "unit", meter: METER, free: "1000", price: { EUR: "0.01" } },
  ],
  features: { requests: { type: "metered", meter: METER, included: "1000", limit: "soft" } },
})

/** Stores the meter and the plans. Doing it again changes nothing. */
export const setUp = async (billing: Billing): Promise<void> => {
  await billing.meters.create({ key: METER, productId: "api", unit: "request" })
  await billing.plans.push([free, pro])
}

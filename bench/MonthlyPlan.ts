/**
 * The plan of the benchmarks of billing: a monthly fee in advance, and calls in graduated tiers.
 */
import type { PlanDefinition } from "@billwright/engine"

export const pro: PlanDefinition = {
  key: "pro",
  name: "Pro",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [
    { key: "base", model: "flat", price: { EUR: "20.00" } },
    {
      key: "calls",
      model: "graduated",
      meter: "calls",
      free: "100",
      tiers: [
        { up_to: "1000", price: { EUR: "0.01" } },
        { up_to: "5000", price: { EUR: "0.005" } },
        { price: { EUR: "0.002" } },
      ],
    },
  ],
}

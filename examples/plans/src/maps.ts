/**
 * An API product: calls in graduated tiers, traffic by the gigabyte, and a minimum for both together.
 */
import { definePlan } from "billwright"

export const mapsGrowth = definePlan("maps_growth", {
  name: "Maps API",
  description: "Pay for what you call.",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  meters: ["calls", "traffic_bytes"],
  charges: [
    {
      key: "calls",
      name: "API calls",
      model: "graduated",
      meter: "calls",
      tiers: [
        { up_to: "10000" },
        { up_to: "1000000", price: { EUR: "0.0004" } },
        { price: { EUR: "0.0002" } },
      ],
    },
    {
      key: "traffic",
      name: "Traffic, in started gigabytes",
      model: "unit",
      meter: "traffic_bytes",
      convert: { divide_by: "1000000000", round: "up" },
      price: { EUR: "0.09" },
    },
  ],
  minimum: { EUR: "25.00" },
})

/**
 * A classic SaaS product: seats for a year in advance, cheaper for larger teams, and a fee for support.
 */
import { definePlan } from "billwright"

export const deskYearly = definePlan("desk_yearly", {
  name: "Desk, yearly",
  currencies: ["EUR", "USD"],
  interval: { unit: "year", count: 1 },
  trial: { days: 30 },
  quantities: ["seats"],
  charges: [
    {
      key: "seats",
      name: "Seats",
      model: "volume",
      timing: "advance",
      quantity: "seats",
      tiers: [
        { up_to: "10", price: { EUR: "96.00", USD: "102.00" } },
        { up_to: "50", price: { EUR: "84.00", USD: "90.00" } },
        { price: { EUR: "72.00", USD: "78.00" } },
      ],
    },
    { key: "support", name: "Support", model: "flat", price: { EUR: "240.00", USD: "250.00" } },
  ],
  features: { sso: { type: "boolean" }, audit_log: { type: "boolean" } },
  policy: { proration: "day" },
})

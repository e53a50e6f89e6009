/**
 * An AI product: seats, tokens by model, images in packs, and credits every month.
 */
import { definePlan } from "billwright"

/** Tokens are metered one by one and priced by the million. */
const PER_MILLION = { divide_by: "1000000" } as const

export const assistantTeam = definePlan("assistant_team", {
  name: "Assistant for teams",
  currencies: ["EUR", "USD"],
  interval: { unit: "month", count: 1 },
  trial: { days: 14 },
  meters: ["tokens", "images"],
  quantities: ["seats"],
  charges: [
    {
      key: "seats",
      name: "Seats",
      model: "unit",
      timing: "advance",
      quantity: "seats",
      price: { EUR: "30.00", USD: "32.00" },
    },
    {
      key: "tokens_small",
      name: "Tokens of the small model, in millions",
      model: "unit",
      meter: "tokens",
      where: { model: ["small"] },
      convert: PER_MILLION,
      free: "10",
      price: { EUR: "0.50", USD: "0.55" },
    },
    {
      key: "tokens_large",
      name: "Tokens of the large model, in millions",
      model: "unit",
      meter: "tokens",
      where: { model: ["large"] },
      convert: PER_MILLION,
      price: { EUR: "8.00", USD: "8.50" },
    },
    {
      key: "images",
      name: "Images, in packs of 100",
      model: "package",
      meter: "images",
      size: "100",
      price: { EUR: "4.00", USD: "4.25" },
    },
  ],
  features: {
    sso: { type: "boolean" },
    history_days: { type: "config", value: "365" },
    images: { type: "metered", meter: "images", included: "500", limit: "soft" },
  },
  grants: [
    {
      unit: "credits",
      amount: "1000",
      rollover: { maximum: "2000", expires_after: { unit: "month", count: 3 } },
    },
  ],
})

/** The plan that the page shows. Its charges have the form of plan files, so the same data can be billed. */
import type { Charge } from "billwright/rating"

export const currency = "EUR"

export const base: Charge = { key: "base", name: "Base fee", model: "flat", price: { EUR: "20.00" } }

export const seats: Charge = {
  key: "seats",
  name: "Seats",
  model: "unit",
  quantity: "seats",
  price: { EUR: "5.00" },
}

export const calls: Charge = {
  key: "calls",
  name: "API calls",
  model: "graduated",
  meter: "api_calls",
  free: "10000",
  tiers: [
    { up_to: "100000", price: { EUR: "0.001" } },
    { up_to: "1000000", price: { EUR: "0.0008" } },
    { price: { EUR: "0.0005" } },
  ],
}

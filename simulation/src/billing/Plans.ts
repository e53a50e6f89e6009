/**
 * The plans that customers of the simulation subscribe to.
 */
import type { PlanDefinition } from "@billwright/engine"

/** The meters of the plans. */
export const CALLS = { key: "calls", productId: "api", unit: "call" }
export const STORAGE = { key: "storage", productId: "disk", unit: "gb" }

const tiers = (first: string, rest: string) => [
  { up_to: "1000", price: { EUR: first, USD: first } },
  { price: { EUR: rest, USD: rest } },
]
const both = (price: string) => ({ EUR: price, USD: price })

/** The plans in a version: each version has other prices. */
export const plansOf = (version: number): ReadonlyArray<PlanDefinition> => [
  {
    key: "pro",
    name: "Pro",
    currencies: ["EUR", "USD"],
    interval: { unit: "month", count: 1 },
    charges: [
      { key: "base", model: "flat", price: both(`${19 + version}.99`) },
      {
        key: "calls",
        model: "graduated",
        meter: "calls",
        free: "100",
        tiers: tiers("0.013", `0.00${version}`),
      },
    ],
  },
  {
    key: "team",
    name: "Team",
    currencies: ["EUR", "USD"],
    interval: { unit: "month", count: 1 },
    charges: [
      { key: "seats", model: "unit", quantity: "seats", price: both(`${7 + version}.00`) },
      { key: "calls", model: "package", meter: "calls", size: "50", price: both("0.99") },
      { key: "support", model: "flat", timing: "arrears", price: both("3.33") },
    ],
    minimum: both("11.00"),
    policy: { proration: "time", usage_on_change: "restart", grace_hours: 6 },
  },
  {
    key: "weekly",
    name: "Weekly",
    currencies: ["EUR", "USD"],
    interval: { unit: "week", count: 2 },
    trial: { days: 5 },
    charges: [
      { key: "calls", model: "volume", meter: "calls", tiers: tiers("0.02", `0.01${version}`) },
      { key: "storage", model: "unit", meter: "storage", price: both("0.10"), maximum: both("25.00") },
    ],
    policy: { grace_hours: 0 },
  },
  {
    key: "yen",
    name: "Yen",
    currencies: ["JPY"],
    interval: { unit: "month", count: 1 },
    charges: [
      { key: "base", model: "flat", price: { JPY: `${900 + version}` } },
      { key: "storage", model: "unit", meter: "storage", price: { JPY: "12.5" } },
    ],
    policy: { proration: "none" },
  },
]

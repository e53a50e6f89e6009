/** What the shop sells. */
import { definePlan } from "billwright"

const monthly = { currencies: ["EUR"], interval: { unit: "month", count: 1 } } as const

export interface Offer {
  readonly key: string
  readonly name: string
  readonly about: string
  /** A month, in cents. */
  readonly cents: number
}

export const OFFERS: ReadonlyArray<Offer> = [
  { key: "reader", name: "Reader", about: "Every article, without advertisements.", cents: 500 },
  { key: "writer", name: "Writer", about: "Everything of Reader, and a page of your own.", cents: 1_200 },
  { key: "press", name: "Press", about: "For newsrooms: up to 20 people.", cents: 4_900 },
]

/** The same for billing. */
export const PLANS = OFFERS.map(({ cents, key, name }) =>
  definePlan(key, {
    name,
    ...monthly,
    charges: [{ key: "base", name, model: "flat", price: { EUR: (cents / 100).toFixed(2) } }],
  }),
)

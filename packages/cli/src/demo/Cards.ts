/**
 * The payment provider of the demo: it takes no money, and its cards do what the stories of the customers say.
 */
import { type Customer, FakeProvider, type FixedClock, PaymentMethods } from "@billwright/core"
import { Effect } from "effect"
import type { Story } from "./Company.ts"

const DAY_MILLIS = 86_400_000
/** How long ago the card of the story `card_expired` stopped working, in days. */
const EXPIRED_DAYS = 62
/** Of so many attempts with the card of the story `often_short_of_money`, one is declined. */
const DECLINED_EVERY = 3

interface Card {
  readonly story: Story
  attempts: number
}

const BRANDS = ["visa", "mastercard", "amex"] as const

/** Makes the provider. `endMillis` is the end of the year that is told. */
export const makeCards = (clock: FixedClock, endMillis: number) => {
  const cards = new Map<string, Card>()
  const declined = (code: string) => ({ status: "declined" as const, code, advice: null, notBefore: null })

  const provider = new FakeProvider({
    hasMethods: true,
    outcomeOf: ({ method }) => {
      const card = method === null ? undefined : cards.get(method)
      if (card === undefined) return undefined
      card.attempts++
      if (card.story === "card_expired" && clock.millis > endMillis - EXPIRED_DAYS * DAY_MILLIS) {
        return declined("expired_card")
      }
      return card.story === "often_short_of_money" && card.attempts % DECLINED_EVERY === 0
        ? declined("insufficient_funds")
        : undefined
    },
  })

  return {
    provider,
    /** Saves a card of a customer, which becomes its default. */
    save: Effect.fnUntraced(function* (customerId: Customer.CustomerId, story: Story) {
      const methods = yield* PaymentMethods
      const { id } = yield* methods.create({ customerId })
      const { paymentMethod } = yield* methods.startSetup(id)
      const place = cards.size
      const expiry = new Date(clock.millis + (2 + (place % 4)) * 365 * DAY_MILLIS)
      const saved = provider.methods!.save(paymentMethod.setupReference ?? "", {
        brand: BRANDS[place % BRANDS.length]!,
        last4: String(1_000 + ((place * 7_919) % 9_000)),
        expiry: { month: 1 + (place % 12), year: expiry.getUTCFullYear() },
      })
      cards.set(saved, { story, attempts: 0 })
      yield* methods.refresh(id)
    }, Effect.orDie),
  }
}

/**
 * Examples of the overview of money for the document.
 */
import type { Example } from "./Example.ts"

const none = { count: 0, amount: 0 } as const

export const moneyExamples = {
  getMoneyOverview: {
    response: {
      object: "money_overview",
      at: "2026-11-21T09:31:00.000Z",
      since: "2026-10-22T09:31:00.000Z",
      currencies: [
        {
          currency: "EUR",
          recurring: { count: 21, amount: 83_900 },
          invoiced: { count: 24, amount: 91_250 },
          collected: { count: 20, amount: 80_100 },
          outstanding: { count: 3, amount: 9_150 },
          not_due: { count: 2, amount: 7_000 },
          late_thirty: { count: 1, amount: 2_150 },
          late_sixty: none,
          late_more: none,
          to_retry: { count: 1, amount: 2_150 },
        },
      ],
      is_complete: true,
      livemode: false,
    },
  },
} satisfies Readonly<Record<string, Example>>

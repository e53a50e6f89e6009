/**
 * What Stripe and the networks advise after a decline.
 */
import type { PaymentRead } from "@billwright/core"

type Declined = Extract<PaymentRead, { readonly status: "declined" }>
type Advice = Declined["advice"]

const HOUR_MILLIS = 3_600_000
const DAY_MILLIS = 24 * HOUR_MILLIS

/** What a decline says. */
export interface DeclineCodes {
  readonly code: string | null
  readonly declineCode: string | null
  readonly adviceCode: string | null
  readonly networkAdviceCode: string | null
}

/** The merchant advice codes of Mastercard that say how long to wait. */
const NETWORK_DELAYS: Readonly<Record<string, number>> = {
  "24": HOUR_MILLIS,
  "25": DAY_MILLIS,
  "26": 2 * DAY_MILLIS,
  "27": 4 * DAY_MILLIS,
  "28": 6 * DAY_MILLIS,
  "29": 8 * DAY_MILLIS,
  "30": 10 * DAY_MILLIS,
}

/** The others, as far as they advise something. */
const NETWORK_ADVICE: Readonly<Record<string, Advice>> = {
  "01": "new_method",
  "02": "retry",
  "03": "new_method",
  "21": "stop",
  "40": "new_method",
  "41": "new_method",
}

const STRIPE_ADVICE: Readonly<Record<string, Advice>> = {
  confirm_card_data: "new_method",
  do_not_try_again: "new_method",
  try_again_later: "retry",
}

/** What to do: the network's word comes first, then Stripe's. `at`: when it was declined, in epoch milliseconds. */
export const adviceOf = (
  { adviceCode, networkAdviceCode }: DeclineCodes,
  at: number,
): Pick<Declined, "advice" | "notBefore"> => {
  const delay = NETWORK_DELAYS[networkAdviceCode ?? ""]
  if (delay !== undefined) return { advice: "retry", notBefore: at + delay }
  const advice = NETWORK_ADVICE[networkAdviceCode ?? ""] ?? STRIPE_ADVICE[adviceCode ?? ""] ?? null
  return { advice, notBefore: null }
}

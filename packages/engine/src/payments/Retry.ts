/**
 * When declined payments are attempted again, and when payments with an unknown outcome are read again.
 */
import * as LocalTime from "../subscriptions/LocalTime.ts"
import type { Decline, DeclineAdvice } from "./Collection.ts"

const MINUTE_MILLIS = 60_000
const HOUR_MILLIS = 60 * MINUTE_MILLIS

/** What is known of decline codes. A code that is not here is tried again. */
export const DECLINE_CODES: Readonly<Record<string, DeclineAdvice>> = {
  account_closed: "new_method",
  authentication_required: "confirm",
  bank_account_closed: "new_method",
  bank_account_invalid_details: "new_method",
  bank_account_restricted: "new_method",
  bank_account_unusable: "new_method",
  debit_not_authorized: "stop",
  expired_card: "new_method",
  incorrect_number: "new_method",
  invalid_account: "new_method",
  lost_card: "new_method",
  no_account: "new_method",
  no_method: "new_method",
  payment_intent_mandate_invalid: "new_method",
  payment_method_bank_account_blocked: "new_method",
  pickup_card: "new_method",
  restricted_card: "new_method",
  stolen_card: "new_method",
  revocation_of_all_authorizations: "stop",
  revocation_of_authorization: "stop",
  stop_payment_order: "stop",
}

/** Days after the first decline of a method at which it is attempted again. */
export const RETRY_DAYS: ReadonlyArray<number> = [1, 3, 5, 7]
/** The hour of the customer's day at which that happens. */
const RETRY_HOUR = 9
/** Networks allow so many declines of a method in so many days. */
export const MAX_DECLINES_OF_METHOD = 15
const DECLINE_WINDOW_DAYS = 30
/** Most declines that a collection remembers. It gives up at the last one. */
const MAX_DECLINES = 100

/** How long the answer to a sent attempt may take. After that its outcome is unknown. */
export const ANSWER_MILLIS = 90_000

/** When an attempt without an answer is read, each after the one before. After the last one a person has to look. */
export const UNRESOLVED_DELAYS: ReadonlyArray<number> = [
  90_000,
  5 * MINUTE_MILLIS,
  30 * MINUTE_MILLIS,
  2 * HOUR_MILLIS,
  12 * HOUR_MILLIS,
  ...Array.from({ length: 5 }, () => 24 * HOUR_MILLIS),
]

/** A payment that waits for a bank or for the customer is read once a day, so many times. */
export const WAITING_DELAYS: ReadonlyArray<number> = Array.from({ length: 30 }, () => 24 * HOUR_MILLIS)

/** When closing a payment that is not wanted any more is tried again, each after the one before: hourly, then daily. */
export const CLOSE_DELAYS: ReadonlyArray<number> = [
  ...Array.from({ length: 24 }, () => HOUR_MILLIS),
  ...Array.from({ length: 13 }, () => 24 * HOUR_MILLIS),
]

/** Providers may forget keys after a day. An attempt is not sent again so long after it was sent first. */
export const RESEND_MILLIS = 23 * HOUR_MILLIS

/** The instant of 09:00 of a customer's day, so many days after another instant. */
const morningAfter = (instant: number, days: number, timezone: string): number => {
  const midnight = LocalTime.startOfDay(LocalTime.ofInstant(instant, timezone))
  return LocalTime.toInstant(midnight + days * LocalTime.DAY_MILLIS + RETRY_HOUR * HOUR_MILLIS, timezone)
}

/** Whether networks allow no further attempt of a method now: it was declined too often. */
export const isDeclinedTooOften = (
  declines: ReadonlyArray<Decline>,
  method: string | null,
  at: number,
): boolean => {
  const from = at - DECLINE_WINDOW_DAYS * LocalTime.DAY_MILLIS
  const recent = declines.filter((one) => one.method === method && one.at > from)
  return recent.length >= MAX_DECLINES_OF_METHOD
}

/**
 * When a method is attempted again after its last decline, which is part of `declines`. `undefined`: it is not.
 *
 * The days count from the first decline of the method in the last 30 days. A day that has passed is left out.
 */
export const retryAt = (
  declines: ReadonlyArray<Decline>,
  { at, method }: Decline,
  notBefore: number | null,
  timezone: string,
): number | undefined => {
  const from = at - DECLINE_WINDOW_DAYS * LocalTime.DAY_MILLIS
  const recent = declines.filter((one) => one.method === method && one.at > from)
  const first = recent[0]
  if (first === undefined || recent.length >= MAX_DECLINES_OF_METHOD || declines.length >= MAX_DECLINES) {
    return undefined
  }
  const next = RETRY_DAYS.slice(recent.length - 1)
    .map((days) => morningAfter(first.at, days, timezone))
    .find((instant) => instant > at)
  return next === undefined ? undefined : Math.max(next, notBefore ?? next)
}

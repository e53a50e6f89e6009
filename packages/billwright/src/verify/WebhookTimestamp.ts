import { WebhookVerificationError } from "./WebhookVerificationError.ts"

/** How far a timestamp may be from now, either way, in seconds, as the libraries of Standard Webhooks have it. */
export const DEFAULT_TOLERANCE_SECONDS = 300

/** The last second that a `Date` can hold (ECMA-262, Time Values). */
const MAX_TIMESTAMP_SECONDS = 8.64e12

/** How old and how new a message may be. */
export interface WebhookTolerance {
  /** Seconds, in either direction; `DEFAULT_TOLERANCE_SECONDS` when left out. Whole seconds are compared. */
  readonly toleranceSeconds?: number | undefined
  /** For tests; the clock's time when left out. */
  readonly now?: Date | undefined
}

const parse = (text: string): number => {
  const seconds = /^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN
  if (!(seconds <= MAX_TIMESTAMP_SECONDS))
    throw new WebhookVerificationError(
      "invalid_timestamp",
      "The header webhook-timestamp must be whole seconds since 1970, digits only.",
    )
  return seconds
}

const invalidOption = (problem: string) => new WebhookVerificationError("invalid_option", problem)

/** A tolerance that is not a number would compare as if everything were recent. */
const readTolerance = ({
  now = new Date(),
  toleranceSeconds = DEFAULT_TOLERANCE_SECONDS,
}: WebhookTolerance) => {
  if (typeof toleranceSeconds !== "number" || !(toleranceSeconds >= 0))
    throw invalidOption("toleranceSeconds must be a number of seconds, 0 or more.")
  const nowSeconds = Math.floor(Number(now) / 1000)
  if (Number.isNaN(nowSeconds)) throw invalidOption("now must be a valid Date.")
  return { nowSeconds, toleranceSeconds }
}

/** Fails with `invalid_option`, `invalid_timestamp`, `timestamp_too_old` or `timestamp_too_new`. */
export const checkTimestamp = (text: string, tolerance: WebhookTolerance): Date => {
  const { nowSeconds, toleranceSeconds } = readTolerance(tolerance)
  const seconds = parse(text)
  const age = nowSeconds - seconds
  if (age > toleranceSeconds)
    throw new WebhookVerificationError(
      "timestamp_too_old",
      `The message was sent ${age} seconds ago; ${toleranceSeconds} are allowed.`,
    )
  if (-age > toleranceSeconds)
    throw new WebhookVerificationError(
      "timestamp_too_new",
      `The message is dated ${-age} seconds ahead; ${toleranceSeconds} are allowed. Is this machine's clock right?`,
    )
  return new Date(seconds * 1000)
}

import { WebhookVerificationError } from "./WebhookVerificationError.ts"

/**
 * How many seconds a timestamp may be in the past or the future. The libraries of Standard Webhooks use the same
 * value.
 */
export const DEFAULT_TOLERANCE_SECONDS = 300

/** The last second that a `Date` can hold (ECMA-262, Time Values). */
const MAX_TIMESTAMP_SECONDS = 8.64e12

/** How far a message's timestamp may be from now. */
export interface WebhookTolerance {
  /** Seconds into the past or the future. Default `DEFAULT_TOLERANCE_SECONDS`. Whole seconds are compared. */
  readonly toleranceSeconds?: number | undefined
  /** The current time, for tests. Default: that of the clock. */
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

/** Checks the options: with a tolerance that is not a number, every message would count as recent. */
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

/** Throws `invalid_option`, `invalid_timestamp`, `timestamp_too_old` or `timestamp_too_new`. */
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

/**
 * Payment methods that a provider saves: how they get there, and when they expire. Instants are in epoch milliseconds.
 */
import * as LocalTime from "../subscriptions/LocalTime.ts"

/** The last month in which a card is valid. */
export interface CardExpiry {
  /** 1 to 12. */
  readonly month: number
  readonly year: number
}

/** A payment method that a provider has saved for payments while the customer is not there. */
export interface SavedMethod {
  /** How the provider names it: 1 to 255 characters. It is no secret, and the same for the same method. */
  readonly reference: string
  /** Such as `card` or `sepa_debit`: 1 to 40 characters of a-z, 0-9 and `_`. */
  readonly type: string
  /** Such as `visa`: 1 to 40 characters. `null` if it has none. */
  readonly brand: string | null
  /** The last 4 characters of its number. `null` if it has none. */
  readonly last4: string | null
  /** `null` if it does not expire. */
  readonly expiry: CardExpiry | null
}

/** How the setup of a method stands. `pending`: the customer has not finished it. A `failed` one stays so. */
export type SetupRead =
  | { readonly status: "pending" }
  | { readonly status: "saved"; readonly method: SavedMethod }
  | {
      readonly status: "failed"
      /** The provider's code, such as `card_declined`. */
      readonly code: string
    }

const MINUTE_MILLIS = 60_000
const HOUR_MILLIS = 60 * MINUTE_MILLIS

/** How long after its creation a method that is not saved yet is read by itself. After the last time it has failed. */
export const SETUP_READS: ReadonlyArray<number> = [10 * MINUTE_MILLIS, HOUR_MILLIS, 24 * HOUR_MILLIS]

/** When a method that is not saved yet is read next. `null`: not any more. */
export const nextSetupRead = (createdAt: number, at: number): number | null =>
  SETUP_READS.map((delay) => createdAt + delay).find((instant) => instant > at) ?? null

/** The instant from which a card counts as expiring: the beginning of its last month, where the customer is. */
export const expiringFrom = ({ month, year }: CardExpiry, timezone: string): number => {
  const day = `${String(year).padStart(4, "0")}-${String(month).padStart(2, "0")}-01`
  return LocalTime.toInstant(LocalTime.parse(`${day}T00:00:00.000`) ?? 0, timezone)
}

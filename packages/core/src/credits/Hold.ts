/**
 * A hold: credits that are kept for work under way, until it is known how much of them it used.
 */
import { type CreditHold as EngineHold, holdAt } from "@billwright/engine"
import { type DateTime, Schema } from "effect"
import * as Id from "../shared/Id.ts"
import { ofMillis, ofMillisOrNull } from "../shared/Instant.ts"
import * as NotFound from "../shared/NotFound.ts"
import * as TooMany from "../shared/TooMany.ts"
import { AccountKey, accountFilter, CreditAmount, CreditKey, Purpose } from "./Credit.ts"

/** The prefix of the ids of holds. */
export const HOLD_ID_PREFIX = "hld"
/** Most open holds of an account. */
export const MAX_OPEN_HOLDS = 1_000
/** How long a hold lasts if nothing else is said: 15 minutes. */
export const DEFAULT_TTL_SECONDS = 900
/** The longest time of a hold: 7 days. */
export const MAX_TTL_SECONDS = 604_800

export const HoldId = Id.schema(HOLD_ID_PREFIX).pipe(Schema.brand("HoldId"))
export type HoldId = typeof HoldId.Type
export const HoldStatus = Schema.Literals(["open", "committed", "released", "lapsed"])
export const Overdraft = Schema.Literals(["debt", "refuse"])

const ttlMessage = { message: `must be an integer from 1 to ${MAX_TTL_SECONDS}` }
export const TtlSeconds = Schema.Int.annotate(ttlMessage).check(
  Schema.isBetween({ minimum: 1, maximum: MAX_TTL_SECONDS }, ttlMessage),
)

/** A hold as it is stored. */
export interface StoredHold extends Omit<EngineHold, "id">, AccountKey {
  readonly id: HoldId
  /** What the caller asked for when it was made. */
  readonly ttlSeconds: number
  readonly idempotencyKey: string | null
  readonly createdAt: number
}

/** A hold of credits. */
export interface Hold extends Omit<
  StoredHold,
  "createdAt" | "expiresAt" | "settledAt" | "slices" | "ttlSeconds"
> {
  readonly expiresAt: DateTime.Utc
  readonly settledAt: DateTime.Utc | null
  readonly createdAt: DateTime.Utc
}

/** A hold as callers see it at an instant. */
export const toHold = (stored: StoredHold, now: number): Hold => {
  const { amount, committed, createdAt, customerId, expiresAt, id, idempotencyKey, isLate, purpose, unit } =
    stored
  const { settledAt, status } = holdAt(stored, now)
  return {
    id,
    customerId,
    unit,
    amount,
    purpose,
    status,
    committed,
    isLate,
    idempotencyKey,
    expiresAt: ofMillis(expiresAt),
    settledAt: ofMillisOrNull(settledAt),
    createdAt: ofMillis(createdAt),
  }
}

/** The input of `Holds.reserve`. */
export const ReserveCredits = Schema.Struct({
  ...AccountKey.fields,
  amount: CreditAmount,
  /** What they are held for. Then grants are used, too, that have it in their scope. Default: only grants for anything. */
  purpose: Schema.optionalKey(Purpose),
  /** How long it lasts: 1 second to 7 days. Default: 15 minutes. */
  ttlSeconds: Schema.optionalKey(TtlSeconds),
  /** With a key, reserving again gives the first hold. Unique for the customer and the unit, and for ever. */
  idempotencyKey: Schema.optionalKey(CreditKey),
})
export interface ReserveCredits extends Schema.Schema.Type<typeof ReserveCredits> {}

/** The input of `Holds.extend`. */
export const ExtendHold = Schema.Struct({
  /** How long it lasts from now on: 1 second to 7 days. Default: 15 minutes. */
  ttlSeconds: Schema.optionalKey(TtlSeconds),
})
export interface ExtendHold extends Schema.Schema.Type<typeof ExtendHold> {}

/** Which holds to list. */
export const ListHolds = Schema.Struct(accountFilter)
export interface ListHolds extends Schema.Schema.Type<typeof ListHolds> {}

/** The tenant has no hold with this id. */
export class HoldNotFound extends NotFound.make("HoldNotFound", "hold") {}

/** The account has as many open holds as it may have. */
export class TooManyHolds extends TooMany.make(
  "TooManyHolds",
  MAX_OPEN_HOLDS,
  "open holds of this customer and unit",
) {}

/**
 * Credits of a customer: grants, entries and what was consumed of them. Their rules are those of `@billwright/engine`.
 *
 * Amounts are integers of the smallest unit: cents of EUR, or whatever the host counts, such as `token`.
 */
import type {
  CreditBalance,
  CreditEntry as EngineEntry,
  CreditGrant as EngineGrant,
  PlanGrantStep,
} from "@billwright/engine"
import { Currency, grantAt } from "@billwright/engine"
import { type DateTime, Schema } from "effect"
import { CustomerId } from "../customers/Customer.ts"
import type { InvoiceId } from "../invoices/Invoice.ts"
import * as Id from "../shared/Id.ts"
import { ofMillis, ofMillisOrNull } from "../shared/Instant.ts"
import * as NotFound from "../shared/NotFound.ts"
import { pageFields } from "../shared/Page.ts"
import * as Text from "../shared/Text.ts"
import * as TooMany from "../shared/TooMany.ts"

/** The prefix of the ids of grants. */
export const GRANT_ID_PREFIX = "cgr"
/** The prefix of the ids of entries. */
export const ENTRY_ID_PREFIX = "cen"
/** The prefix of the ids of consumptions. */
export const CONSUMPTION_ID_PREFIX = "ccn"
/** Most grants of an account that are pending, or have something left. Each operation looks at all of them. */
export const MAX_LIVE_GRANTS = 100
/** Longest idempotency key, in characters. */
export const MAX_CREDIT_KEY_LENGTH = 255
/** Largest priority. Grants of a lower number are used first. */
export const MAX_PRIORITY = 100
/** Most keys of the scope of a grant. */
export const MAX_SCOPE_KEYS = 20
/** The priority of a grant that is given none. */
export const DEFAULT_PRIORITY = 50
/** Longest unit, in characters. */
export const MAX_CREDIT_UNIT_LENGTH = 64

export const CreditGrantId = Id.schema(GRANT_ID_PREFIX).pipe(Schema.brand("CreditGrantId"))
export type CreditGrantId = typeof CreditGrantId.Type
export const CreditEntryId = Id.schema(ENTRY_ID_PREFIX).pipe(Schema.brand("CreditEntryId"))
export type CreditEntryId = typeof CreditEntryId.Type
export const ConsumptionId = Id.schema(CONSUMPTION_ID_PREFIX).pipe(Schema.brand("ConsumptionId"))
export type ConsumptionId = typeof ConsumptionId.Type

export const GrantKind = Schema.Literals(["paid", "promotional", "plan"])
export const GrantStatus = Schema.Literals(["pending", "active", "expired", "voided"])
export const EntryKind = Schema.Literals([
  "grant",
  "expire",
  "void",
  "consume",
  "reserve",
  "commit",
  "release",
  "lapse",
  "repay",
  "adjust",
  "apply",
  "restore",
  "burn",
])
/** What made a grant: the document that gave a customer money back, or the subscription whose plan grants it. */
export const GrantSourceType = Schema.Literals(["credit_note", "invoice", "subscription"])

/** What is wrong with a text that is no unit. */
export const UNIT_PROBLEM = `must be an ISO 4217 currency code such as EUR, or a unit of yours such as token: a lower-case letter, then lower-case letters, digits and _, at most ${MAX_CREDIT_UNIT_LENGTH} characters`
const unitMessage = { message: UNIT_PROBLEM }
/** The units that are currencies. */
export const CURRENCY_UNITS: ReadonlyArray<string> = Currency.codes()
const isUnit = (unit: string): boolean => /^[a-z][a-z0-9_]{0,63}$/.test(unit) || Currency.isCurrency(unit)
/** What credits count: a currency's minor unit, or a unit of the host. */
export const CreditUnit = Schema.String.check(
  Schema.makeFilter(isUnit, {
    ...unitMessage,
    toJsonSchema: () => ({ pattern: "^([A-Z]{3}|[a-z][a-z0-9_]{0,63})$" }),
  }),
)

/** Largest amount of a grant, a consumption or a hold. */
const MAX_AMOUNT = 10n ** 30n
/** An integer from a least amount to 10^30. */
export const amountFrom = (minimum: bigint) => {
  const message = { message: `must be an integer from ${minimum} to 10^30` }
  return Schema.BigInt.annotate(message).check(
    Schema.isBetweenBigInt({ minimum, maximum: MAX_AMOUNT }, message),
  )
}
export const CreditAmount = amountFrom(1n)
export const CreditKey = Text.bounded(1, MAX_CREDIT_KEY_LENGTH)

const priorityMessage = { message: `must be an integer from 0 to ${MAX_PRIORITY}` }
export const Priority = Schema.Int.annotate(priorityMessage).check(
  Schema.isBetween({ minimum: 0, maximum: MAX_PRIORITY }, priorityMessage),
)

const purposeMessage = {
  message:
    "must be the key of a charge or a feature: a lower-case letter, then at most 63 lower-case letters, digits and underscores",
}
/** What credits are used for: the key of a charge or a feature. */
export const Purpose = Schema.String.annotate(purposeMessage).check(
  Schema.isPattern(/^[a-z][a-z0-9_]{0,63}$/, purposeMessage),
  // What the pattern says already, for the OpenAPI document.
  Schema.isMaxLength(64, purposeMessage),
)
const scopeMessage = { message: `must be 1 to ${MAX_SCOPE_KEYS} keys of charges or features` }
const uniqueMessage = { message: "must not have a key twice" }
/** What a grant pays for. */
export const GrantScope = Schema.Array(Purpose).check(
  Schema.isMinLength(1, scopeMessage),
  Schema.isMaxLength(MAX_SCOPE_KEYS, scopeMessage),
  Schema.isUnique(uniqueMessage),
)

/** Whose credits, and in which unit. */
export const AccountKey = Schema.Struct({ customerId: CustomerId, unit: CreditUnit })
export interface AccountKey extends Schema.Schema.Type<typeof AccountKey> {}

/** What made a grant by itself. An account has at most one grant of a source. */
export interface GrantSource {
  readonly type: typeof GrantSourceType.Type
  /** The id of the credit note, of the invoice with a total below 0, or of the subscription. */
  readonly id: string
  /** The number of the period of the subscription. `null` for the others. */
  readonly period: number | null
}

/** A grant as it is stored. */
export interface StoredGrant extends Omit<EngineGrant, "id">, AccountKey {
  readonly id: CreditGrantId
  /** `null`: somebody granted it. */
  readonly source: GrantSource | null
  /** What each plan of a period grants for its part of it. They sum to the amount. Empty unless a plan grants it. */
  readonly steps: ReadonlyArray<PlanGrantStep>
  readonly idempotencyKey: string | null
}

/** An entry as it is stored. */
export interface StoredEntry extends Omit<EngineEntry, "invoiceId">, AccountKey {
  readonly id: CreditEntryId
  readonly invoiceId: InvoiceId | null
}

/** Credits that were used at once. It never changes. */
export interface StoredConsumption extends AccountKey {
  readonly id: ConsumptionId
  readonly amount: bigint
  /** What they were used for. `null`: nobody said it, and only grants for anything were used. */
  readonly purpose: string | null
  readonly idempotencyKey: string | null
  /** What the account had after it, for this purpose. */
  readonly balance: CreditBalance
  readonly createdAt: number
}

/** A grant of credits. `available` and `held` are what is left of it. */
export interface CreditGrant extends Omit<
  StoredGrant,
  "createdAt" | "effectiveAt" | "expiresAt" | "rollover"
> {
  readonly effectiveAt: DateTime.Utc
  readonly expiresAt: DateTime.Utc | null
  /** How much of what is left at the end of its period stays until when. `null`: nothing. */
  readonly rollover: { readonly maximum: bigint; readonly expiresAt: DateTime.Utc } | null
  readonly createdAt: DateTime.Utc
}

export interface CreditEntry extends Omit<StoredEntry, "at"> {
  readonly at: DateTime.Utc
}

export interface Consumption extends Omit<StoredConsumption, "createdAt"> {
  readonly createdAt: DateTime.Utc
}

/** What a customer has of a unit at an instant. */
export interface AccountBalance extends AccountKey, CreditBalance {
  /** How many decimals the unit has. Amounts are integers of its smallest part. */
  readonly decimals: number
  /** What `available` can be used for. `null`: anything. */
  readonly purpose: string | null
  /** What is available of grants for other things alone, beside `available`. */
  readonly scoped: bigint
  /** The number of the last entry. Events of the account have those of their entries. */
  readonly sequence: number
}

/** A grant as callers see it at an instant. */
export const toGrant = (stored: StoredGrant, now: number): CreditGrant => {
  const { available, expiresAt, rollover, status } = grantAt(stored, now)
  return {
    ...stored,
    available,
    status,
    rollover: rollover === null ? null : { ...rollover, expiresAt: ofMillis(rollover.expiresAt) },
    effectiveAt: ofMillis(stored.effectiveAt),
    expiresAt: ofMillisOrNull(expiresAt),
    createdAt: ofMillis(stored.createdAt),
  }
}

export const toEntry = (stored: StoredEntry): CreditEntry => ({ ...stored, at: ofMillis(stored.at) })

export const toConsumption = (stored: StoredConsumption): Consumption => ({
  ...stored,
  createdAt: ofMillis(stored.createdAt),
})

/** The input of `Credits.grant`. */
export const GrantCredits = Schema.Struct({
  ...AccountKey.fields,
  kind: GrantKind,
  amount: CreditAmount,
  /** 0 to 100. Grants of a lower number are used first. Default: 50. */
  priority: Schema.optionalKey(Priority),
  /** What it pays for: 1 to 20 keys of charges and features. Default: anything. */
  scope: Schema.optionalKey(GrantScope),
  /** When its credits begin. Default: now. */
  effectiveAt: Schema.optionalKey(Schema.DateTimeUtc),
  /** When its credits end. Default: never. */
  expiresAt: Schema.optionalKey(Schema.DateTimeUtc),
  /** With a key, granting again gives the first grant. Unique for the customer and the unit, and for ever. */
  idempotencyKey: Schema.optionalKey(CreditKey),
})
export interface GrantCredits extends Schema.Schema.Type<typeof GrantCredits> {}

/** The input of `Credits.balance`. */
export const AskBalance = Schema.Struct({
  ...AccountKey.fields,
  /** What they are to be used for. Default: anything. */
  purpose: Schema.optionalKey(Purpose),
})
export interface AskBalance extends Schema.Schema.Type<typeof AskBalance> {}

/** The input of `Credits.consume`. */
export const ConsumeCredits = Schema.Struct({
  ...AccountKey.fields,
  amount: CreditAmount,
  /** What they are used for. Then grants are used, too, that have it in their scope. Default: only grants for anything. */
  purpose: Schema.optionalKey(Purpose),
  /** With a key, consuming again gives the first answer. Unique for the customer and the unit, and for ever. */
  idempotencyKey: Schema.optionalKey(CreditKey),
})
export interface ConsumeCredits extends Schema.Schema.Type<typeof ConsumeCredits> {}

export const accountFilter = {
  ...pageFields,
  customerId: Schema.optionalKey(CustomerId),
  unit: Schema.optionalKey(CreditUnit),
}
/** Which grants to list. */
export const ListGrants = Schema.Struct(accountFilter)
export interface ListGrants extends Schema.Schema.Type<typeof ListGrants> {}
/** Which entries to list. */
export const ListEntries = Schema.Struct({ ...accountFilter, grantId: Schema.optionalKey(CreditGrantId) })
export interface ListEntries extends Schema.Schema.Type<typeof ListEntries> {}

/** The tenant has no grant with this id. */
export class CreditGrantNotFound extends NotFound.make("CreditGrantNotFound", "credit grant") {}

/** The account has as many grants with something left as it may have. */
export class TooManyCreditGrants extends TooMany.make(
  "TooManyCreditGrants",
  MAX_LIVE_GRANTS,
  "credit grants of this customer and unit that have something left",
) {}

/** Less than what was asked for is available. Nothing was used or held. */
export class InsufficientCredits extends Schema.TaggedError<InsufficientCredits>()(
  "InsufficientCredits",
  { available: Schema.BigInt, amount: Schema.BigInt, unit: Schema.String },
  { httpApiStatus: 409 },
) {
  override get message(): string {
    return `not enough credits: ${this.amount} of ${this.unit} were asked for, and ${this.available} are available`
  }
}

/** The idempotency key was used before, with other content. */
export class CreditKeyConflict extends Schema.TaggedError<CreditKeyConflict>()(
  "CreditKeyConflict",
  {
    /** The id of the grant, the consumption or the hold that has the key. */
    id: Schema.String,
  },
  { httpApiStatus: 409 },
) {
  override get message(): string {
    return `the idempotency key was already used with other content, by ${this.id}`
  }
}

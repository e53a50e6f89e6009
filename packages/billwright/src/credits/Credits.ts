/**
 * Credits: what customers have bought, were given or have with their plan, and what they use of it.
 */
import type { CallOptions, Instant } from "../Call.ts"
import type { Listing, PageQuery } from "../Listing.ts"

/** `paid`: the customer bought it. `promotional`: a present. `plan`: a plan includes it. */
export type CreditGrantKind = "paid" | "promotional" | "plan"

/** `pending`: it begins later. `active`: it can be used. `expired` and `voided`: what was left is gone. */
export type CreditGrantStatus = "pending" | "active" | "expired" | "voided"

/** Whose credits, and in which unit. */
export interface CreditAccount {
  readonly customerId: string
  /**
   * An ISO 4217 currency code, then in its minor unit, or a unit of yours such as `token`: a lower-case letter, then
   * lower-case letters, digits and `_`, at most 64 characters.
   */
  readonly unit: string
}

/** What an account has. Amounts are integers of the smallest unit. */
export interface CreditAmounts {
  /** What can be used or held now. */
  readonly available: bigint
  /** What open holds keep. */
  readonly held: bigint
  /** What was used beyond all grants. The next grants repay it. */
  readonly debt: bigint
}

/** What a customer has of a unit now. */
export interface CreditBalance extends CreditAccount, CreditAmounts {
  /** How many decimals the unit has: with 2, 150n are 1.50. */
  readonly decimals: number
  /** What `available` can be used for. `null`: anything. */
  readonly purpose: string | null
  /** What is available for other things alone, of grants with a scope. It is no part of `available`. */
  readonly scoped: bigint
  /** Rises with each change. 0: there never were credits. */
  readonly sequence: number
}

/**
 * What made a grant by itself. `credit_note`: it gave money back. `invoice`: it came to less than 0, and the grant is the
 * difference. `subscription`: its plan grants it for a period.
 */
export interface CreditGrantSource {
  readonly type: "credit_note" | "invoice" | "subscription"
  /** `crn_…`, `inv_…` or `sub_…` */
  readonly id: string
  /** The number of the period of the subscription. `null` for the others. */
  readonly period: number | null
}

/** What is left of a grant at the end of its period stays, up to a maximum, for some more time. */
export interface CreditRollover {
  readonly maximum: bigint
  /** When that ends. */
  readonly expiresAt: Date
}

/** What a plan grants for the part of a period that it served: from position `from` to `to`, of `of`. */
export interface CreditGrantStep {
  readonly plan: { readonly key: string; readonly version: number }
  /** What it grants for a full period: a decimal. */
  readonly granted: string
  /** Positions are days or milliseconds of the period, as the plan measures it. */
  readonly from: number
  readonly to: number
  readonly of: number
  readonly amount: bigint
}

/** A grant of credits to a customer. */
export interface CreditGrant extends CreditAccount {
  /** `cgr_…` */
  readonly id: string
  readonly kind: CreditGrantKind
  /** What was granted. */
  readonly amount: bigint
  /** Grants of a lower number are used first, then those that expire sooner, then older ones. */
  readonly priority: number
  /** What it pays for: keys of charges and features. `null`: anything. */
  readonly scope: ReadonlyArray<string> | null
  readonly status: CreditGrantStatus
  /** What is left of it, without what is held. */
  readonly available: bigint
  /** What open holds keep of it. It stays held when the grant ends. */
  readonly held: bigint
  /** What stays when its period ends. `null`: nothing. */
  readonly rollover: CreditRollover | null
  /** How the amount comes about, if a plan grants it. The steps sum to it. */
  readonly steps: ReadonlyArray<CreditGrantStep>
  /** What made it by itself. `null`: it was granted by a call. */
  readonly source: CreditGrantSource | null
  /** When its credits begin. */
  readonly effectiveAt: Date
  /** When its credits end. `null`: never. */
  readonly expiresAt: Date | null
  readonly idempotencyKey: string | null
  readonly createdAt: Date
}

/** Credits for a customer. */
export interface GrantCredits extends CreditAccount {
  readonly kind: CreditGrantKind
  /** 1 to 10^30. */
  readonly amount: number | bigint
  /** 0 to 100. Default: 50. */
  readonly priority?: number | undefined
  /** What it pays for: 1 to 20 keys of charges and features. Default: anything. */
  readonly scope?: ReadonlyArray<string> | undefined
  /** Default: now. */
  readonly effectiveAt?: Instant | undefined
  /** In the future, and after `effectiveAt`. Default: never. */
  readonly expiresAt?: Instant | undefined
  /** 1 to 255 characters. With it, granting the same again gives the first grant, for ever. */
  readonly idempotencyKey?: string | undefined
}

/** Whose balance, and what for. */
export interface AskCreditBalance extends CreditAccount {
  /** What they are to be used for: the key of a charge or a feature. Default: anything. */
  readonly purpose?: string | undefined
}

/** Credits to use at once. */
export interface ConsumeCredits extends CreditAccount {
  /** 1 to 10^30. */
  readonly amount: number | bigint
  /** What they are used for: the key of a charge or a feature. Then grants are used, too, that have it in their `scope`. */
  readonly purpose?: string | undefined
  /** 1 to 255 characters. With it, consuming the same again uses nothing and gives the first answer, for ever. */
  readonly idempotencyKey?: string | undefined
}

/** Credits that were used at once. */
export interface CreditConsumption extends CreditAccount {
  /** `ccn_…` */
  readonly id: string
  readonly amount: bigint
  /** What they were used for. `null`: nobody said it, and only grants for anything were used. */
  readonly purpose: string | null
  readonly idempotencyKey: string | null
  /** What the customer had after it, for this purpose. */
  readonly balance: CreditAmounts
  readonly createdAt: Date
}

/**
 * `grant`, `expire`, `void`: a grant begins and ends. `consume`: credits are used at once. `reserve`, `commit`, `release`,
 * `lapse`: a hold keeps credits, uses them, and gives them back. `repay`: credits repay a debt. `adjust`: a change of the plan
 * grants more or less. `apply`: an invoice that was issued uses them. `burn`: its usage burns them. `restore`: it was
 * voided, or a later one states that less was used, and they are given back. An `expire` above 0 takes back that credits went
 * unused, because usage from before burns them.
 */
export type CreditEntryKind =
  | "grant"
  | "expire"
  | "void"
  | "consume"
  | "reserve"
  | "commit"
  | "release"
  | "lapse"
  | "repay"
  | "adjust"
  | "apply"
  | "restore"
  | "burn"

/**
 * A change of a customer's credits. Its amounts are those by which they changed. Entries are only added. `available` is what can
 * be used for anything.
 */
export interface CreditEntry extends CreditAccount, CreditAmounts {
  /** `cen_…` */
  readonly id: string
  /** 1 for the first of the customer and unit, and one more each. */
  readonly sequence: number
  readonly kind: CreditEntryKind
  /** The grant whose credits they are. `null` for a use that became debt. */
  readonly grantId: string | null
  readonly holdId: string | null
  readonly consumptionId: string | null
  readonly invoiceId: string | null
  /** What the credits were used or kept for: the key of a charge or a feature. `null`: nobody said it. */
  readonly purpose: string | null
  /** By how much what is available of a grant with a scope changed. */
  readonly scoped: bigint
  /** When it happened. What happens by the clock is written with the next change. */
  readonly at: Date
}

/** Selects grants, newest first. */
export interface ListCreditGrants extends PageQuery {
  readonly customerId?: string | undefined
  readonly unit?: string | undefined
}

/** Selects entries, newest first. */
export interface ListCreditEntries extends ListCreditGrants {
  readonly grantId?: string | undefined
}

/**
 * Errors: `InvalidInputError`, `CustomerNotFoundError`, `CreditGrantNotFoundError`, `InsufficientCreditsError`,
 * `CreditKeyConflictError`, `LimitReachedError`, `ActionUnavailableError`, and `InvoicingUnsupportedError` on a store
 * without credits.
 */
export interface Credits {
  /**
   * Grants credits to a customer. A debt is repaid first. A customer has at most 100 grants of a unit that have something
   * left.
   */
  grant(input: GrantCredits, options?: CallOptions): Promise<CreditGrant>
  /**
   * Uses credits: the whole amount, or an `InsufficientCreditsError` and nothing. Of any number of calls at once, those
   * succeed for whom there is enough. After a refusal the key is free.
   *
   * ```ts
   * await billing.credits.consume({ customerId, unit: "token", amount: 250, idempotencyKey: requestId })
   * ```
   */
  consume(input: ConsumeCredits, options?: CallOptions): Promise<CreditConsumption>
  /** What a customer has of a unit now, for anything or for a purpose. All amounts are 0 if there never were credits. */
  balance(asked: AskCreditBalance, options?: CallOptions): Promise<CreditBalance>
  getGrant(id: string, options?: CallOptions): Promise<CreditGrant>
  listGrants(query?: ListCreditGrants, options?: CallOptions): Listing<CreditGrant>
  /**
   * Takes back what is left of a grant. What open holds keep of it stays held, and is gone when it is given back. Voiding
   * it again changes nothing.
   */
  voidGrant(id: string, options?: CallOptions): Promise<CreditGrant>
  /** What changed the credits of customers, newest first. */
  entries(query?: ListCreditEntries, options?: CallOptions): Listing<CreditEntry>
}

/**
 * Token usage: tokens of language models that customers used, and what they were charged for them.
 */
import type { TokenCounts, TokenKind, TokenRatingStep } from "@billwright/engine"
import type { CallOptions } from "../Call.ts"
import type { Listing, PageQuery } from "../Listing.ts"

/**
 * `rated`: it was charged. `unrated`: the rate card has no price for it yet, and nothing was charged. `waived`: a person
 * decided not to charge it.
 */
export type TokenUsageStatus = "rated" | "unrated" | "waived"

/** The tokens of one call of a language model, and what a customer was charged for them. */
export interface TokenUsage {
  /** `tku_…` */
  readonly id: string
  readonly customerId: string
  /** The key of the rate card. */
  readonly rateCard: string
  /** The version of the rate card that priced it. Of what is not rated, the version that had no price for it. */
  readonly version: number
  readonly model: string
  /** How many tokens of each kind were used. */
  readonly tokens: TokenCounts
  /** The unit of the rate card, whose credits are charged. */
  readonly unit: string
  readonly status: TokenUsageStatus
  /** What it costs: an integer of the smallest unit. `null` unless it is rated. */
  readonly amount: bigint | null
  /** The amount before it was rounded: a decimal in the unit. `null` unless it is rated. */
  readonly exact: string | null
  /** How the amount comes about, step by step. Empty unless it is rated. */
  readonly steps: ReadonlyArray<TokenRatingStep>
  /** The kinds that were used and have no price. `null`: it is rated, or the rate card does not have the model. */
  readonly unpriced: ReadonlyArray<TokenKind> | null
  /** The hold that was committed with it. */
  readonly holdId: string | null
  /** The consumption of credits that charged it. `null`: nothing was charged, or the hold was. */
  readonly consumptionId: string | null
  readonly idempotencyKey: string | null
  /** Who waived it, and why. `null` unless it is waived. */
  readonly waivedBy: string | null
  readonly waiveReason: string | null
  /** When it was rated or waived. `null` while it is unrated. */
  readonly settledAt: Date | null
  readonly createdAt: Date
}

/** Tokens that were used, and the rate card that prices them. */
export interface UsedTokens {
  /** The key of a rate card that was pushed: `llm`. */
  readonly rateCard: string
  /** The model, as the rate card names it. */
  readonly model: string
  /** How many tokens of each kind: integers from 0 to 10^12. `tokens(usage)` counts what a provider states. */
  readonly tokens: Partial<TokenCounts>
}

/** Tokens of a call that was made without a hold. */
export interface CreateTokenUsage extends UsedTokens {
  readonly customerId: string
  /** 1 to 255 characters. With it, the same again charges nothing and gives the token usage as it is then, for ever. */
  readonly idempotencyKey?: string | null | undefined
}

/** Who waives token usage, and why. */
export interface WaiveTokenUsage {
  /** A name or an id of yours. 1 to 200 characters. */
  readonly by: string
  /** 1 to 1,000 characters. */
  readonly reason: string
}

/** Selects token usage, newest first. */
export interface ListTokenUsages extends PageQuery {
  readonly customerId?: string | undefined
  readonly holdId?: string | undefined
  readonly status?: TokenUsageStatus | undefined
  readonly model?: string | undefined
}

/**
 * Errors: `InvalidInputError`, `CustomerNotFoundError`, `RateCardNotFoundError`, `TokenUsageNotFoundError`,
 * `CreditKeyConflictError`, `ActionUnavailableError`, and `InvoicingUnsupportedError` on a store without credits.
 */
export interface TokenUsages {
  /**
   * Charges the tokens of a call that was made, by the version of the rate card that is in force. What is beyond the
   * available credits becomes debt, because the work is done. Without a price, it is recorded as `unrated` and nothing is
   * charged. To be sure of credits before the call, reserve a hold, and commit it with the tokens.
   *
   * ```ts
   * await billing.tokenUsages.create({ customerId, rateCard: "llm", model: "large", tokens: tokens(usage) })
   * ```
   */
  create(input: CreateTokenUsage, options?: CallOptions): Promise<TokenUsage>
  get(id: string, options?: CallOptions): Promise<TokenUsage>
  list(query?: ListTokenUsages, options?: CallOptions): Listing<TokenUsage>
  /**
   * Rates what is `unrated` by the version of the rate card that is in force now, and charges it once, whoever calls. What
   * is beyond the available credits becomes debt. What is rated stays as it is. What still has no price, was waived, or is
   * of an erased customer: `ActionUnavailableError`.
   */
  rate(id: string, options?: CallOptions): Promise<TokenUsage>
  /**
   * Says that what is `unrated` is not charged, who decided it and why. The same again changes nothing. What is rated, or
   * was waived with other words: `ActionUnavailableError`.
   */
  waive(id: string, input: WaiveTokenUsage, options?: CallOptions): Promise<TokenUsage>
}

/**
 * Rate cards: what the tokens of language models cost, in versions whose terms never change.
 */
import type { RateCard as RateCardDefinition, TokenPrices } from "@billwright/engine"
import type { CallOptions } from "../Call.ts"
import type { Listing, PageQuery } from "../Listing.ts"
import type { PlanChange } from "./Plans.ts"

/** `current`: calls are rated by this version. `superseded`: there is a later one. */
export type RateCardStatus = "current" | "superseded"

/** A version of a rate card. Its terms never change. */
export interface StoredRateCard {
  /** `rtc_…` */
  readonly id: string
  /** The name of the card for people. */
  readonly name: string | null
  /** The name of the card in code. */
  readonly key: string
  /** The number of the version, from 1. */
  readonly version: number
  /** The key and the number: `llm@3`. */
  readonly reference: string
  /** The SHA-256 hash of the terms in canonical JSON (RFC 8785). Equal terms have equal hashes. */
  readonly hash: string
  /** What prices are in: an ISO 4217 currency code, or a unit of yours such as `credit`. */
  readonly unit: string
  /** The decimals of amounts in a unit of yours. `null`: 0, or those of the currency. */
  readonly decimals: number | null
  /** Percent that are added to the price. */
  readonly markup: string | null
  /** Prices of 1,000,000 tokens by the name of the model. */
  readonly models: Readonly<Record<string, TokenPrices>>
  readonly status: RateCardStatus
  readonly createdAt: Date
}

/** What a push does, or would do, to one rate card. */
export interface RateCardChange extends PlanChange {}

/** Selects versions, newest first. */
export interface ListRateCards extends PageQuery {
  /** Only versions of the card with this key. */
  readonly key?: string | undefined
  readonly status?: RateCardStatus | undefined
}

/**
 * Errors: `InvalidInputError`, whose `problems` lists everything that is wrong with all cards, and `RateCardNotFoundError`.
 */
export interface RateCards {
  /**
   * Stores 1 to 50 rate cards: all of them, or none if one is wrong. A card with new terms gets the next version, and calls
   * are rated by it from then on. A new name changes the newest version. An equal card changes nothing.
   *
   * ```ts
   * await billing.rateCards.push({ key: "llm", unit: "credit", models: { large: { input: "2.00", output: "8.00" } } })
   * ```
   */
  push(
    cards: RateCardDefinition | ReadonlyArray<RateCardDefinition>,
    options?: CallOptions,
  ): Promise<ReadonlyArray<RateCardChange>>
  /** Says what `push` would do. Writes nothing. */
  diff(
    cards: RateCardDefinition | ReadonlyArray<RateCardDefinition>,
    options?: CallOptions,
  ): Promise<ReadonlyArray<RateCardChange>>
  /** A version by its id. */
  get(id: string, options?: CallOptions): Promise<StoredRateCard>
  /** Versions, newest first. */
  list(query?: ListRateCards, options?: CallOptions): Listing<StoredRateCard>
}

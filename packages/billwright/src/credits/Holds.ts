/**
 * Holds: credits that are kept for work under way, until it is known how much of them it used.
 */
import type { CallOptions } from "../Call.ts"
import type { Listing, PageQuery } from "../Listing.ts"
import type { CreditAccount } from "./Credits.ts"
import type { TokenUsage, UsedTokens } from "./TokenUsages.ts"

/**
 * `open`: nobody else can use what it keeps. `committed`: it was used. `released`: it was given back. `lapsed`: its time
 * ran out, and it was given back.
 */
export type HoldStatus = "open" | "committed" | "released" | "lapsed"

/** A hold of credits. Amounts are integers of the smallest unit. */
export interface Hold extends CreditAccount {
  /** `hld_…` */
  readonly id: string
  /** What it keeps while it is open. */
  readonly amount: bigint
  /** What it keeps them for: the key of a charge or a feature. `null`: nobody said it. */
  readonly purpose: string | null
  readonly status: HoldStatus
  /** What was used. `null` unless it is committed. */
  readonly committed: bigint | null
  /** Whether it had lapsed before it was committed. Then it was charged of what was available. */
  readonly isLate: boolean
  readonly idempotencyKey: string | null
  /** When it lapses. */
  readonly expiresAt: Date
  /** When it was committed, released or lapsed. `null` while it is open. */
  readonly settledAt: Date | null
  readonly createdAt: Date
}

/** Credits to keep for work under way. */
export interface ReserveCredits extends CreditAccount {
  /** 1 to 10^30. */
  readonly amount: number | bigint
  /** What they are kept for: the key of a charge or a feature. Then grants are used, too, that have it in their `scope`. */
  readonly purpose?: string | undefined
  /** How long it lasts: 1 second to 7 days. Default: 900, which is 15 minutes. */
  readonly ttlSeconds?: number | undefined
  /** 1 to 255 characters. With it, reserving the same again gives the first hold as it is then, for ever. */
  readonly idempotencyKey?: string | undefined
}

/** Which holds to list. */
export interface ListHolds extends PageQuery {
  readonly customerId?: string | undefined
  readonly unit?: string | undefined
}

/** How long a hold lasts. */
export interface ExtendHold {
  /** From now on: 1 second to 7 days. Default: 900, which is 15 minutes. */
  readonly ttlSeconds?: number | undefined
}

/** What to do with more than is held and available. */
interface Overdraft {
  /**
   * What to do with more than is held and available: it becomes a `debt`, which the next grants repay, or an
   * `InsufficientCreditsError` (`refuse`). Default: `debt`.
   */
  readonly overdraft?: "debt" | "refuse" | undefined
}

/** How much of a hold was used, as an amount. */
export interface CommitAmount extends Overdraft {
  /** 0 to 10^30. Default: all that is held. */
  readonly amount?: number | bigint | undefined
}

/** How much of a hold was used, as tokens. The rate card must be in the unit of the hold. */
export interface CommitTokens extends UsedTokens, Overdraft {}

/** How much of a hold was used: an amount, or tokens. */
export type CommitHold = CommitAmount | CommitTokens

/** A hold after a commit. */
export interface CommittedHold extends Hold {
  /** The tokens that it was committed with, and their price. `null`: it was committed with an amount. */
  readonly tokenUsage: TokenUsage | null
}

/** A hold that was just made, with the calls that settle it. They are not among its enumerable fields. */
export interface ReservedHold extends Hold {
  /** The same as `holds.commit` with the amount or the tokens that were used. Default: all that is held. */
  readonly commit: (used?: number | bigint | CommitTokens, options?: CallOptions) => Promise<CommittedHold>
  /** The same as `holds.release`. */
  readonly release: (options?: CallOptions) => Promise<Hold>
}

/**
 * Errors: `InvalidInputError`, `CustomerNotFoundError`, `HoldNotFoundError`, `InsufficientCreditsError`,
 * `CreditKeyConflictError`, `RateCardNotFoundError`, `LimitReachedError`, `ActionUnavailableError`, and `InvoicingUnsupportedError` on a store
 * without credits.
 */
export interface Holds {
  /**
   * Keeps credits: the whole amount, or an `InsufficientCreditsError` and nothing. Until the hold is committed or released,
   * or lapses, nobody else can use them. It lapses at its instant by itself. A customer has at most 1,000 open holds of a
   * unit.
   *
   * ```ts
   * const hold = await billing.holds.reserve({ customerId, unit: "token", amount: 4_000 })
   * const used = await answer(prompt)
   * await hold.commit(used)
   * ```
   */
  reserve(input: ReserveCredits, options?: CallOptions): Promise<ReservedHold>
  get(id: string, options?: CallOptions): Promise<Hold>
  /** Newest first. */
  list(query?: ListHolds, options?: CallOptions): Listing<Hold>
  /** Moves the instant at which an open hold lapses. */
  extend(id: string, input?: ExtendHold, options?: CallOptions): Promise<Hold>
  /**
   * Says how much of a hold was used, and settles it. What is left over is given back. A hold that has lapsed is charged
   * too, of what is available, and says so: `isLate`. Committing the same again changes nothing.
   *
   * With tokens, the version of the rate card that is in force says what was used, and `tokenUsage` shows each step. If the
   * card has no price for them, the hold is settled with 0: `tokenUsage` is `unrated`, and is charged when it is rated.
   *
   * ```ts
   * await hold.commit({ rateCard: "llm", model: "large", tokens: tokens(usage) })
   * ```
   */
  commit(id: string, input?: CommitHold, options?: CallOptions): Promise<CommittedHold>
  /** Gives a hold back. One that was given back or has lapsed stays as it is. */
  release(id: string, options?: CallOptions): Promise<Hold>
}

const toCommit = (used: number | bigint | CommitTokens | undefined): CommitHold =>
  typeof used === "object" && used !== null ? used : { amount: used }

/** Adds to a hold the calls that settle it. */
export const reserved = (
  hold: Hold,
  { commit, release }: Pick<Holds, "commit" | "release">,
): ReservedHold => {
  const actions: Pick<ReservedHold, "commit" | "release"> = {
    commit: (used, options) => commit(hold.id, toCommit(used), options),
    release: (options) => release(hold.id, options),
  }
  return Object.defineProperties(
    { ...hold, ...actions },
    { commit: { enumerable: false }, release: { enumerable: false } },
  )
}

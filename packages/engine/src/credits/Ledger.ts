/**
 * The credits of a customer in one unit: what was granted, what is held, and what was used.
 *
 * Amounts are integers of the smallest unit, and instants are epoch milliseconds.
 */

/** What an account has. Never both something available and a debt. */
export interface CreditBalance {
  /** What can be consumed or held now. 0 or more. */
  readonly available: bigint
  /** What open holds keep. 0 or more. */
  readonly held: bigint
  /** What was used beyond all grants. 0 or more. The next grants repay it. */
  readonly debt: bigint
}

/** The account of a customer for a unit. It is the sum of its entries. `available` can be used for anything. */
export interface CreditAccount extends CreditBalance {
  /** What can be used for some things alone: what is available of grants with a scope. 0 or more. It repays no debt. */
  readonly scoped: bigint
  /** How many holds are open. */
  readonly openHolds: number
  /** The number of the last entry. 0: there is none. */
  readonly sequence: number
}

/** `paid`: the customer bought it. `promotional`: a present. `plan`: a plan includes it. */
export type GrantKind = "paid" | "promotional" | "plan"

/** `pending`: it begins later. `active`: its credits can be used. `expired` and `voided`: what was left is gone. */
export type GrantStatus = "pending" | "active" | "expired" | "voided"

/** What is left of a grant when it ends stays, up to a maximum, for some more time. */
export interface GrantRollover {
  /** Most of it that stays. 0 or more. */
  readonly maximum: bigint
  /** When that ends. A grant has rolled over once this is its `expiresAt`. */
  readonly expiresAt: number
}

export interface CreditGrant {
  readonly id: string
  readonly kind: GrantKind
  /** What was granted. Greater than 0. What a plan grants is moved by a change of the plan, and may come to 0. */
  readonly amount: bigint
  /** Grants of a lower number are used first. */
  readonly priority: number
  /** What it pays for: keys of charges and of features. `null`: anything. It never changes. */
  readonly scope: ReadonlyArray<string> | null
  /** When its credits begin. */
  readonly effectiveAt: number
  /** When its credits end. `null`: never. */
  readonly expiresAt: number | null
  /** What stays of it then. `null`: nothing. */
  readonly rollover: GrantRollover | null
  readonly createdAt: number
  readonly status: GrantStatus
  /** What is left of it, without what is held. */
  readonly available: bigint
  /** What open holds keep of it. It stays held when the grant ends. */
  readonly held: bigint
}

/** A part of a hold: how much of it a grant gave. */
export interface HoldSlice {
  readonly grantId: string
  readonly amount: bigint
}

/** `committed`: it was used, and settled for good. `released`: it was given back. `lapsed`: its time ran out. */
export type HoldStatus = "open" | "committed" | "released" | "lapsed"

export interface CreditHold {
  readonly id: string
  /** What it keeps while it is open. Greater than 0. */
  readonly amount: bigint
  /** What it is for: the key of a charge or a feature. `null`: only grants for anything pay for it. */
  readonly purpose: string | null
  /** Where that came from, in the order in which it is used. */
  readonly slices: ReadonlyArray<HoldSlice>
  /** When it lapses. */
  readonly expiresAt: number
  readonly status: HoldStatus
  /** What was used. `null` unless it is committed. */
  readonly committed: bigint | null
  /** Whether it had lapsed before it was committed. */
  readonly isLate: boolean
  /** When it was committed, released or lapsed. `null` while it is open. */
  readonly settledAt: number | null
}

/**
 * - `grant`: a grant began. `expire`, `void`: what was left of one is gone.
 * - `consume`: credits were used at once.
 * - `reserve`, `commit`, `release`, `lapse`: a hold keeps credits, uses them, and gives them back.
 * - `repay`: available credits repaid a debt.
 * - `adjust`: a plan grants more or less, because it was changed.
 * - `apply`, `restore`: an invoice was issued that they lower or pay, and it was voided.
 * - `burn`, `restore`: an invoice was issued for usage that burns credits, and they were given back, because it was voided or
 *   because a later invoice states that less was used.
 *
 * An `expire` or a `void` above 0 takes back that credits went unused or were voided: they burn, or a plan that was changed
 * earlier did not grant them.
 */
export type EntryKind =
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

/** A change of an account. Entries are only added. Its amounts are those by which the account changed. */
export interface CreditEntry extends CreditBalance {
  /** By how much what is available of grants with a scope changed. Then `available` is 0. */
  readonly scoped: bigint
  /** 1 for the first of the account, and then one more each. */
  readonly sequence: number
  readonly kind: EntryKind
  /** The grant whose credits they are. `null` for a use that became debt. */
  readonly grantId: string | null
  readonly holdId: string | null
  readonly consumptionId: string | null
  /** The invoice that they lower or pay, or whose usage they were burnt for. */
  readonly invoiceId: string | null
  /** What the credits were used or kept for: the key of a charge or a feature. `null` if nobody said it. */
  readonly purpose: string | null
  /** When it happened. What happens by the clock is written later, with the next operation. */
  readonly at: number
}

/** What an operation looks at. */
export interface CreditLedger {
  readonly account: CreditAccount
  /** All grants that are pending, or have something available or held. */
  readonly grants: ReadonlyArray<CreditGrant>
  /** All open holds that have lapsed by now. */
  readonly holds: ReadonlyArray<CreditHold>
}

/** What an operation changes. */
export interface CreditChange {
  readonly account: CreditAccount
  /** Grants that are new or have changed. */
  readonly grants: ReadonlyArray<CreditGrant>
  /** Holds that are new or have changed. */
  readonly holds: ReadonlyArray<CreditHold>
  /** New entries, in their order. */
  readonly entries: ReadonlyArray<CreditEntry>
}

/** The account of a customer who never had credits. */
export const NO_CREDITS: CreditAccount = {
  available: 0n,
  scoped: 0n,
  held: 0n,
  debt: 0n,
  openHolds: 0,
  sequence: 0,
}

/** Whether a grant pays for something. `null`: nobody says what it is for, so only a grant for anything does. */
export const pays = ({ scope }: Pick<CreditGrant, "scope">, purpose: string | null): boolean =>
  scope === null || (purpose !== null && scope.includes(purpose))

/** By how much what is available of its grant an entry changed, whatever the grant pays for. */
export const availableBy = ({ available, scoped }: Pick<CreditEntry, "available" | "scoped">): bigint =>
  available + scoped

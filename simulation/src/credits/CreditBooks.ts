/**
 * What a run of credits leaves behind: what was asked, what the storage did, in order, and what it has at the end. Checkers
 * see only this.
 */
import type { CommitHold, Event, Tenant } from "@billwright/core"
import type { MemorySnapshot } from "@billwright/memory"

/** A question of a host, or something to do. The ids are those of grants and holds. Instants are epoch milliseconds. */
export type Ask =
  | {
      readonly type: "grant"
      readonly amount: bigint
      readonly priority: number
      readonly effectiveAt: number | null
      readonly expiresAt: number | null
    }
  | { readonly type: "void"; readonly id: string }
  | { readonly type: "consume"; readonly amount: bigint }
  | { readonly type: "reserve"; readonly amount: bigint; readonly ttlSeconds: number }
  | { readonly type: "extend"; readonly id: string; readonly ttlSeconds: number }
  | {
      readonly type: "commit"
      readonly id: string
      readonly amount: bigint
      readonly overdraft: CommitHold.CommitHold["overdraft"] & {}
    }
  | { readonly type: "release"; readonly id: string }
  | { readonly type: "balance" }

/** Something that is asked of an account. It is repeated until the answer is known. */
export interface Command {
  /** Unique in the run. Its idempotency key has it. */
  readonly number: number
  readonly account: string
  readonly ask: Ask
}

/** What the library says: the value that it gives, or the tag of an error. */
export type Outcome =
  | { readonly type: "done"; readonly value: unknown }
  | { readonly type: "refused"; readonly error: { readonly _tag: string; readonly available?: bigint } }

/** What the storage did for a command: a transaction that came to an end, or a read. Lost answers are among them. */
export interface Turn {
  readonly command: Command
  /** The instant at which the operation looked at the account. Clocks may be set back. */
  readonly now: number
  readonly isWritten: boolean
  /** `undefined`: a read whose answer was lost. */
  outcome: Outcome | undefined
}

/** What a host was told in the end. */
export interface Told {
  readonly command: Command
  readonly outcome: Outcome
}

export interface CreditBooks {
  /** In the order of commits. */
  readonly turns: ReadonlyArray<Turn>
  readonly told: ReadonlyArray<Told>
  readonly credits: MemorySnapshot["credits"]
  /** Those of a tenant in the order of their commits. */
  readonly events: ReadonlyArray<{ readonly tenant: Tenant.Tenant; readonly event: Event.Event }>
}

/** The books, and the bugs that fibers died of. */
export interface CreditHistory extends CreditBooks {
  readonly defects: ReadonlyArray<string>
}

/** The name of an account in a run. */
export const accountName = (tenant: Tenant.Tenant, customerId: string, unit: string): string =>
  [tenant.accountId, tenant.mode, customerId, unit].join("/")

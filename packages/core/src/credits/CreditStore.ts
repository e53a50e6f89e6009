/**
 * The storage port for credits.
 */
import type { CreditAccount, CreditBalance } from "@billwright/engine"
import { Context, type Effect, type Option } from "effect"
import type { CustomerId } from "../customers/Customer.ts"
import type { InvoiceId } from "../invoices/Invoice.ts"
import type { CursorNotFound, Page, PageQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type {
  AccountKey,
  CreditEntryId,
  CreditGrantId,
  GrantSource,
  StoredConsumption,
  StoredEntry,
  StoredGrant,
} from "./Credit.ts"
import type { HoldId, StoredHold } from "./Hold.ts"

/** An account, and what an operation on it has to know. */
export interface StoredLedger {
  readonly account: CreditAccount
  /** All grants that are pending, or have something available or held. */
  readonly grants: ReadonlyArray<StoredGrant>
  /** All open holds that lapse at the given instant or before. */
  readonly holds: ReadonlyArray<StoredHold>
  /** The levels that `watch` has set. */
  readonly levels: ReadonlyArray<bigint>
}

/** What is written of an account. */
export interface StoredChange {
  readonly account: CreditAccount
  /** New grants, and those whose `amount`, `steps`, `status`, `expiresAt`, `available` or `held` has changed. */
  readonly grants: ReadonlyArray<StoredGrant>
  /** New holds, and those whose `status`, `expiresAt`, `committed`, `isLate` or `settledAt` has changed. */
  readonly holds: ReadonlyArray<StoredHold>
  /** New entries. */
  readonly entries: ReadonlyArray<StoredEntry>
  /** A new consumption. */
  readonly consumption: StoredConsumption | null
}

/** How an open hold is settled. */
export interface Settling {
  readonly id: HoldId
  readonly status: "committed" | "released"
  /** What was used of a committed one. `null`: all that is held. */
  readonly amount: bigint | null
  readonly settledAt: number
}

/** What is left of a grant. */
type Left = Pick<CreditBalance, "available" | "held">

/** An account as it is stored, and what it consists of, at one moment. */
export interface AccountSums {
  readonly key: AccountKey
  readonly account: CreditAccount
  /** The sum of its entries, their number, and the highest sequence among them: 0 if there are none. */
  readonly entries: CreditBalance & { readonly scoped: bigint; readonly count: number; readonly last: number }
  readonly openHolds: { readonly count: number; readonly amount: bigint }
  /** Its grants that are not the sum of their entries: the first 100, by id. */
  readonly grants: ReadonlyArray<{
    readonly id: CreditGrantId
    readonly stated: Left
    readonly entries: Left
  }>
}

/** Most grants of an account that `CreditStore.audit` gives. */
export const MAX_AUDITED_GRANTS = 100

/** Which grants or holds to list. `undefined` allows any. */
export interface CreditGrantFilter {
  readonly customerId?: CustomerId | undefined
  readonly unit?: string | undefined
}

/** Which entries to list. `undefined` allows any. */
export interface CreditEntryFilter extends CreditGrantFilter {
  readonly grantId?: CreditGrantId | undefined
  readonly invoiceId?: InvoiceId | undefined
  readonly kind?: StoredEntry["kind"] | undefined
  /** Only those that happened then or later, in epoch milliseconds. */
  readonly since?: number | undefined
}

/**
 * Every verb acts for the current tenant only and joins the current transaction, if there is one. Without a transaction,
 * each verb is atomic. Values given out share nothing with what is stored.
 *
 * A storage with constraints should also refuse: an account or a grant with less than 0, both something available and a
 * debt, a grant with more left than was granted (but for plans, which can take back what is held), a second grant of a
 * source, a second grant, consumption or hold of an account with a key, a change of an entry or a consumption.
 */
export class CreditStore extends Context.Service<
  CreditStore,
  {
    /**
     * Locks an account until the end of the transaction, and then reads it: `write` needs that. Makes it if it is `open`
     * and missing. Of a missing one that is not, gives an empty ledger.
     *
     * Of several that lock an account at once, each sees all that those before it have written.
     */
    readonly lock: (
      key: AccountKey,
      now: number,
      mode: "open" | "existing",
    ) => Effect.Effect<StoredLedger, StorageError, CurrentTenant>

    /** Reads an account as it is at one moment, without waiting for anybody. Gives an empty ledger if there is none. */
    readonly read: (key: AccountKey, now: number) => Effect.Effect<StoredLedger, StorageError, CurrentTenant>

    /** Writes a change of an account that the current transaction has locked. */
    readonly write: (
      key: AccountKey,
      change: StoredChange,
    ) => Effect.Effect<void, StorageError, CurrentTenant>

    /**
     * Consumes in one step, where nothing else is to be done: the consumption has no purpose, nothing of the account is due by
     * the clock, no consumption has the key, more than the amount is available, and no level is crossed. Gives what the account has after it. Otherwise it
     * changes nothing, gives `undefined`, and the caller takes the way of `lock` and `write`, which must come to the same
     * rows. Of grants with a scope it uses nothing.
     *
     * `consumption` is the new one, and `entryId` the id of its first entry. A storage that can't do it any quicker has
     * no such verb.
     */
    readonly take?:
      | ((
          consumption: Omit<StoredConsumption, "balance">,
          entryId: CreditEntryId,
        ) => Effect.Effect<CreditBalance | undefined, StorageError, CurrentTenant>)
      | undefined

    /** Sets the levels that are watched of an account, which the current transaction has locked. */
    readonly watch: (
      key: AccountKey,
      levels: ReadonlyArray<bigint>,
    ) => Effect.Effect<void, StorageError, CurrentTenant>
    /**
     * Holds credits in one step, under the same conditions, and if the account has less than `MAX_OPEN_HOLDS` open holds. Gives
     * whether it did. `entryId` is the id of the first entry.
     */
    readonly hold?:
      | ((
          hold: Omit<StoredHold, "slices">,
          entryId: CreditEntryId,
        ) => Effect.Effect<boolean, StorageError, CurrentTenant>)
      | undefined

    /**
     * Settles an open hold in one step, where nothing else is to be done: nothing of the account is due by the clock, it has no
     * debt, the hold covers the amount, and none of its grants has ended, has rolled over or has a scope. Gives the hold. Otherwise it changes nothing, and
     * gives `undefined`. `entryId` is the id of the first entry.
     */
    readonly settle?:
      | ((
          settling: Settling,
          entryId: CreditEntryId,
        ) => Effect.Effect<StoredHold | undefined, StorageError, CurrentTenant>)
      | undefined

    /** The first units in which a customer has accounts, in their order, after the given one, at most `limit`. */
    readonly unitsOf: (
      customerId: CustomerId,
      after: string | undefined,
      limit: number,
    ) => Effect.Effect<ReadonlyArray<string>, StorageError, CurrentTenant>

    readonly findGrant: (
      id: CreditGrantId,
    ) => Effect.Effect<Option.Option<StoredGrant>, StorageError, CurrentTenant>

    readonly findHold: (id: HoldId) => Effect.Effect<Option.Option<StoredHold>, StorageError, CurrentTenant>

    /** The grant of an account that has a key. */
    readonly grantByKey: (
      key: AccountKey,
      idempotencyKey: string,
    ) => Effect.Effect<Option.Option<StoredGrant>, StorageError, CurrentTenant>

    /** The grant of an account that something has made by itself. */
    readonly grantOfSource: (
      key: AccountKey,
      source: GrantSource,
    ) => Effect.Effect<Option.Option<StoredGrant>, StorageError, CurrentTenant>

    /** The hold of an account that has a key. */
    readonly holdByKey: (
      key: AccountKey,
      idempotencyKey: string,
    ) => Effect.Effect<Option.Option<StoredHold>, StorageError, CurrentTenant>

    /** The consumption of an account that has a key. */
    readonly consumptionByKey: (
      key: AccountKey,
      idempotencyKey: string,
    ) => Effect.Effect<Option.Option<StoredConsumption>, StorageError, CurrentTenant>

    /** Newest first. The cursor is the id of a grant. */
    readonly listGrants: (
      filter: CreditGrantFilter,
      page: PageQuery,
    ) => Effect.Effect<Page<StoredGrant>, CursorNotFound | StorageError, CurrentTenant>

    /** Newest first, as they are stored. The cursor is the id of a hold. */
    readonly listHolds: (
      filter: CreditGrantFilter,
      page: PageQuery,
    ) => Effect.Effect<Page<StoredHold>, CursorNotFound | StorageError, CurrentTenant>

    /** Newest first. The cursor is the id of an entry. */
    readonly listEntries: (
      filter: CreditEntryFilter,
      page: PageQuery,
    ) => Effect.Effect<Page<StoredEntry>, CursorNotFound | StorageError, CurrentTenant>

    /**
     * The first accounts by customer and unit, after the given one, at most `limit`. It reads all entries of each, without
     * waiting for anybody.
     */
    readonly audit: (
      after: AccountKey | undefined,
      limit: number,
    ) => Effect.Effect<ReadonlyArray<AccountSums>, StorageError, CurrentTenant>
  }
>()("@billwright/core/credits/CreditStore") {}

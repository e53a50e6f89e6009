/**
 * Migrations of plans, which move the subscriptions of a plan to one of its versions.
 */
import type { CallOptions } from "../Call.ts"
import type { Listing, PageQuery } from "../Listing.ts"

/** `running` until every subscription was looked at, then `completed`. */
export type PlanMigrationStatus = "running" | "completed"

/** What moving subscriptions costs, in a dry run. Amounts are integers of the minor unit of the currency, as texts. */
export interface MigrationAmounts {
  readonly currency: string
  /** The total of what is invoiced at once. */
  readonly now: string
  /** By how much the next invoice rises, with the usage so far. Below 0 when it falls. */
  readonly next: string
}

/** Moves all subscriptions of a plan to one of its versions, in the background, each in a transaction of its own. */
export interface PlanMigration {
  /** `mig_…` */
  readonly id: string
  /** The key of the plan. */
  readonly plan: string
  /** The version whose subscriptions move. `null`: every other version. */
  readonly fromVersion: number | null
  readonly toVersion: number
  /** When each subscription changes. One that has not started changes at once. */
  readonly at: "now" | "period_end"
  /** Nothing is changed, and `amounts` and `differences` say what the migration would cost. */
  readonly dryRun: boolean
  readonly status: PlanMigrationStatus
  /** How many subscriptions were looked at so far, by outcome. */
  readonly counts: { readonly migrated: number; readonly unchanged: number; readonly failed: number }
  /** The first 100 that could not be moved. They stay on their version. */
  readonly failures: ReadonlyArray<{ readonly subscription: string; readonly problem: string }>
  /** What a dry run adds up, for each currency. Otherwise empty. */
  readonly amounts: ReadonlyArray<MigrationAmounts>
  /** What a dry run finds for the first 100 subscriptions that would move. Otherwise empty. */
  readonly differences: ReadonlyArray<MigrationAmounts & { readonly subscription: string }>
  /** The id of the subscription that was looked at last. The newest ones come first. */
  readonly position: string | null
  readonly createdAt: Date
  readonly completedAt: Date | null
}

/** A new migration. */
export interface CreatePlanMigration {
  /** The key of the plan. */
  readonly plan: string
  /** The version whose subscriptions move. Default: every other version. */
  readonly fromVersion?: number | null | undefined
  /** Default: the newest version. */
  readonly toVersion?: number | undefined
  readonly at: "now" | "period_end"
  /** Default: false. */
  readonly dryRun?: boolean | undefined
}

/** Selects migrations, newest first. */
export interface ListPlanMigrations extends PageQuery {
  readonly status?: PlanMigrationStatus | undefined
}

/**
 * A subscription that is paused, or for which a change waits, is not moved, and is listed among the failures. Quantities that
 * wait for the time of the migration are changed together with the plan. Migrating again moves those that are left.
 *
 * Errors: `InvalidInputError`, `PlanNotFoundError`, `PlanMigrationNotFoundError`, `InvoicingUnsupportedError`.
 */
export interface PlanMigrations {
  create(input: CreatePlanMigration, options?: CallOptions): Promise<PlanMigration>
  get(id: string, options?: CallOptions): Promise<PlanMigration>
  /** Deletes a migration. If it is running, it stops. Subscriptions that were moved stay where they are. */
  delete(id: string, options?: CallOptions): Promise<void>
  list(query?: ListPlanMigrations, options?: CallOptions): Listing<PlanMigration>
}

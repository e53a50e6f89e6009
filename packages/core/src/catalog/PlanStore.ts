/**
 * The storage port for plans and their versions.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { CursorNotFound, Page, PageQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { Plan, PlanVersion } from "./Plan.ts"

/** What may change of a plan without a new version. */
export interface RenamedPlan extends Pick<Plan, "key" | "name" | "description"> {
  readonly updatedAt: DateTime.Utc
}

/**
 * Every verb acts for the current tenant only. Writes join the current transaction. No verb changes or removes a
 * version: once it is committed, it stays as it is.
 */
export class PlanStore extends Context.Service<
  PlanStore,
  {
    /**
     * Waits until nobody else holds the tenant's catalogue, then holds it until the current transaction ends. So what
     * the holder reads next stays true until it commits. Call it inside a transaction.
     */
    readonly lock: Effect.Effect<void, StorageError, CurrentTenant>

    /** The plans with these keys, as many as exist, in any order. */
    readonly findAll: (
      keys: ReadonlyArray<string>,
    ) => Effect.Effect<ReadonlyArray<Plan>, StorageError, CurrentTenant>

    /** Newest first. The cursor is the id of a plan. */
    readonly list: (
      page: PageQuery,
    ) => Effect.Effect<Page<Plan>, CursorNotFound | StorageError, CurrentTenant>

    readonly findVersion: (
      key: string,
      version: number,
    ) => Effect.Effect<Option.Option<PlanVersion>, StorageError, CurrentTenant>

    /** The versions of a plan, newest first. None if there is no such plan. The cursor is the id of a version of the plan. */
    readonly listVersions: (
      key: string,
      page: PageQuery,
    ) => Effect.Effect<Page<PlanVersion>, CursorNotFound | StorageError, CurrentTenant>

    /**
     * Stores a plan with its newest version, which was created at `updatedAt`. Version 1 stores a new plan; its key and
     * ids were never used. A later version replaces the plan's fields and must be the successor of the version that is
     * stored. Otherwise it fails with a `StorageError`, and writes nothing.
     */
    readonly publish: (plan: Plan) => Effect.Effect<void, StorageError, CurrentTenant>

    /** Replaces the name and the description of a stored plan. Does nothing if there is no such plan. */
    readonly rename: (plan: RenamedPlan) => Effect.Effect<void, StorageError, CurrentTenant>
  }
>()("@billwright/core/catalog/PlanStore") {}

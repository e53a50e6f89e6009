/**
 * The storage port for all resources without their own port.
 */
import { Context, type Effect, type Option } from "effect"
import type { CursorNotFound, Page, PageQuery } from "./Page.ts"
import type { Definition, IdOf, Resource, ValueOf } from "./Resource.ts"
import type { StorageError } from "./StorageError.ts"
import type { CurrentTenant } from "./Tenant.ts"

/** Which values to list. `undefined` allows any. */
export type CollectionFilter<A> = {
  /** The values that indexed fields must have. */
  readonly [Name in keyof A]?: A[Name] | undefined
} & {
  /**
   * Text that the `Resource.searchText` of values must contain, for a resource that can be searched. At least
   * `MIN_SEARCH_LENGTH` code points, `folded` as `Search` does.
   */
  readonly search?: string | undefined
  /** Only values whose ids were made at this instant or later, in epoch milliseconds. */
  readonly madeFrom?: number | undefined
  /** Only values whose ids were made before this instant, in epoch milliseconds. */
  readonly madeBefore?: number | undefined
}

/** The state of an id. `removed` means that only the id remains. It exists only for resources that keep their ids. */
export type IdStatus = "active" | "removed" | "unknown"

/**
 * The values of one resource.
 *
 * Every verb acts for the current tenant only and joins the current transaction, if there is one. Without a transaction,
 * each verb is atomic. A caller may change the values that it gets; stored values don't change with them.
 */
export interface Collection<A, Id = string> {
  /**
   * Stores a new value. Returns false and stores nothing if another value has the same value in a `unique` field. The
   * caller ensures that its id was never used and that what it belongs to exists: its customer, or its test clock.
   */
  readonly insert: (value: A) => Effect.Effect<boolean, StorageError, CurrentTenant>

  /**
   * Stores new values as `insert` does, in one step. Optional, for resources without a `unique` field: with it, the values of
   * a batch need one statement.
   */
  readonly insertAll?:
    | ((values: ReadonlyArray<A>) => Effect.Effect<void, StorageError, CurrentTenant>)
    | undefined

  readonly find: (id: Id) => Effect.Effect<Option.Option<A>, StorageError, CurrentTenant>

  readonly status: (id: Id) => Effect.Effect<IdStatus, StorageError, CurrentTenant>

  /**
   * Replaces a value by the result of `change`. Returns the new value, or `none` if there is no such value. Nobody else
   * can change the value between the read and the write. When `change` fails, nothing is written.
   *
   * Of an append-only resource (`isAppendOnly`), changing and removing a value fails.
   */
  readonly modify: <E, R>(
    id: Id,
    change: (value: A) => Effect.Effect<A, E, R>,
  ) => Effect.Effect<Option.Option<A>, E | StorageError, CurrentTenant | R>

  /**
   * Removes a value for good, with everything that the storage derived from it. Returns false if there is no such value.
   * Of concurrent removals, one returns true.
   *
   * A value of a resource that keeps its ids (`keepsId`) loses all its fields, and its id becomes `removed`. Removing it
   * again returns true. After the commit, other ports that check the id, such as an append of usage, find it `removed`.
   */
  readonly remove: (id: Id) => Effect.Effect<boolean, StorageError, CurrentTenant>

  /**
   * Newest first. The filter may contain only fields that the resource's definition lists as indexed. The cursor may be
   * an id that is `removed`, so that a removal does not break paging.
   *
   * A page ends early, with `hasMore`, before a value that would make its fields of JSON larger than
   * `Page.MAX_PAGE_BYTES`. It has one value at least, if there is one.
   */
  readonly list: (
    filter: CollectionFilter<A>,
    page: PageQuery,
  ) => Effect.Effect<Page<A>, CursorNotFound | StorageError, CurrentTenant>
}

/** The collection of a resource. */
export type CollectionOf<R> = Collection<ValueOf<R>, IdOf<R>>

export class Collections extends Context.Service<
  Collections,
  {
    /**
     * The collection of a resource, always the same for the same resource. Dies with a `TypeError` if the storage does not
     * know the resource, which is a bug in its adapter.
     */
    readonly of: <D extends Definition>(resource: Resource<D>) => CollectionOf<Resource<D>>
  }
>()("@billwright/core/shared/Collections") {}

/**
 * Where resources are kept: the storage port of all that need no port of their own.
 */
import { Context, type Effect, type Option } from "effect"
import type { CursorNotFound, Page, PageQuery } from "./Page.ts"
import type { Definition, IdOf, Resource, ValueOf } from "./Resource.ts"
import type { StorageError } from "./StorageError.ts"
import type { CurrentTenant } from "./Tenant.ts"

/** Values that the indexed fields of a resource must equal; `undefined`: any. */
export type CollectionFilter<A> = { readonly [Name in keyof A]?: A[Name] | undefined }

/**
 * The values of one resource.
 *
 * Every verb acts for the current tenant alone and joins the current transaction, if there is one; on its own, each is
 * atomic. Values given out are the caller's own.
 */
export interface Collection<A, Id = string> {
  /** Stores a new value. Its id has never been used, and the customer whom it belongs to exists. */
  readonly insert: (value: A) => Effect.Effect<void, StorageError, CurrentTenant>

  readonly find: (id: Id) => Effect.Effect<Option.Option<A>, StorageError, CurrentTenant>

  /**
   * Replaces a value by what `change` makes of it, and gives the new one; `none` when there is none. No other change of
   * the same value happens between reading and writing. When `change` fails, nothing is written.
   */
  readonly modify: <E, R>(
    id: Id,
    change: (value: A) => Effect.Effect<A, E, R>,
  ) => Effect.Effect<Option.Option<A>, E | StorageError, CurrentTenant | R>

  /** Removes a value for good, with what the storage remembers of it. Of several at once, one is told true. */
  readonly remove: (id: Id) => Effect.Effect<boolean, StorageError, CurrentTenant>

  /** Newest first. The filter names fields that the resource says are indexed, and no others. */
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
     * The collection of a resource: the same for the same one. A storage that has no place for the resource dies with a
     * `TypeError`, which is a bug of its adapter.
     */
    readonly of: <D extends Definition>(resource: Resource<D>) => CollectionOf<Resource<D>>
  }
>()("@billwright/core/shared/Collections") {}

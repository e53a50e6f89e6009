/**
 * The `Collections` in memory: a table for each resource.
 */
import {
  type Collection,
  type CollectionOf,
  Collections,
  type Resource,
  StorageError,
} from "@billwright/core"
import { Effect, Exit, Option } from "effect"
import { CollectionTable } from "./CollectionTable.ts"
import type { Journal } from "./Journal.ts"

interface Kept {
  readonly table: CollectionTable<never>
  readonly collection: Collection<never, never>
}

/** The tables of resources, by type. */
export class MemoryCollections {
  readonly #journal: Journal
  readonly #kept = new Map<string, Kept>()

  constructor(journal: Journal) {
    this.#journal = journal
  }

  get service(): Collections["Service"] {
    return Collections.of({
      of: <D extends Resource.Definition>(resource: Resource.Resource<D>) =>
        this.#keep(resource).collection as object as CollectionOf<Resource.Resource<D>>,
    })
  }

  /** The table of a resource. */
  tableOf<A extends { readonly id: string }>(resource: Resource.Definition): CollectionTable<A> {
    return this.#keep(resource).table as object as CollectionTable<A>
  }

  #keep(resource: Resource.Definition): Kept {
    let kept = this.#kept.get(resource.type)
    if (kept === undefined) {
      const table = new CollectionTable<{ readonly id: string }>(this.#journal, resource)
      kept = {
        table: table as object as CollectionTable<never>,
        collection: collectionOf(table, resource, this.#journal) as object as Collection<never, never>,
      }
      this.#kept.set(resource.type, kept)
    }
    return kept
  }
}

const collectionOf = <A extends { readonly id: string }>(
  table: CollectionTable<A>,
  resource: Resource.Definition,
  journal: Journal,
): Collection<A> => {
  const verb = journal.tenantVerb
  const find = (id: string) => verb((tenant) => Exit.succeed(table.find(tenant, id)))
  /** Fails for a value of an append-only resource. */
  const refused = (verbName: string): Exit.Exit<never, StorageError> => {
    const cause = new Error(`a ${resource.noun} is never changed or removed`)
    const operation = `Collections.${verbName}(${resource.type})`
    return Exit.fail(new StorageError({ operation, retryable: false, cause }))
  }
  const isFinal = resource.isAppendOnly === true
  return {
    insert: (value) => verb((tenant) => table.insert(tenant, value)),
    find,
    status: (id) => verb((tenant) => Exit.succeed(table.status(tenant, id))),
    modify: (id, change) =>
      journal.atomically(
        Effect.gen(function* () {
          const found = yield* find(id)
          if (Option.isNone(found)) return Option.none()
          const changed = yield* change(found.value)
          if (isFinal && changed !== found.value) return yield* refused("modify")
          const isThere = yield* verb((tenant) => Exit.succeed(table.replace(tenant, changed)))
          return isThere ? yield* find(id) : Option.none()
        }),
      ),
    remove: (id) =>
      verb((tenant) =>
        isFinal && table.status(tenant, id) !== "unknown"
          ? refused("remove")
          : Exit.succeed(table.remove(tenant, id)),
      ),
    list: (filter, page) => verb((tenant) => table.list(tenant, filter, page)),
  }
}

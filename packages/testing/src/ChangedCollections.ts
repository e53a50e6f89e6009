/**
 * Collections with changed behaviour, for tests of faults.
 */
import type { CollectionOf, Collections, Resource } from "@billwright/core"

/** The same collections, with some methods of one resource replaced. */
export const changedCollections = <D extends Resource.Definition>(
  collections: Collections["Service"],
  resource: Resource.Resource<D>,
  patch: (collection: CollectionOf<Resource.Resource<D>>) => Partial<CollectionOf<Resource.Resource<D>>>,
): Collections["Service"] => ({
  of: (asked) => {
    const collection = collections.of(asked)
    if (asked.type !== resource.type) return collection
    const changed: object = { ...collection, ...patch(collections.of(resource)) }
    return changed as typeof collection
  },
})

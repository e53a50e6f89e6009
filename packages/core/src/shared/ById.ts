/**
 * Looks up things by ids that callers give.
 */
import { Effect, Option, Schema } from "effect"
import type { Definition, IdOf, Resource } from "./Resource.ts"

/** The look-up of one kind of thing by its id. */
export interface ById<Id extends string, E> {
  /** Returns the id. Fails with the not-found error if the text is not a well-formed id. */
  readonly knownId: (id: string) => Effect.Effect<Id, E>
  /** Returns the found thing. Fails with the not-found error if there is none. */
  readonly orNotFound: <A>(found: Option.Option<A>, id: string) => Effect.Effect<A, E>
}

/** Makes the look-up. `isId` checks the form of an id, and `notFound` makes the error for an unknown id. */
export const make = <Id extends string, E>(
  isId: (id: string) => id is Id,
  notFound: (id: string) => E,
): ById<Id, E> => ({
  knownId: (id) => (isId(id) ? Effect.succeed(id) : Effect.fail(notFound(id))),
  orNotFound: (found, id) => (Option.isSome(found) ? Effect.succeed(found.value) : Effect.fail(notFound(id))),
})

/** The lookup of the values of a resource. */
export const of = <D extends Definition>(
  resource: Resource<D>,
): ById<IdOf<Resource<D>> & string, InstanceType<Resource<D>["NotFound"]>> => {
  const isId = Schema.is(resource.id)
  return make(
    (id): id is IdOf<Resource<D>> & string => isId(id),
    (id) => new resource.NotFound({ id }) as InstanceType<Resource<D>["NotFound"]>,
  )
}

/**
 * Looking things up by ids that callers give.
 */
import { Effect, Option } from "effect"

/** How one kind of thing is looked up by its id. */
export interface ById<Id extends string, E> {
  /** The id, if the text is one. A text that is no id is an id that nothing has. */
  readonly knownId: (id: string) => Effect.Effect<Id, E>
  /** What was found, or the error that nothing has this id. */
  readonly orNotFound: <A>(found: Option.Option<A>, id: string) => Effect.Effect<A, E>
}

/** The lookup of things whose ids `isId` knows, with the error of an id that nothing has. */
export const make = <Id extends string, E>(
  isId: (id: string) => id is Id,
  notFound: (id: string) => E,
): ById<Id, E> => ({
  knownId: (id) => (isId(id) ? Effect.succeed(id) : Effect.fail(notFound(id))),
  orNotFound: (found, id) => (Option.isSome(found) ? Effect.succeed(found.value) : Effect.fail(notFound(id))),
})

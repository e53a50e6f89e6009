/**
 * Pages of lists: newest first, by cursors that are ids.
 *
 * The order is total (ids rise with time), so that pages neither skip nor repeat while rows are added.
 */
import { Effect, Schema } from "effect"
import { InvalidInput } from "./InvalidInput.ts"

/** Most items of a page. */
export const MAX_PAGE_LIMIT = 100
/** Items of a page when the caller doesn't say. */
export const DEFAULT_PAGE_LIMIT = 20

const limitMessage = { message: `must be an integer from 1 to ${MAX_PAGE_LIMIT}` }

/** How many items of a page: 1 to 100. Values outside are refused, never clamped. */
export const PageLimit = Schema.Int.annotate(limitMessage).check(
  Schema.isBetween({ minimum: 1, maximum: MAX_PAGE_LIMIT }, limitMessage),
)

/** What page of a list: at most one of the cursors, each the id of an item of that list. */
export interface PageRequest {
  /** 1 to 100, default 20. */
  readonly limit?: number
  /** Items older than the one with this id. */
  readonly startingAfter?: string
  /** The items just newer than the one with this id. */
  readonly endingBefore?: string
}

/** The Schema fields of a `PageRequest`, to be spread into the Schema of a list's query. */
export const pageFields = {
  limit: Schema.optionalKey(PageLimit),
  startingAfter: Schema.optionalKey(Schema.String),
  endingBefore: Schema.optionalKey(Schema.String),
}

/** A page that a store is asked for: the limit is known, the cursors exclude each other. */
export interface PageQuery {
  readonly limit: number
  readonly cursor: { readonly direction: "older" | "newer"; readonly id: string } | undefined
}

/** A page of a list, newest first. `hasMore`: there are further items in the direction of travel. */
export interface Page<A> {
  readonly data: ReadonlyArray<A>
  readonly hasMore: boolean
}

/** A store was given a cursor that is no id of this tenant's items. Services turn it into `InvalidInput`. */
export class CursorNotFound extends Schema.TaggedError<CursorNotFound>()("CursorNotFound", {
  id: Schema.String,
}) {}

/** Checks a page request's cursors and fills in the limit. */
export const toQuery = (request: PageRequest): Effect.Effect<PageQuery, InvalidInput> => {
  const limit = request.limit ?? DEFAULT_PAGE_LIMIT
  const { endingBefore, startingAfter } = request
  if (startingAfter !== undefined && endingBefore !== undefined) {
    return Effect.fail(
      new InvalidInput({ field: "endingBefore", problem: "cannot be combined with the other cursor" }),
    )
  }
  if (startingAfter !== undefined)
    return Effect.succeed({ limit, cursor: { direction: "older", id: startingAfter } })
  if (endingBefore !== undefined)
    return Effect.succeed({ limit, cursor: { direction: "newer", id: endingBefore } })
  return Effect.succeed({ limit, cursor: undefined })
}

/** Names the cursor that a store did not know. */
export const nameCursor =
  (request: PageRequest) =>
  <A, E, R>(
    effect: Effect.Effect<A, E | CursorNotFound, R>,
  ): Effect.Effect<A, Exclude<E, CursorNotFound> | InvalidInput, R> =>
    Effect.catchIf(
      effect,
      (error): error is CursorNotFound & E => error instanceof CursorNotFound,
      () =>
        Effect.fail(
          new InvalidInput({
            field: request.startingAfter === undefined ? "endingBefore" : "startingAfter",
            problem: "is not the id of an item of this list",
          }),
        ),
    ) as Effect.Effect<A, Exclude<E, CursorNotFound> | InvalidInput, R>

/**
 * Pages of lists: newest first, by cursors that are ids.
 *
 * Ids are unique and rise with time. So pages neither skip nor repeat items while rows are added.
 */
import { Effect, Schema, Struct } from "effect"
import { InvalidInput } from "./InvalidInput.ts"

/** Most items of a page. */
export const MAX_PAGE_LIMIT = 100
/** Items of a page when the caller gives no limit. */
export const DEFAULT_PAGE_LIMIT = 20
/**
 * Most bytes of the data in one page that its items may have much of: 4 MiB of UTF-8 JSON. A page that would have more
 * ends early, after at least one item.
 */
export const MAX_PAGE_BYTES = 4_194_304

const limitMessage = { message: `must be an integer from 1 to ${MAX_PAGE_LIMIT}` }

/** The most items to return in a page: 1 to 100. Other values are refused, not clamped. */
export const PageLimit = Schema.Int.annotate(limitMessage).check(
  Schema.isBetween({ minimum: 1, maximum: MAX_PAGE_LIMIT }, limitMessage),
)

/** Which page of a list to read. Give at most one of the two cursors; each is the id of an item of the list. */
export interface PageRequest {
  /** 1 to 100, default 20. */
  readonly limit?: number
  /** Read the items that are older than the one with this id. */
  readonly startingAfter?: string
  /** Read the items that are newer than the one with this id, beginning right after it. */
  readonly endingBefore?: string
}

/** The Schema fields of a `PageRequest`. Spread them into the Schema of a list's query. */
export const pageFields = {
  limit: Schema.optionalKey(PageLimit),
  startingAfter: Schema.optionalKey(Schema.String),
  endingBefore: Schema.optionalKey(Schema.String),
}

/** The page that a store is asked for: a limit, and at most one cursor. */
export interface PageQuery {
  readonly limit: number
  readonly cursor: { readonly direction: "older" | "newer"; readonly id: string } | undefined
}

/**
 * A page of a list, newest first. `hasMore` says whether the list goes on beyond the page: with `endingBefore` to newer
 * items, otherwise to older ones.
 */
export interface Page<A> {
  readonly data: ReadonlyArray<A>
  readonly hasMore: boolean
}

/** The cursor given to a store is not the id of one of this tenant's items. Services turn it into `InvalidInput`. */
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

/** The fields of a list's query that are not about pages: what the list is filtered by. */
export const filterOf = <A extends PageRequest>(request: A): Omit<A, keyof PageRequest> =>
  Struct.omit(request, ["limit", "startingAfter", "endingBefore"])

/** Turns `CursorNotFound` of a store into `InvalidInput` that names the cursor's field. */
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

/** How many of these items fit in one page by their bytes: at least one, if there is one. */
export const countWithinBytes = <A>(items: ReadonlyArray<A>, bytesOf: (item: A) => number): number => {
  let bytes = 0
  for (const [index, item] of items.entries()) {
    bytes += bytesOf(item)
    if (bytes > MAX_PAGE_BYTES && index > 0) return index
  }
  return items.length
}

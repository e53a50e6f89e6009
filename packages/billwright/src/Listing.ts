/**
 * Lists: newest first, a page at a time or all of it by iteration.
 */

/** One page of a list, newest first. */
export interface Page<A> {
  readonly data: ReadonlyArray<A>
  /** Whether further items follow in the direction of travel. */
  readonly hasMore: boolean
}

/** Which page. At most one of the cursors. */
export interface PageQuery {
  /** Items of a page: 1 to 100. Default 20, and 100 when the list is iterated over. */
  readonly limit?: number | undefined
  /** Items older than the one with this id. */
  readonly startingAfter?: string | undefined
  /** The items just newer than the one with this id. For `page()` alone. */
  readonly endingBefore?: string | undefined
}

/**
 * A list. Nothing is read before it is used:
 *
 * ```ts
 * for await (const customer of billing.customers.list()) …   // all of them, newest first
 * const { data, hasMore } = await billing.customers.list({ limit: 10 }).page()
 * ```
 *
 * Iteration reads page after page; items that are added meanwhile make it neither skip nor repeat any.
 */
export interface Listing<A> extends AsyncIterable<A> {
  /** The page that the query asks for. */
  page(): Promise<Page<A>>
}

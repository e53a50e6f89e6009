/**
 * Lists, newest first: read one page, or iterate over all items.
 */

/** One page of a list, newest first. */
export interface Page<A> {
  readonly data: ReadonlyArray<A>
  /** Whether there are more items after this page: older ones, or newer ones with `endingBefore`. */
  readonly hasMore: boolean
}

/** Selects a page. Give at most one of the two cursors. */
export interface PageQuery {
  /** The number of items in a page: 1 to 100. Default 20, or 100 when you iterate over the list. */
  readonly limit?: number | undefined
  /** Items older than the one with this id. */
  readonly startingAfter?: string | undefined
  /** The items just newer than the one with this id. Only for `page()`, not for iteration. */
  readonly endingBefore?: string | undefined
}

/**
 * A list. Nothing is read until you use it:
 *
 * ```ts
 * for await (const customer of billing.customers.list()) …   // all of them, newest first
 * const { data, hasMore } = await billing.customers.list({ limit: 10 }).page()
 * ```
 *
 * Iteration reads one page after another. Items that are added meanwhile don't cause it to skip or repeat items.
 */
export interface Listing<A> extends AsyncIterable<A> {
  /** The page that the query asks for. */
  page(): Promise<Page<A>>
}

/**
 * Lists over calls that give a page.
 */
import { InvalidInputError } from "../errors/BillingError.ts"
import type { Listing, Page, PageQuery } from "../Listing.ts"

/** Items of a page when a list is iterated over, and the caller doesn't say. */
const ITERATION_LIMIT = 100

/** `fetch` gives the page of a query. */
export const makeListing = <Query extends PageQuery, A extends { readonly id: string }>(
  query: Query | undefined,
  fetch: (query: Query) => Promise<Page<A>>,
): Listing<A> => ({
  page: () => fetch(query ?? ({} as Query)),
  async *[Symbol.asyncIterator]() {
    if (query?.endingBefore !== undefined) {
      throw new InvalidInputError("endingBefore", "is for page(): iteration goes from new to old")
    }
    let startingAfter = query?.startingAfter
    for (;;) {
      const next = { ...query, limit: query?.limit ?? ITERATION_LIMIT, startingAfter } as Query
      const { data, hasMore } = await fetch(next)
      yield* data
      startingAfter = data.at(-1)?.id
      if (!hasMore || startingAfter === undefined) return
    }
  },
})

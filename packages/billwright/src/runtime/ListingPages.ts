/**
 * Makes lists from calls that return one page.
 */
import { InvalidInputError } from "../errors/BillingError.ts"
import type { Listing, Page, PageQuery } from "../Listing.ts"

/** The page size of an iteration when the caller gives no limit. */
const ITERATION_LIMIT = 100

/** `fetch` returns the page that a query selects. */
export const makeListing = <Query extends PageQuery, A extends { readonly id: string }>(
  query: Query | undefined,
  fetch: (query: Query) => Promise<Page<A>>,
): Listing<A> => ({
  page: () => fetch(query ?? ({} as Query)),
  async *[Symbol.asyncIterator]() {
    if (query?.endingBefore !== undefined) {
      throw new InvalidInputError(
        "endingBefore",
        "can't be used in an iteration, which goes from new to old: use page()",
      )
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

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
    const after = async (startingAfter: string | undefined) =>
      fetch({ ...query, limit: query?.limit ?? ITERATION_LIMIT, startingAfter } as Query)
    let page = await after(query?.startingAfter)
    for (;;) {
      const last = page.data.at(-1)
      if (last === undefined) return
      yield* page.data.slice(0, -1)
      // The last item is the cursor of the next page, which is read first: the caller may delete each item it gets.
      const [next] = page.hasMore ? await Promise.allSettled([after(last.id)]) : []
      yield last
      if (next === undefined) return
      if (next.status === "rejected") throw next.reason
      page = next.value
    }
  },
})

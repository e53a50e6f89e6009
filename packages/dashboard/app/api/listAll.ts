/**
 * Lists that are read to their end, up to a limit.
 */
import { PAGE_LIMIT } from "./Queries.ts"
import type { ListPage } from "./Types.ts"

export interface Listed<A> {
  readonly items: ReadonlyArray<A>
  /** Whether there are more items, which were not read. */
  readonly isCut: boolean
}

interface PageQuery {
  readonly limit: number
  readonly starting_after: string | undefined
}

/** Reads at most this many pages. */
export const listAll = async <A extends { readonly id: string }>(
  maxPages: number,
  fetchPage: (query: PageQuery) => Promise<ListPage<A>>,
): Promise<Listed<A>> => {
  const items: Array<A> = []
  for (let page = 0; page < maxPages; page++) {
    const { data, has_more: hasMore } = await fetchPage({
      limit: PAGE_LIMIT,
      starting_after: items.at(-1)?.id,
    })
    items.push(...data)
    if (!hasMore) return { items, isCut: false }
  }
  return { items, isCut: true }
}

/**
 * A list that gets new items at its beginning while it is shown.
 */
import type { ListPage } from "./Types.ts"

/** The loaded pages, newest first. */
export interface Pages<A> {
  readonly pages: ReadonlyArray<ListPage<A>>
  readonly pageParams: ReadonlyArray<string | undefined>
}

interface Identified {
  readonly id: string
}

/** The items of all pages in order. */
export const items = <A>({ pages }: Pick<Pages<A>, "pages">): ReadonlyArray<A> =>
  pages.flatMap(({ data }) => data)

const startOver = <A>(head: ListPage<A>): Pages<A> => ({ pages: [head], pageParams: [undefined] })

/** Items as pages of a size, so that each of them can be loaded again. */
const pagesOf = <A>(rows: ReadonlyArray<A>, size: number, hasMore: boolean): ReadonlyArray<ListPage<A>> =>
  Array.from({ length: Math.ceil(rows.length / size) }, (_, page) => {
    const data = rows.slice(page * size, (page + 1) * size)
    return { data, has_more: hasMore || (page + 1) * size < rows.length }
  })

/**
 * Merges the current newest page into the list: new items go before the rest, and changed items are replaced.
 *
 * Items that are missing in the newest page, because they no longer match a filter, are removed. When there are more new
 * items than a page holds, the items in between are unknown, so the list starts again with this page.
 */
export const takeIn = <A extends Identified>(list: Pages<A>, head: ListPage<A>): Pages<A> => {
  const known = items(list)
  const oldest = head.data.at(-1)
  if (oldest === undefined || !head.has_more) return startOver(head)
  const at = known.findIndex(({ id }) => id === oldest.id)
  if (at === -1) return startOver(head)
  const rest = known.slice(at + 1)
  if (rest.length === 0) return startOver(head)
  const hasMore = list.pages.at(-1)?.has_more ?? false
  const pages = [head, ...pagesOf(rest, head.data.length, hasMore)]
  return { pages, pageParams: pages.map((_, page) => pages[page - 1]?.data.at(-1)?.id) }
}

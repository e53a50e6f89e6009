/**
 * A list that grows at its beginning while somebody reads it.
 */
import type { ListPage } from "./Types.ts"

/** Pages as they were loaded, newest first. */
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

/**
 * Takes in the list's newest page as it is now: what is new goes before the rest, what changed is replaced.
 *
 * What left the newest page because it no longer passes a filter goes, too. When more came than a page holds, the
 * items in between are not known, and the list starts over.
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
  return { pages: [head, { data: rest, has_more: hasMore }], pageParams: [undefined, oldest.id] }
}

/**
 * A list that is loaded page by page, and whose beginning is kept up to date.
 */
import { type InfiniteData, useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query"
import { useEffect, useMemo } from "react"
import * as LiveList from "./LiveList.ts"
import { LIVE_MILLIS, PAGE_LIMIT } from "./Queries.ts"
import type { ListPage } from "./Types.ts"

interface PageQuery {
  readonly limit: number
  readonly starting_after?: string | undefined
}

export interface LiveListOptions<A> {
  /** The cache key of the list, with its filters. The first word is its area, all of which is loaded again after an action. */
  readonly key: readonly [area: string, ...rest: ReadonlyArray<unknown>]
  readonly fetchPage: (query: PageQuery, signal: AbortSignal) => Promise<ListPage<A>>
  readonly isLive?: boolean
}

export interface LiveListState<A> {
  readonly rows: ReadonlyArray<A>
  readonly hasMore: boolean
  readonly isLoading: boolean
  readonly isLoadingMore: boolean
  readonly error: unknown
  readonly loadMore: () => void
  readonly retry: () => void
}

const NONE: ReadonlyArray<never> = []

export const useLiveList = <A extends { readonly id: string }>(
  options: LiveListOptions<A>,
): LiveListState<A> => {
  const { fetchPage, isLive = true, key } = options
  const queries = useQueryClient()
  const pagesKey = useMemo(() => [key[0], "pages", ...key.slice(1)], [JSON.stringify(key)])
  const pages = useInfiniteQuery({
    queryKey: pagesKey,
    queryFn: ({ pageParam, signal }) => fetchPage({ limit: PAGE_LIMIT, starting_after: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last: ListPage<A>) => (last.has_more ? last.data.at(-1)?.id : undefined),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const head = useQuery({
    queryKey: [key[0], "head", ...key.slice(1)],
    queryFn: ({ signal }) => fetchPage({ limit: PAGE_LIMIT }, signal),
    enabled: pages.isSuccess,
    refetchInterval: isLive ? LIVE_MILLIS : false,
  })
  // While pages are loading, nothing is merged into them: they would replace it. An older newest page isn't merged either.
  const isMerging = head.isSuccess && !head.isFetching && !pages.isFetching
  useEffect(() => {
    const newest = head.data
    if (newest === undefined || !isMerging) return
    queries.setQueryData<InfiniteData<ListPage<A>, string | undefined>>(pagesKey, (known) => {
      if (known === undefined) return known
      const { pageParams, pages } = LiveList.takeIn(known, newest)
      return { pages: [...pages], pageParams: [...pageParams] }
    })
  }, [head.data, isMerging, pagesKey, queries])
  const rows = useMemo(() => (pages.data === undefined ? NONE : LiveList.items(pages.data)), [pages.data])
  return {
    rows,
    hasMore: pages.hasNextPage,
    isLoading: pages.isPending,
    isLoadingMore: pages.isFetchingNextPage,
    error: pages.error ?? head.error,
    loadMore: () => void (pages.hasNextPage && !pages.isFetching && pages.fetchNextPage()),
    retry: () => void (pages.isError ? pages.refetch() : head.refetch()),
  }
}

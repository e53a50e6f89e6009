import { useInfiniteQuery } from "@tanstack/react-query"
import * as Quantity from "../Quantity.ts"
import { useSession } from "../session/Session.tsx"
import { ErrorNotice } from "../ui/ErrorNotice.tsx"
import { Skeleton } from "../ui/Loading.tsx"
import { Time } from "../ui/Time.tsx"
import { Dimensions } from "../usage/Dimensions.tsx"

const PAGE = 20

const useRecords = (invoiceId: string, line: string) => {
  const { client } = useSession()
  return useInfiniteQuery({
    queryKey: ["invoices", "records", invoiceId, line],
    queryFn: ({ pageParam, signal }) =>
      client.call("get", "/v1/invoices/{id}/lines/{line}/records", {
        path: { id: invoiceId, line },
        query: { limit: PAGE, starting_after: pageParam },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => (last.has_more ? last.data.at(-1)?.id : undefined),
  })
}

/** The usage records behind a line, newest first. */
export const LineRecords = ({ invoiceId, line }: { readonly invoiceId: string; readonly line: string }) => {
  const query = useRecords(invoiceId, line)
  if (query.isError) return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />
  if (query.data === undefined) return <Skeleton lines={3} />
  const records = query.data.pages.flatMap(({ data }) => data)
  if (records.length === 0) return <p className="muted">There are no records.</p>
  return (
    <>
      <ul aria-label="Records" className="lines small-lines">
        {records.map(({ dimensions, id, quantity, timestamp, unit }) => (
          <li className="line" key={id}>
            <span className="strong">
              {Quantity.format(quantity)} <span className="muted">{unit}</span>
            </span>
            <span className="grow clip">
              <Dimensions dimensions={dimensions} />
            </span>
            <Time at={timestamp} />
          </li>
        ))}
      </ul>
      {query.hasNextPage && (
        <button
          className="button small"
          disabled={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
          type="button"
        >
          {query.isFetchingNextPage ? "Loading…" : "More records"}
        </button>
      )}
    </>
  )
}

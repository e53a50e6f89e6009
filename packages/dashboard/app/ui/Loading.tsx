import type { UseQueryResult } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { ErrorNotice } from "./ErrorNotice.tsx"

/** Placeholder lines while text is loading. */
export const Skeleton = ({ lines = 4 }: { readonly lines?: number }) => (
  <div aria-busy="true" aria-label="Loading" className="skeleton" role="status">
    {Array.from({ length: lines }, (_, line) => (
      <span key={line} />
    ))}
  </div>
)

/** Shows loaded data. Old data stays while it is loaded again. */
export const Loaded = <A,>({
  children,
  lines = 4,
  query,
}: {
  readonly query: UseQueryResult<A>
  readonly lines?: number
  readonly children: (data: A) => ReactNode
}) => {
  if (query.data !== undefined) return children(query.data)
  if (query.isError) return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />
  return <Skeleton lines={lines} />
}

import { Link } from "wouter"
import * as Queries from "../api/Queries.ts"
import { shortId } from "../ui/Identifier.tsx"
import { Url } from "../ui/Url.tsx"

/** The URL of an endpoint, or its id if the endpoint was deleted. */
export const EndpointName = ({
  className,
  id,
  isOneLine = false,
}: {
  readonly id: string
  readonly className?: string
  /** Whether it is cut to one line. The path is cut last. */
  readonly isOneLine?: boolean
}) => {
  const endpoint = Queries.useEndpoints().data?.find((each) => each.id === id)
  return (
    <Link className={className} href={`/endpoints/${id}`} title={endpoint?.url ?? id}>
      {isOneLine && endpoint !== undefined ? <Url url={endpoint.url} /> : (endpoint?.url ?? shortId(id))}
    </Link>
  )
}

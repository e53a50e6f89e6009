import { Link } from "wouter"
import * as Queries from "../api/Queries.ts"
import { shortId } from "../ui/Identifier.tsx"
import { Url } from "../ui/Url.tsx"

/** The address of an endpoint by its id; the id where it is gone. */
export const EndpointName = ({
  className,
  id,
  isOneLine = false,
}: {
  readonly id: string
  readonly className?: string
  /** Cut where there is no room for all of it, its path last. */
  readonly isOneLine?: boolean
}) => {
  const endpoint = Queries.useEndpoints().data?.find((each) => each.id === id)
  return (
    <Link className={className} href={`/endpoints/${id}`} title={endpoint?.url ?? id}>
      {isOneLine && endpoint !== undefined ? <Url url={endpoint.url} /> : (endpoint?.url ?? shortId(id))}
    </Link>
  )
}

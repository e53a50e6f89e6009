import { Link } from "wouter"
import * as Queries from "../api/Queries.ts"
import { shortId } from "../ui/Identifier.tsx"

/** The address of an endpoint by its id; the id where it is gone. */
export const EndpointName = ({ className, id }: { readonly id: string; readonly className?: string }) => {
  const endpoint = Queries.useEndpoints().data?.find((each) => each.id === id)
  return (
    <Link className={className} href={`/endpoints/${id}`} title={endpoint?.url ?? id}>
      {endpoint?.url ?? shortId(id)}
    </Link>
  )
}

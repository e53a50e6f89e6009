import { Link } from "wouter"
import * as Queries from "../api/Queries.ts"
import { shortId } from "../ui/Identifier.tsx"

/** A link to a customer with the name, or with the end of the id while the name is loading or after it was erased. */
export const CustomerName = ({ className, id }: { readonly id: string; readonly className?: string }) => {
  const name = Queries.useCustomerName(id)
  return (
    <Link className={className} href={`/customers/${id}`} title={id}>
      {name ?? <code>{shortId(id)}</code>}
    </Link>
  )
}

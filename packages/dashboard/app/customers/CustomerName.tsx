import { Link } from "wouter"
import * as Queries from "../api/Queries.ts"
import { shortId } from "../ui/Identifier.tsx"

/**
 * A link to a customer with the name, or with the end of the id while the name is loading or after it was erased.
 * `isPlain`: only the text.
 */
export const CustomerName = ({
  className,
  id,
  isPlain = false,
}: {
  readonly id: string
  readonly className?: string
  readonly isPlain?: boolean
}) => {
  const name = Queries.useCustomerName(id)
  const shown = name ?? <code>{shortId(id)}</code>
  if (isPlain) return shown
  return (
    <Link className={className} href={`/customers/${id}`} title={id}>
      {shown}
    </Link>
  )
}

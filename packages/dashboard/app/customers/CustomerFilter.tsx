import * as Queries from "../api/Queries.ts"
import { type Filters, PickFilter } from "../ui/Filters.tsx"
import { shortId } from "../ui/Identifier.tsx"
import { CustomerPicker } from "./CustomerPicker.tsx"

/** Filters by a customer, who is chosen by name. */
export const CustomerFilter = ({ filters, name }: { readonly filters: Filters; readonly name: string }) => {
  const id = filters.get(name)
  const known = Queries.useCustomerName(id)
  return (
    <PickFilter
      filters={filters}
      label="Customer"
      name={name}
      picker={({ onClose, onPick }) => <CustomerPicker onClose={onClose} onPick={onPick} />}
      shown={known ?? (id === undefined ? undefined : shortId(id))}
    />
  )
}

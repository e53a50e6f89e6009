import { useCustomerZone } from "../api/Queries.ts"
import { ZonedDay } from "../ui/Period.tsx"

/** The day by which an invoice has to be paid: a day of the customer. */
export const DueDay = ({ at, customerId }: { readonly at: string; readonly customerId: string }) => (
  <ZonedDay at={at} zone={useCustomerZone(customerId)} />
)

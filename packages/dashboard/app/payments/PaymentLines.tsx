import { useQuery } from "@tanstack/react-query"
import { Link } from "wouter"
import type { Payment } from "../api/Types.ts"
import { useSession } from "../session/Session.tsx"
import { CutNote } from "../ui/CutNote.tsx"
import { Loaded } from "../ui/Loading.tsx"
import { Amount } from "../ui/Money.tsx"
import { Time } from "../ui/Time.tsx"
import { PaymentBadge } from "./PaymentBadge.tsx"

const REFRESH_MILLIS = 5_000

interface Which {
  readonly customer_id?: string
  readonly invoice_id?: string
  readonly limit: number
}

/** The newest payments of a customer or of an invoice. */
const usePayments = (query: Which) => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["payments", "newest", query],
    queryFn: ({ signal }) => client.call("get", "/v1/payments", { query: { ...query }, signal }),
    refetchInterval: REFRESH_MILLIS,
  })
}

const PaymentLine = ({ payment }: { readonly payment: Payment }) => (
  <li className="line linked">
    <span className="line-state wide">
      <PaymentBadge payment={payment} />
    </span>
    <span className="grow two-lines">
      <Link className="row-link clip" href={`/payments/${payment.id}`}>
        {payment.provider === "manual" ? "Recorded" : `By ${payment.provider}`}
      </Link>
      {payment.attention !== null && <span className="muted clip">{payment.attention.message}</span>}
    </span>
    <Amount amount={payment.amount} currency={payment.currency} />
    <Time at={payment.paid_at ?? payment.created_at} />
  </li>
)

/** Some payments, each as one line. */
const PaymentRows = ({
  empty,
  payments,
}: {
  readonly payments: ReadonlyArray<Payment>
  readonly empty: string
}) =>
  payments.length === 0 ? (
    <p className="muted">{empty}</p>
  ) : (
    <ul className="lines">
      {payments.map((payment) => (
        <PaymentLine key={payment.id} payment={payment} />
      ))}
    </ul>
  )

export const PaymentLines = ({
  empty,
  isAll = false,
  which,
}: {
  readonly which: Which
  readonly empty: string
  /** Whether they are taken for all there are. Then it is said if they aren't. */
  readonly isAll?: boolean
}) => (
  <Loaded lines={2} query={usePayments(which)}>
    {({ data, has_more: isCut }) => (
      <>
        <PaymentRows empty={empty} payments={data} />
        <CutNote count={data.length} isCut={isAll && isCut} />
      </>
    )}
  </Loaded>
)

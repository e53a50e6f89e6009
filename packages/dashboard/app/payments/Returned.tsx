/**
 * What went back to customers: refunds, and disputes.
 */
import { useQuery, type UseQueryResult } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { Link } from "wouter"
import { PAGE_LIMIT } from "../api/Queries.ts"
import type { Dispute, ListPage, Refund } from "../api/Types.ts"
import { CustomerName } from "../customers/CustomerName.tsx"
import { useSession } from "../session/Session.tsx"
import { CutNote } from "../ui/CutNote.tsx"
import { Amount } from "../ui/Money.tsx"
import { REASONS } from "../ui/ReasonField.tsx"
import { StateBadge } from "../ui/StateBadge.tsx"
import { Time } from "../ui/Time.tsx"
import { DISPUTES, REFUNDS } from "./PaymentStates.ts"

/** A payment has at most as many refunds. */
const SHOWN = PAGE_LIMIT
/** How often both are loaded again: a provider may take days, and answers when it wants. */
const REFRESH_MILLIS = 5_000

interface Which<S> {
  readonly payment_id?: string
  readonly customer_id?: string
  readonly status?: S
}

export const useRefunds = (
  which: Which<Refund["status"]>,
  isEnabled = true,
): UseQueryResult<ListPage<Refund>> => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["payments", "refunds", which],
    queryFn: ({ signal }) => client.call("get", "/v1/refunds", { query: { ...which, limit: SHOWN }, signal }),
    refetchInterval: REFRESH_MILLIS,
    enabled: isEnabled,
  })
}

export const useDisputes = (
  which: Which<Dispute["status"]>,
  isEnabled = true,
): UseQueryResult<ListPage<Dispute>> => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["payments", "disputes", which],
    queryFn: ({ signal }) =>
      client.call("get", "/v1/disputes", { query: { ...which, limit: SHOWN }, signal }),
    refetchInterval: REFRESH_MILLIS,
    enabled: isEnabled,
  })
}

const refundText = ({ failure_code: code, reason, reversed }: Refund): string =>
  [REASONS[reason], code === null ? "" : `failed: ${code}`, BigInt(reversed) > 0n ? "came back" : ""]
    .filter((part) => part !== "")
    .join(" · ")

const RefundLine = ({ refund }: { readonly refund: Refund }) => (
  <li className="line linked">
    <span className="line-state wide">
      <StateBadge tone={REFUNDS[refund.status][0]} word={REFUNDS[refund.status][1]} />
    </span>
    <span className="grow two-lines">
      <Link className="row-link clip" href={`/payments/${refund.payment_id}`}>
        Refund to <CustomerName id={refund.customer_id} isPlain />
      </Link>
      <span className="muted">{refundText(refund)}</span>
    </span>
    <Amount amount={refund.amount} currency={refund.currency} />
    <Time at={refund.created_at} />
  </li>
)

const DisputeLine = ({ dispute }: { readonly dispute: Dispute }) => (
  <li className="line linked">
    <span className="line-state wide">
      <StateBadge tone={DISPUTES[dispute.status][0]} word={DISPUTES[dispute.status][1]} />
    </span>
    <span className="grow two-lines">
      <Link className="row-link clip" href={`/payments/${dispute.payment_id}`}>
        Dispute of <CustomerName id={dispute.customer_id} isPlain />
      </Link>
      <span className="muted">
        {dispute.reason.replaceAll("_", " ")}
        {dispute.status === "open" && dispute.respond_by !== null && (
          <>
            {" · answer the bank by "}
            <Time at={dispute.respond_by} />
          </>
        )}
      </span>
    </span>
    <Amount amount={dispute.amount} currency={dispute.currency} />
    <Time at={dispute.created_at} />
  </li>
)

interface LinesProps<A> {
  readonly page: ListPage<A>
  /** Said when there are none. */
  readonly empty: string
}

const Lines = <A extends { readonly id: string }>({
  children,
  empty,
  page: { data, has_more: isCut },
}: LinesProps<A> & { readonly children: (item: A) => ReactNode }) => (
  <>
    {data.length === 0 ? <p className="muted">{empty}</p> : <ul className="lines">{data.map(children)}</ul>}
    <CutNote count={data.length} isCut={isCut} />
  </>
)

export const RefundLines = (props: LinesProps<Refund>) => (
  <Lines {...props}>{(refund) => <RefundLine key={refund.id} refund={refund} />}</Lines>
)

export const DisputeLines = (props: LinesProps<Dispute>) => (
  <Lines {...props}>{(dispute) => <DisputeLine dispute={dispute} key={dispute.id} />}</Lines>
)

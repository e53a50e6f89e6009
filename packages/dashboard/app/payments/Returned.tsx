/**
 * What went back to customers: refunds, and disputes.
 */
import { useQuery, type UseQueryResult } from "@tanstack/react-query"
import { Link } from "wouter"
import type { Dispute, ListPage, Refund } from "../api/Types.ts"
import { CustomerName } from "../customers/CustomerName.tsx"
import { useSession } from "../session/Session.tsx"
import { Amount } from "../ui/Money.tsx"
import { REASONS } from "../ui/ReasonField.tsx"
import { StateBadge } from "../ui/StateBadge.tsx"
import { Time } from "../ui/Time.tsx"
import { DISPUTES, REFUNDS } from "./PaymentStates.ts"

/** The most that is shown of each. */
const SHOWN = 50

interface Which<S> {
  readonly payment_id?: string
  readonly customer_id?: string
  readonly status?: S
}

export const useRefunds = (which: Which<Refund["status"]>): UseQueryResult<ListPage<Refund>> => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["payments", "refunds", which],
    queryFn: ({ signal }) => client.call("get", "/v1/refunds", { query: { ...which, limit: SHOWN }, signal }),
  })
}

export const useDisputes = (which: Which<Dispute["status"]>): UseQueryResult<ListPage<Dispute>> => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["payments", "disputes", which],
    queryFn: ({ signal }) =>
      client.call("get", "/v1/disputes", { query: { ...which, limit: SHOWN }, signal }),
  })
}

const refundText = ({ failure_code: code, reason, reversed }: Refund): string =>
  [REASONS[reason], code === null ? "" : `failed: ${code}`, BigInt(reversed) > 0n ? "came back" : ""]
    .filter((part) => part !== "")
    .join(" · ")

export const RefundLines = ({ refunds }: { readonly refunds: ReadonlyArray<Refund> }) => (
  <ul className="lines">
    {refunds.map((refund) => (
      <li className="line linked" key={refund.id}>
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
    ))}
  </ul>
)

export const DisputeLines = ({ disputes }: { readonly disputes: ReadonlyArray<Dispute> }) => (
  <ul className="lines">
    {disputes.map((dispute) => (
      <li className="line linked" key={dispute.id}>
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
    ))}
  </ul>
)

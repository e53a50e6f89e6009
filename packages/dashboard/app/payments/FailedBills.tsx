/** Subscriptions and draft invoices whose last billing run failed, newest first. */
import { useQuery } from "@tanstack/react-query"
import { Link } from "wouter"
import { PAGE_LIMIT } from "../api/Queries.ts"
import type { Invoice, Subscription } from "../api/Types.ts"
import { CustomerName } from "../customers/CustomerName.tsx"
import { useSession } from "../session/Session.tsx"
import { planText } from "../subscriptions/SubscriptionStates.ts"
import { CutNote } from "../ui/CutNote.tsx"
import { Loaded } from "../ui/Loading.tsx"
import { Time } from "../ui/Time.tsx"

const REFRESH_MILLIS = 10_000
const QUERY = { failure: "any", limit: PAGE_LIMIT } as const

const useFailedBills = () => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["failed-bills"],
    queryFn: async ({ signal }) => {
      const [subscriptions, invoices] = await Promise.all([
        client.call("get", "/v1/subscriptions", { query: QUERY, signal }),
        client.call("get", "/v1/invoices", { query: QUERY, signal }),
      ])
      return { subscriptions, invoices }
    },
    refetchInterval: REFRESH_MILLIS,
  })
}

const FailedLine = ({
  href,
  name,
  of: { customer_id: customerId, failure },
}: {
  readonly href: string
  readonly name: string
  readonly of: Invoice | Subscription
}) => (
  <li className="line linked">
    <span className="grow two-lines">
      <span>
        <Link className="row-link" href={href}>
          {name}
        </Link>{" "}
        of <CustomerName id={customerId} isPlain />
      </span>
      <span className="muted">{failure?.problem}</span>
    </span>
    {failure !== null && (
      <span className="muted">
        {failure.retry_at === null ? (
          "Not tried again"
        ) : (
          <>
            Tried again <Time at={failure.retry_at} />
          </>
        )}
      </span>
    )}
  </li>
)

export const FailedBills = () => (
  <Loaded lines={2} query={useFailedBills()}>
    {({ invoices, subscriptions }) =>
      invoices.data.length + subscriptions.data.length === 0 ? (
        <p className="muted">None.</p>
      ) : (
        <>
          <ul className="lines">
            {subscriptions.data.map((one) => (
              <FailedLine href={`/subscriptions/${one.id}`} key={one.id} name={planText(one.plan)} of={one} />
            ))}
            {invoices.data.map((one) => (
              <FailedLine
                href={`/invoices/${one.id}`}
                key={one.id}
                name={`Invoice ${one.number ?? "draft"}`}
                of={one}
              />
            ))}
          </ul>
          <CutNote count={PAGE_LIMIT} isCut={invoices.has_more || subscriptions.has_more}>
            {" of each"}
          </CutNote>
        </>
      )
    }
  </Loaded>
)

import { useState } from "react"
import { Link } from "wouter"
import { CustomerName } from "../customers/CustomerName.tsx"
import { planText } from "../subscriptions/SubscriptionStates.ts"
import { Loaded } from "../ui/Loading.tsx"
import { Amount } from "../ui/Money.tsx"
import { MAX_LISTED, type UnbilledUsage as Usage, useUnbilledUsage } from "./useMoney.ts"

const UsageLines = ({ usages }: { readonly usages: ReadonlyArray<Usage> }) => (
  <ul className="lines">
    {usages.map(({ amount, subscription }) => (
      <li className="line linked" key={subscription.id}>
        <span className="grow two-lines">
          <Link className="row-link clip" href={`/subscriptions/${subscription.id}`}>
            <CustomerName id={subscription.customer_id} isPlain />
          </Link>
          <span className="muted clip">{planText(subscription.plan)}</span>
        </span>
        <Amount amount={amount} currency={subscription.currency} />
      </li>
    ))}
  </ul>
)

const Totals = ({ byCurrency }: { readonly byCurrency: ReadonlyMap<string, bigint> }) => (
  <dl aria-label="Usage together" className="sums">
    {[...byCurrency].toSorted().map(([currency, amount]) => (
      <div className="sum" key={currency}>
        <dt>Usage not billed yet</dt>
        <dd>
          <Amount amount={amount} currency={currency} />
        </dd>
      </div>
    ))}
  </dl>
)

const Asked = () => {
  const { done, query } = useUnbilledUsage(true)
  return (
    <>
      {query.isFetching && (
        <p className="muted" role="status">
          {done.toLocaleString("en-GB")} active subscriptions done…
        </p>
      )}
      <Loaded lines={4} query={query}>
        {({ byCurrency, count, largest }) => (
          <>
            {count === 0 ? <p className="muted">None.</p> : <UsageLines usages={largest} />}
            {count > MAX_LISTED && (
              <p className="muted">
                The {MAX_LISTED} subscriptions with the most are listed. All {count.toLocaleString("en-GB")}{" "}
                are added up.
              </p>
            )}
            <Totals byCurrency={byCurrency} />
          </>
        )}
      </Loaded>
    </>
  )
}

/** What was used since the last invoices. It is added up when somebody asks. */
export const UnbilledUsage = () => {
  const [isAsked, setIsAsked] = useState(false)
  return (
    <section aria-labelledby="usage-title" className="section">
      <header className="section-header">
        <h2 id="usage-title">Usage not billed yet</h2>
        {!isAsked && (
          <button className="button" onClick={() => setIsAsked(true)} type="button">
            Add it up
          </button>
        )}
      </header>
      {isAsked ? <Asked /> : <p className="muted">Computes the next invoice of each active subscription.</p>}
    </section>
  )
}

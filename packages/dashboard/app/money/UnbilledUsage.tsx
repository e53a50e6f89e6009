import { useState } from "react"
import { Link } from "wouter"
import { CustomerName } from "../customers/CustomerName.tsx"
import { sum } from "../Quantity.ts"
import { planText } from "../subscriptions/SubscriptionStates.ts"
import { Loaded } from "../ui/Loading.tsx"
import { Amount } from "../ui/Money.tsx"
import { CutNote } from "./CutNote.tsx"
import { type UnbilledUsage as Usage, useUnbilledUsage } from "./useMoney.ts"

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

const Totals = ({ usages }: { readonly usages: ReadonlyArray<Usage> }) => {
  const currencies = Map.groupBy(usages, ({ subscription }) => subscription.currency)
  return (
    <dl aria-label="Usage together" className="sums">
      {[...currencies].map(([currency, same]) => (
        <div className="sum" key={currency}>
          <dt>Usage not billed yet</dt>
          <dd>
            <Amount amount={sum(same.map(({ amount }) => amount))} currency={currency} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** What was used since the last invoices. It is added up when somebody asks. */
export const UnbilledUsage = () => {
  const [isAsked, setIsAsked] = useState(false)
  const query = useUnbilledUsage(isAsked)
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
      {isAsked ? (
        <Loaded lines={4} query={query}>
          {({ isCut, items }) => (
            <>
              {items.length === 0 ? <p className="muted">None.</p> : <UsageLines usages={items} />}
              <Totals usages={items} />
              <CutNote isCut={isCut} nouns="active subscriptions" />
            </>
          )}
        </Loaded>
      ) : (
        <p className="muted">Computes the next invoice of each active subscription.</p>
      )}
    </section>
  )
}

/**
 * What a customer may use, by the plans of its subscriptions.
 */
import { useQuery } from "@tanstack/react-query"
import { Link } from "wouter"
import { useSubscriptionZone } from "../api/Queries.ts"
import type { Entitlement } from "../api/Types.ts"
import * as Quantity from "../Quantity.ts"
import { useSession } from "../session/Session.tsx"
import { Loaded } from "../ui/Loading.tsx"
import { ZonedDay } from "../ui/Period.tsx"
import { StateBadge, type Tone } from "../ui/StateBadge.tsx"

const REFRESH_MILLIS = 10_000

const REASONS: Readonly<Record<Entitlement["reason"], readonly [tone: Tone, word: string]>> = {
  included: ["good", "Included"],
  overage: ["wait", "Above the limit"],
  limit_reached: ["bad", "Limit reached"],
  spend_limit: ["bad", "Spend limit"],
  not_included: ["quiet", "Not included"],
  past_due: ["bad", "Past due"],
  no_subscription: ["quiet", "No subscription"],
}

const useEntitlements = (customerId: string) => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["entitlements", customerId],
    queryFn: ({ signal }) =>
      client.call("get", "/v1/entitlements", { query: { customer_id: customerId }, signal }),
    refetchInterval: REFRESH_MILLIS,
  })
}

const LIMITS = { hard: "refused above it", soft: "allowed and billed above it" } as const

const Metered = ({ entitlement }: { readonly entitlement: Entitlement }) => {
  const {
    feature,
    limit,
    limit_type: type,
    resets_at: resets,
    rolled_over: over,
    subscription_id: subscriptionId,
    used,
  } = entitlement
  const zone = useSubscriptionZone(subscriptionId)
  if (limit === null || used === null) return null
  const percent = Quantity.percentOf(used, limit)
  return (
    <>
      <progress
        aria-label={`${feature}: used`}
        className={percent >= 100 ? "reached" : ""}
        max={100}
        value={Math.min(100, percent)}
      />
      <span className="muted">
        {Quantity.format(used)} of {Quantity.format(limit)} · {Quantity.format(percent)} %
        {over !== null && over > 0 && ` · ${Quantity.format(over)} rolled over`}
        {type !== null && ` · ${LIMITS[type]}`}
        {resets !== null && (
          <>
            {" · starts again "}
            <ZonedDay at={resets} zone={zone} />
          </>
        )}
      </span>
    </>
  )
}

const Item = ({ entitlement }: { readonly entitlement: Entitlement }) => {
  const [tone, word] = REASONS[entitlement.reason]
  return (
    <li className="threshold">
      <header>
        <strong>{entitlement.feature}</strong>
        <span className="muted grow">
          {entitlement.type === "config" && entitlement.value}
          {entitlement.subscription_id !== null && (
            <>
              {" by a "}
              <Link href={`/subscriptions/${entitlement.subscription_id}`}>subscription</Link>
            </>
          )}
        </span>
        <StateBadge tone={tone} word={word} />
      </header>
      <Metered entitlement={entitlement} />
    </li>
  )
}

export const Entitlements = ({ customerId }: { readonly customerId: string }) => (
  <section aria-labelledby="entitlements-title" className="section">
    <h2 id="entitlements-title">Entitlements</h2>
    <Loaded lines={2} query={useEntitlements(customerId)}>
      {({ data }) =>
        data.length === 0 ? (
          <p className="muted">None. Features of plans give them to customers with a subscription.</p>
        ) : (
          <ul className="thresholds">
            {data.map((entitlement) => (
              <Item entitlement={entitlement} key={entitlement.feature} />
            ))}
          </ul>
        )
      }
    </Loaded>
  </section>
)

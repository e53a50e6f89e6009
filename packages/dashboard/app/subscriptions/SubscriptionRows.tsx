import { Link } from "wouter"
import type { Subscription } from "../api/Types.ts"
import { Period } from "../ui/Period.tsx"
import { PhaseBadge, WarningBadges } from "./PhaseBadge.tsx"
import { planText, quantitiesText } from "./SubscriptionStates.ts"

/** Some subscriptions, each as one line. */
export const SubscriptionRows = ({
  subscriptions,
}: {
  readonly subscriptions: ReadonlyArray<Subscription>
}) => (
  <ul className="lines">
    {subscriptions.map((subscription) => (
      <li className="line linked" key={subscription.id}>
        <span className="grow two-lines">
          <Link className="row-link clip" href={`/subscriptions/${subscription.id}`}>
            {planText(subscription.plan)}
          </Link>
          <span className="muted clip">
            {quantitiesText(subscription.quantities)}
            {subscription.current_period_start !== null && (
              <>
                {Object.keys(subscription.quantities).length > 0 && " · "}
                <Period
                  end={subscription.current_period_end}
                  start={subscription.current_period_start}
                  zone={subscription.timezone}
                />
              </>
            )}
          </span>
        </span>
        <span className="badges">
          <PhaseBadge phase={subscription.phase} />
          <WarningBadges subscription={subscription} />
        </span>
      </li>
    ))}
  </ul>
)

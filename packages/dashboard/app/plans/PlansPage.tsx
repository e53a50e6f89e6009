import { Link } from "wouter"
import type { Plan } from "../api/Types.ts"
import { EmptyState } from "../ui/EmptyState.tsx"
import { Loaded } from "../ui/Loading.tsx"
import { Page } from "../ui/Page.tsx"
import { intervalText } from "./PlanTexts.ts"
import { SubscriberNote, subscribersText } from "./SubscriberNote.tsx"
import { usePlans } from "./usePlans.ts"
import { useSubscriberCounts } from "./useSubscriberCounts.ts"

const PlanLine = ({ count, plan }: { readonly plan: Plan; readonly count: number | undefined }) => (
  <li className="line linked">
    <span className="grow two-lines">
      <Link className="row-link clip" href={`/plans/${plan.key}`}>
        {plan.name}
      </Link>
      <span className="muted clip">{plan.description ?? plan.key}</span>
    </span>
    <span className="muted plan-terms">
      {intervalText(plan.terms.interval)} · {plan.terms.currencies.join(", ")}
    </span>
    <span className="no-break">version {plan.version}</span>
    <span className="plan-count">{count === undefined ? "…" : subscribersText(count)}</span>
  </li>
)

const NoPlans = () => (
  <EmptyState command="npx @billwright/cli catalog push plans.json" title="No plans yet">
    <p>Plans are written as code or data, and pushed: by your program, or by this command.</p>
  </EmptyState>
)

export const PlansPage = () => {
  const counts = useSubscriberCounts()
  return (
    <Page title="Plans">
      <Loaded lines={6} query={usePlans()}>
        {(plans) =>
          plans.length === 0 ? (
            <NoPlans />
          ) : (
            <ul aria-label="Plans" className="lines">
              {plans.map((plan) => (
                <PlanLine count={counts?.of(plan.key)} key={plan.id} plan={plan} />
              ))}
            </ul>
          )
        }
      </Loaded>
      <SubscriberNote counts={counts} />
    </Page>
  )
}

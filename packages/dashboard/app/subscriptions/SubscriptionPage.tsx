import { useState } from "react"
import { Link } from "wouter"
import * as Queries from "../api/Queries.ts"
import type { Subscription } from "../api/Types.ts"
import { useCustomerNow } from "../clocks/useCustomerNow.ts"
import { CustomerName } from "../customers/CustomerName.tsx"
import { ObjectEvents } from "../events/ObjectEvents.tsx"
import { InvoiceLines } from "../invoices/InvoiceLines.tsx"
import { InvoiceRows } from "../invoices/InvoiceRows.tsx"
import { InvoiceSums } from "../invoices/InvoiceSums.tsx"
import { ActionButton } from "../ui/ActionButton.tsx"
import { Fact, Facts } from "../ui/Facts.tsx"
import { FailureNotice } from "../ui/FailureNotice.tsx"
import { Identifier } from "../ui/Identifier.tsx"
import { ListSection } from "../ui/ListSection.tsx"
import { Loaded } from "../ui/Loading.tsx"
import { Page } from "../ui/Page.tsx"
import { Period } from "../ui/Period.tsx"
import { Time } from "../ui/Time.tsx"
import { PhaseBadge, WarningBadges } from "./PhaseBadge.tsx"
import {
  CancelSubscription,
  ChangeSubscription,
  PauseSubscription,
  ResumeSubscription,
  UncancelSubscription,
} from "./SubscriptionDialogs.tsx"
import { planText, quantitiesText } from "./SubscriptionStates.ts"
import { TimelineSection } from "./TimelineSection.tsx"
import { useSubscription, useSubscriptionInvoices, useUpcoming } from "./useSubscription.ts"

type Action = Subscription["available_actions"][number]

const DIALOGS = {
  change: ["Change…", "", ChangeSubscription],
  pause: ["Pause…", "", PauseSubscription],
  resume: ["Resume…", "primary", ResumeSubscription],
  uncancel: ["Keep…", "primary", UncancelSubscription],
  cancel: ["Cancel…", "dangerous", CancelSubscription],
} as const satisfies Record<Action, unknown>

const Actions = ({ subscription }: { readonly subscription: Subscription }) => {
  const [action, setAction] = useState<Action>()
  const Opened = action === undefined ? undefined : DIALOGS[action][2]
  return (
    <>
      {subscription.available_actions.map((each) => {
        const [label, look] = DIALOGS[each]
        return (
          <ActionButton
            className={`button ${look}`}
            key={each}
            does={`post /v1/subscriptions/{id}/${each}`}
            onClick={() => setAction(each)}
          >
            {label}
          </ActionButton>
        )
      })}
      {Opened !== undefined && <Opened onClose={() => setAction(undefined)} subscription={subscription} />}
    </>
  )
}

const SubscriptionFacts = ({ subscription }: { readonly subscription: Subscription }) => {
  const quantities = quantitiesText(subscription.quantities)
  return (
    <Facts>
      <Fact name="Subscription">
        <Identifier id={subscription.id} />
      </Fact>
      <Fact name="Customer">
        <CustomerName id={subscription.customer_id} />
      </Fact>
      <Fact name="Plan">
        <Link href={`/plans/${subscription.plan.key}?version=${subscription.plan.version}`}>
          {planText(subscription.plan)}
        </Link>
      </Fact>
      {quantities !== "" && <Fact name="Quantities">{quantities}</Fact>}
      <Fact name="Currency">{subscription.currency}</Fact>
      {subscription.current_period_start !== null && (
        <Fact name="Period">
          <Period
            end={subscription.current_period_end}
            start={subscription.current_period_start}
            zone={subscription.timezone}
          />
        </Fact>
      )}
      {subscription.ends_at !== null && (
        <Fact name={subscription.ended_at === null ? "Ends" : "Ended"}>
          <Time at={subscription.ends_at} />
        </Fact>
      )}
      {subscription.invoice_group !== null && <Fact name="Invoice group">{subscription.invoice_group}</Fact>}
    </Facts>
  )
}

const Upcoming = ({ id }: { readonly id: string }) => (
  <section aria-labelledby="upcoming-title" className="section">
    <header className="section-header">
      <h2 id="upcoming-title">Next invoice, as of now</h2>
      <span className="muted">Open a line to see how it is computed.</span>
    </header>
    <Loaded lines={3} query={useUpcoming(id)}>
      {({ invoice }) =>
        invoice === null ? (
          <p className="muted">None comes.</p>
        ) : (
          <>
            <InvoiceLines invoice={invoice} isStored={false} />
            <InvoiceSums invoice={invoice} />
          </>
        )
      }
    </Loaded>
  </section>
)

const Body = ({ subscription }: { readonly subscription: Subscription }) => {
  const { customer_id: customerId, id } = subscription
  const now = useCustomerNow(Queries.useCustomer(customerId).data)
  const upcoming = useUpcoming(id).data?.invoice ?? null
  const invoices = useSubscriptionInvoices(id)
  return (
    <>
      <SubscriptionFacts subscription={subscription} />
      {subscription.failure !== null && <FailureNotice failure={subscription.failure} />}
      <div className="columns">
        <Upcoming id={id} />
        <TimelineSection
          invoices={invoices.data?.data ?? []}
          now={now}
          subscription={subscription}
          upcoming={upcoming}
        />
      </div>
      <ListSection
        href={`/invoices?subscription=${id}`}
        id="invoices-title"
        more="All its invoices"
        title="Invoices"
      >
        <Loaded query={invoices}>{({ data }) => <InvoiceRows empty="None yet." invoices={data} />}</Loaded>
      </ListSection>
      <ObjectEvents customerId={customerId} field="subscription_id" id={id} />
    </>
  )
}

export const SubscriptionPage = ({ id }: { readonly id: string }) => {
  const query = useSubscription(id)
  const subscription = query.data
  return (
    <Page
      actions={subscription !== undefined && <Actions subscription={subscription} />}
      aside={
        subscription !== undefined && (
          <>
            <PhaseBadge phase={subscription.phase} />
            <WarningBadges subscription={subscription} />
          </>
        )
      }
      title={subscription === undefined ? "Subscription" : `Subscription to ${subscription.plan.key}`}
      up={{ href: "/subscriptions", label: "Subscriptions", id }}
    >
      <Loaded lines={10} query={query}>
        {(loaded) => <Body subscription={loaded} />}
      </Loaded>
    </Page>
  )
}

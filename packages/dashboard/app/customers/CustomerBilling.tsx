/**
 * What a customer has and owes: subscriptions, invoices, payments, credits, entitlements and alerts.
 */
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { Link, useLocation } from "wouter"
import type { Customer } from "../api/Types.ts"
import { CreditSummary } from "../credits/CreditSummary.tsx"
import { Entitlements } from "../entitlements/Entitlements.tsx"
import { InvoiceRows } from "../invoices/InvoiceRows.tsx"
import { MethodLines } from "../payments/MethodLines.tsx"
import { PaymentLines } from "../payments/PaymentLines.tsx"
import { useSession } from "../session/Session.tsx"
import { CreateSubscription } from "../subscriptions/CreateSubscription.tsx"
import { SpendAlerts } from "../subscriptions/SpendAlerts.tsx"
import { SubscriptionRows } from "../subscriptions/SubscriptionRows.tsx"
import { ActionButton } from "../ui/ActionButton.tsx"
import { Icon } from "../ui/Icon.tsx"
import { ListSection } from "../ui/ListSection.tsx"
import { Loaded } from "../ui/Loading.tsx"

const SHOWN = 5
const REFRESH_MILLIS = 5_000

const Subscriptions = ({ id }: { readonly id: string }) => {
  const { client } = useSession()
  const [, navigate] = useLocation()
  const [isCreating, setIsCreating] = useState(false)
  const query = useQuery({
    queryKey: ["subscriptions", "of-customer", id],
    queryFn: ({ signal }) =>
      client.call("get", "/v1/subscriptions", { query: { customer_id: id, limit: SHOWN }, signal }),
    refetchInterval: REFRESH_MILLIS,
  })
  return (
    <section aria-labelledby="subscriptions" className="section">
      <header className="section-header">
        <h2 id="subscriptions">Subscriptions</h2>
        {query.data?.has_more === true && <Link href={`/subscriptions?customer=${id}`}>All of them</Link>}
        <ActionButton className="button" does="post /v1/subscriptions" onClick={() => setIsCreating(true)}>
          <Icon name="plus" /> New subscription
        </ActionButton>
      </header>
      <Loaded lines={2} query={query}>
        {({ data }) =>
          data.length === 0 ? <p className="muted">None.</p> : <SubscriptionRows subscriptions={data} />
        }
      </Loaded>
      {isCreating && (
        <CreateSubscription
          customerId={id}
          onClose={() => setIsCreating(false)}
          onDone={(made) => navigate(`/subscriptions/${made.id}`)}
        />
      )}
    </section>
  )
}

const Invoices = ({ id }: { readonly id: string }) => {
  const { client } = useSession()
  const query = useQuery({
    queryKey: ["invoices", "of-customer", id],
    queryFn: ({ signal }) =>
      client.call("get", "/v1/invoices", { query: { customer_id: id, limit: SHOWN }, signal }),
    refetchInterval: REFRESH_MILLIS,
  })
  return (
    <ListSection href={`/invoices?customer=${id}`} id="invoices" more="All invoices" title="Newest invoices">
      <Loaded query={query}>{({ data }) => <InvoiceRows empty="None yet." invoices={data} />}</Loaded>
    </ListSection>
  )
}

const Payments = ({ id }: { readonly id: string }) => (
  <ListSection href={`/payments?customer=${id}`} id="payments" more="All payments" title="Newest payments">
    <PaymentLines empty="None yet." which={{ customer_id: id, limit: SHOWN }} />
  </ListSection>
)

const Methods = ({ id }: { readonly id: string }) => (
  <section aria-labelledby="methods" className="section">
    <h2 id="methods">Payment methods</h2>
    <MethodLines customerId={id} />
  </section>
)

export const CustomerBilling = ({ customer }: { readonly customer: Customer }) => {
  const { id } = customer
  return (
    <>
      <Subscriptions id={id} />
      <div className="columns even">
        <Invoices id={id} />
        <Payments id={id} />
      </div>
      <div className="columns even">
        <Methods id={id} />
        <CreditSummary customerId={id} />
      </div>
      <div className="columns even">
        <Entitlements customerId={id} />
        <SpendAlerts customer={customer} />
      </div>
    </>
  )
}

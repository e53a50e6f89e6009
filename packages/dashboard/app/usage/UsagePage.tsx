import { Fragment, useState } from "react"
import { Link } from "wouter"
import * as Queries from "../api/Queries.ts"
import { CustomerPicker } from "../customers/CustomerPicker.tsx"
import { EmptyState } from "../ui/EmptyState.tsx"
import { useFilters } from "../ui/Filters.tsx"
import { Loaded } from "../ui/Loading.tsx"
import { Page } from "../ui/Page.tsx"
import { MeteredUsage } from "./MeteredUsage.tsx"
import { Thresholds } from "./Thresholds.tsx"
import { Totals } from "./Totals.tsx"
import { UsageRecords } from "./UsageRecords.tsx"

const NobodyChosen = () => {
  const customers = Queries.useNewestCustomers().data?.data
  return (
    <EmptyState title="Choose a customer">
      {customers?.length === 0 ? (
        <p>
          There are none yet: create one on the page <Link href="/customers">Customers</Link>.
        </p>
      ) : (
        <ul className="candidates">
          {customers?.slice(0, 8).map(({ email, id, name }) => (
            <li key={id}>
              <Link className="candidate" href={`/usage?customer=${id}`}>
                <strong>{name}</strong>
                <span className="muted">{email}</span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </EmptyState>
  )
}

export const UsagePage = () => {
  const filters = useFilters()
  const [isPicking, setIsPicking] = useState(false)
  const id = filters.get("customer")
  const query = Queries.useCustomer(id)
  return (
    <Page
      actions={
        <>
          <Link className="button" href="/usage/meters">
            Meters
          </Link>
          <button className="button" onClick={() => setIsPicking(true)} type="button">
            {id === undefined ? "Choose a customer…" : "Another customer…"}
          </button>
        </>
      }
      aside={
        query.data !== undefined && (
          <Link className="muted" href={`/customers/${query.data.id}`}>
            {query.data.name} · {query.data.email}
          </Link>
        )
      }
      title="Usage"
    >
      {id === undefined ? (
        <NobodyChosen />
      ) : (
        <Loaded lines={8} query={query}>
          {(customer) => (
            <Fragment key={customer.id}>
              <Totals customerId={customer.id} title="Totals" />
              <MeteredUsage customerId={customer.id} />
              <Thresholds customerId={customer.id} />
              <UsageRecords customerId={customer.id} />
            </Fragment>
          )}
        </Loaded>
      )}
      {isPicking && (
        <CustomerPicker
          onClose={() => setIsPicking(false)}
          onPick={(picked) => {
            setIsPicking(false)
            filters.set("customer", picked)
          }}
        />
      )}
    </Page>
  )
}

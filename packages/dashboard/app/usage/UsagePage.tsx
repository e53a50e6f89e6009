import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { Link } from "wouter"
import * as Queries from "../api/Queries.ts"
import type { Customer } from "../api/Types.ts"
import * as Curl from "../Curl.ts"
import * as Instant from "../Instant.ts"
import { useSession } from "../session/Session.tsx"
import { apiAddress } from "../shell/ApiAddress.ts"
import { EmptyState } from "../ui/EmptyState.tsx"
import { type Filters, useFilters } from "../ui/Filters.tsx"
import { Loaded } from "../ui/Loading.tsx"
import { Page } from "../ui/Page.tsx"
import { CustomerPicker } from "./CustomerPicker.tsx"
import { MeterChart } from "./MeterChart.tsx"
import { MeterTable } from "./MeterTable.tsx"
import { Thresholds } from "./Thresholds.tsx"
import { UsageRecords } from "./UsageRecords.tsx"
import { totalsOf } from "./UsageTotals.ts"

const PERIODS = [7, 30, 90, 365] as const
const DEFAULT_DAYS = 30
/** How often totals are asked for again, in milliseconds. */
const REFRESH_MILLIS = 5_000

const daysOf = (filters: Filters): number => {
  const days = Number(filters.get("days") ?? DEFAULT_DAYS)
  return PERIODS.some((period) => period === days) ? days : DEFAULT_DAYS
}

/** The totals of the last days, the present one included. */
const useTotals = (customerId: string, days: number) => {
  const { client } = useSession()
  const [start, end] = [Instant.utcDay(Date.now(), days - 1), Instant.utcDay(Date.now())]
  return useQuery({
    queryKey: ["usage", "totals", customerId, start, end],
    queryFn: async ({ signal }) => {
      const query = {
        customer_id: customerId,
        start_date: start,
        end_date: end,
        window: "day",
        group_by: "product_id",
      } as const
      return totalsOf((await client.call("get", "/v1/usage/series", { query, signal })).data)
    },
    refetchInterval: REFRESH_MILLIS,
  })
}

const PeriodChoice = ({ filters }: { readonly filters: Filters }) => (
  <label className="filter">
    <span>Period</span>
    <select onChange={(event) => filters.set("days", event.target.value)} value={String(daysOf(filters))}>
      {PERIODS.map((days) => (
        <option key={days} value={String(days)}>
          Last {days} days
        </option>
      ))}
    </select>
  </label>
)

const NoUsage = ({ customerId, days }: { readonly customerId: string; readonly days: number }) => (
  <EmptyState
    command={Curl.apiCurl(apiAddress(), "POST", "/usage", {
      customer_id: customerId,
      product_id: "api",
      quantity: 5,
      unit: "call",
    })}
    title={`No usage in the last ${days} days`}
  >
    <p>Record some, and it counts at once:</p>
  </EmptyState>
)

const CustomerUsage = ({ customer, filters }: { readonly customer: Customer; readonly filters: Filters }) => {
  const days = daysOf(filters)
  const query = useTotals(customer.id, days)
  const [chosen, setChosen] = useState<string>()
  return (
    <>
      <section aria-labelledby="totals-title" className="section">
        <header className="section-header">
          <h2 id="totals-title">Totals</h2>
          <PeriodChoice filters={filters} />
        </header>
        <Loaded lines={5} query={query}>
          {(totals) => {
            const shown = totals.find(({ key }) => key === chosen) ?? totals[0]
            if (shown === undefined) return <NoUsage customerId={customer.id} days={days} />
            return (
              <>
                <MeterTable onChoose={setChosen} shown={shown.key} totals={totals} />
                <MeterChart meter={shown} />
              </>
            )
          }}
        </Loaded>
      </section>
      <Thresholds customerId={customer.id} />
      <UsageRecords customerId={customer.id} />
    </>
  )
}

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
        <button className="button" onClick={() => setIsPicking(true)} type="button">
          {id === undefined ? "Choose a customer…" : "Another customer…"}
        </button>
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
          {(customer) => <CustomerUsage customer={customer} filters={filters} key={customer.id} />}
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

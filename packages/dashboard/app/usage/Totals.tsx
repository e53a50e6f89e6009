import { useState } from "react"
import * as Curl from "../Curl.ts"
import { apiAddress } from "../shell/ApiAddress.ts"
import { EmptyState } from "../ui/EmptyState.tsx"
import { type Filters, useFilters } from "../ui/Filters.tsx"
import { Loaded } from "../ui/Loading.tsx"
import { MeterChart } from "./MeterChart.tsx"
import { MeterTable } from "./MeterTable.tsx"
import { useTotals } from "./useTotals.ts"

const PERIODS = [7, 30, 90, 365] as const
const DEFAULT_DAYS = 30

export const daysOf = (filters: Filters): number => {
  const days = Number(filters.get("days") ?? DEFAULT_DAYS)
  return PERIODS.some((period) => period === days) ? days : DEFAULT_DAYS
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

/** A customer's totals by product and unit, and a chart of one of them by day. */
export const Totals = ({ customerId, title }: { readonly customerId: string; readonly title: string }) => {
  const filters = useFilters()
  const days = daysOf(filters)
  const query = useTotals(customerId, days)
  const [chosen, setChosen] = useState<string>()
  return (
    <section aria-labelledby="totals-title" className="section">
      <header className="section-header">
        <h2 id="totals-title">{title}</h2>
        <PeriodChoice filters={filters} />
      </header>
      <Loaded lines={5} query={query}>
        {(totals) => {
          const shown = totals.find(({ key }) => key === chosen) ?? totals[0]
          if (shown === undefined) return <NoUsage customerId={customerId} days={days} />
          return (
            <>
              <MeterTable onChoose={setChosen} shown={shown.key} totals={totals} />
              <MeterChart meter={shown} />
            </>
          )
        }}
      </Loaded>
    </section>
  )
}

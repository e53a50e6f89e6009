import { useQuery } from "@tanstack/react-query"
import { Link } from "wouter"
import * as Instant from "../Instant.ts"
import * as Quantity from "../Quantity.ts"
import { useSession } from "../session/Session.tsx"
import { BarChart } from "../ui/BarChart.tsx"
import { type Filters, SelectFilter, useFilters } from "../ui/Filters.tsx"
import { Loaded } from "../ui/Loading.tsx"
import { definitionText } from "./MeterText.ts"
import { daysOf } from "./Totals.tsx"
import { type ChosenMeter, filterName, useChosenMeter, useMeterList } from "./useMeterChoice.ts"

const REFRESH_MILLIS = 5_000
const VALUES_MILLIS = 60_000

const tick = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" })
const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeZone: "UTC" })

interface Asked {
  readonly customerId: string
  readonly days: number
  readonly chosen: ChosenMeter
}

const queryOf = ({ chosen: { meter, where }, customerId, days }: Asked) => ({
  customer_id: customerId,
  meter: meter.key,
  where: [...where],
  start_date: Instant.utcDay(Date.now(), days - 1),
  end_date: Instant.utcDay(Date.now()),
})

const useValue = (asked: Asked) => {
  const { client } = useSession()
  const { groupBy } = asked.chosen
  const query = { ...queryOf(asked), group_by: groupBy === undefined ? [] : [groupBy] }
  return useQuery({
    queryKey: ["usage", "metered", query],
    queryFn: ({ signal }) => client.call("get", "/v1/usage", { query, signal }),
    refetchInterval: REFRESH_MILLIS,
  })
}

const useDays = (asked: Asked) => {
  const { client } = useSession()
  const query = { ...queryOf(asked), window: "day" } as const
  return useQuery({
    queryKey: ["usage", "metered", "days", query],
    queryFn: ({ signal }) => client.call("get", "/v1/usage/series", { query, signal }),
    refetchInterval: REFRESH_MILLIS,
  })
}

/** The values that a dimension has in the period, to choose from. */
const useValuesOf = ({ chosen: { meter }, customerId, days }: Asked, dimension: string) => {
  const { client } = useSession()
  const query = {
    ...queryOf({ chosen: { meter, where: [], groupBy: undefined }, customerId, days }),
    group_by: [dimension],
  }
  return useQuery({
    queryKey: ["usage", "metered", "values", query],
    queryFn: async ({ signal }) => {
      const { groups = [] } = await client.call("get", "/v1/usage", { query, signal })
      return groups.flatMap(({ dimensions }) => dimensions[dimension] ?? [])
    },
    staleTime: VALUES_MILLIS,
  })
}

const DimensionFilter = ({
  asked,
  dimension,
  filters,
}: {
  readonly asked: Asked
  readonly dimension: string
  readonly filters: Filters
}) => {
  const name = filterName(dimension)
  const chosen = filters.get(name)
  const values = useValuesOf(asked, dimension).data ?? []
  const offered = chosen === undefined || values.includes(chosen) ? values : [chosen, ...values]
  return (
    <SelectFilter
      filters={filters}
      label={dimension}
      name={name}
      options={offered.map((value) => [value, value] as const)}
    />
  )
}

const MeterFilters = ({ asked, filters }: { readonly asked: Asked; readonly filters: Filters }) => {
  const { dimensions } = asked.chosen.meter
  if (dimensions.length === 0) return null
  return (
    <div aria-label="Dimensions" className="filters" role="group">
      {dimensions.map((dimension) => (
        <DimensionFilter asked={asked} dimension={dimension} filters={filters} key={dimension} />
      ))}
      <label className="filter">
        <span>Group by</span>
        <select
          onChange={(event) => filters.set("group", event.target.value)}
          value={asked.chosen.groupBy ?? ""}
        >
          <option value="">Nothing</option>
          {dimensions.map((dimension) => (
            <option key={dimension} value={dimension}>
              {dimension}
            </option>
          ))}
        </select>
      </label>
    </div>
  )
}

const Totals = (asked: Asked) => {
  const { groupBy, meter } = asked.chosen
  return (
    <Loaded lines={3} query={useValue(asked)}>
      {({ denominator, groups = [], record_count: count, total_quantity: total }) => (
        <div className="scroll-x">
          <table className="plain-table">
            <thead>
              <tr>
                <th scope="col">{groupBy ?? "Meter"}</th>
                <th className="number" scope="col">
                  Total ({meter.unit})
                </th>
                <th className="number records-count" scope="col">
                  Records
                </th>
              </tr>
            </thead>
            <tbody>
              {groups.map((group) => {
                const value = groupBy === undefined ? null : (group.dimensions[groupBy] ?? null)
                return (
                  <tr key={JSON.stringify(value)}>
                    <th scope="row">{value ?? <span className="muted">none</span>}</th>
                    <td className="number">{Quantity.quotient(group.total_quantity, group.denominator)}</td>
                    <td className="number records-count">{Quantity.format(group.record_count)}</td>
                  </tr>
                )
              })}
              <tr>
                <th scope="row">{groupBy === undefined ? (meter.name ?? meter.key) : "All together"}</th>
                <td className="number strong">{Quantity.quotient(total, denominator)}</td>
                <td className="number records-count">{Quantity.format(count)}</td>
              </tr>
            </tbody>
          </table>
        </div>
      )}
    </Loaded>
  )
}

const Chart = (asked: Asked) => {
  const { meter } = asked.chosen
  const points = useDays(asked).data?.data
  if (points === undefined) return null
  return (
    <BarChart
      describe={(index) => {
        const at = points[index]
        return at === undefined
          ? ""
          : `${day.format(Date.parse(at.start))}: ${Quantity.quotient(at.quantity, at.denominator)} ${meter.unit}`
      }}
      label={`${meter.name ?? meter.key} by day, in ${meter.unit}`}
      series={[
        {
          label: meter.name ?? meter.key,
          className: "chart-usage",
          values: points.map(({ denominator, quantity }) => Number(quantity) / Number(denominator)),
        },
      ]}
      starts={points.map(({ start }) => Date.parse(start))}
      tick={(at) => tick.format(at)}
    />
  )
}

/** A customer's usage by a meter: filtered and grouped by its dimensions, and by day. */
export const MeteredUsage = ({ customerId }: { readonly customerId: string }) => {
  const filters = useFilters()
  const chosen = useChosenMeter(filters)
  const ready = useMeterList().data?.filter(({ status }) => status === "ready") ?? []
  if (ready.length === 0) return null
  const asked = chosen && { customerId, days: daysOf(filters), chosen }
  return (
    <section aria-labelledby="metered-title" className="section">
      <header className="section-header">
        <h2 id="metered-title">By meter</h2>
        <label className="filter">
          <span>Meter</span>
          <select
            onChange={(event) => filters.set("meter", event.target.value)}
            value={chosen?.meter.key ?? ""}
          >
            <option value="">None</option>
            {ready.map(({ key, name }) => (
              <option key={key} value={key}>
                {name ?? key}
              </option>
            ))}
          </select>
        </label>
      </header>
      {asked === undefined ? (
        <p className="muted">
          Choose a meter to filter and group by its dimensions. All of them are on the page{" "}
          <Link href="/usage/meters">Meters</Link>.
        </p>
      ) : (
        <>
          <p className="muted">
            {asked.chosen.meter.product_id}, {definitionText(asked.chosen.meter)}
          </p>
          <MeterFilters asked={asked} filters={filters} />
          <Totals {...asked} />
          <Chart {...asked} />
        </>
      )}
    </section>
  )
}

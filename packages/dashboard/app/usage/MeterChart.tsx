import * as Quantity from "../Quantity.ts"
import { BarChart } from "../ui/BarChart.tsx"
import type { MeterTotal } from "./UsageTotals.ts"

const tick = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" })
const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeZone: "UTC" })

/** The usage of one product by day. Heights are rounded, texts are exact. */
export const MeterChart = ({ meter }: { readonly meter: MeterTotal }) => {
  const { days, productId, total, unit } = meter
  return (
    <BarChart
      describe={(index) => {
        const at = days[index]
        return at === undefined
          ? ""
          : `${day.format(Date.parse(at.start))}: ${Quantity.format(at.quantity)} ${unit}`
      }}
      label={`${productId} by day, in ${unit}: ${Quantity.format(total)} in all`}
      series={[
        { label: productId, className: "chart-usage", values: days.map(({ quantity }) => Number(quantity)) },
      ]}
      tick={(at) => tick.format(at)}
      starts={days.map(({ start }) => Date.parse(start))}
    />
  )
}

import type { HourOfDeliveries } from "../api/Types.ts"
import { BarChart } from "../ui/BarChart.tsx"

const hour = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
})

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" })

const LABELS = { failed: "Failed", failed_attempts: "Failed attempts" } as const
const NAMES = { failed: "failed", failed_attempts: "failed attempts" } as const

/** The results of deliveries by hour. */
export const HoursChart = <F extends keyof typeof NAMES>({
  failed,
  hours,
}: {
  readonly failed: F
  readonly hours: ReadonlyArray<Pick<HourOfDeliveries, "start" | "delivered" | F>>
}) => {
  const delivered = hours.map((each) => each.delivered)
  const failures = hours.map((each) => each[failed] as number)
  const total = (counts: ReadonlyArray<number>) => counts.reduce((sum, count) => sum + count, 0)
  return (
    <BarChart
      describe={(index) =>
        `${hour.format(Date.parse(hours[index]?.start ?? ""))}: ${delivered[index]} delivered, ${failures[index]} ${NAMES[failed]}`
      }
      label={`By hour: ${total(delivered)} delivered, ${total(failures)} ${NAMES[failed]}`}
      series={[
        { label: "Delivered", className: "chart-delivered", values: delivered },
        { label: LABELS[failed], className: "chart-failed", isHatched: true, values: failures },
      ]}
      tick={(at) => clock.format(at)}
      starts={hours.map(({ start }) => Date.parse(start))}
    />
  )
}

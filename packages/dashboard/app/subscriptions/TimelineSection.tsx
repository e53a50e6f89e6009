import { Link } from "wouter"
import type { Invoice, Subscription } from "../api/Types.ts"
import { Amount } from "../ui/Money.tsx"
import { ZonedDay } from "../ui/Period.tsx"
import { type Moment, timelineOf } from "./Timeline.ts"

const MomentItem = ({
  isFuture,
  moment,
  zone,
}: {
  readonly moment: Moment
  readonly isFuture: boolean
  readonly zone: string
}) => (
  <li className={isFuture ? "future" : ""}>
    <ZonedDay at={moment.at} zone={zone} />
    <span className="grow">
      {moment.href === undefined ? moment.text : <Link href={moment.href}>{moment.text}</Link>}
      {moment.money !== undefined && (
        <>
          {": "}
          <Amount amount={moment.money.total} currency={moment.money.currency} />
        </>
      )}
    </span>
  </li>
)

/** The past and what comes, in days of the subscription. `now` is that of the customer, who may have a test clock. */
export const TimelineSection = ({
  invoices,
  now,
  subscription,
  upcoming,
}: {
  readonly subscription: Subscription
  readonly invoices: ReadonlyArray<Invoice>
  readonly upcoming: Invoice | null
  readonly now: number
}) => {
  const zone = subscription.timezone
  const moments = timelineOf(subscription, invoices, upcoming)
  const past = moments.filter(({ at }) => Date.parse(at) <= now)
  const future = moments.filter(({ at }) => Date.parse(at) > now)
  return (
    <section aria-labelledby="timeline-title" className="section">
      <h2 id="timeline-title">Timeline</h2>
      <ol className="timeline">
        {past.map((moment, index) => (
          <MomentItem isFuture={false} key={`past-${index}`} moment={moment} zone={zone} />
        ))}
        <li className="timeline-now">
          <ZonedDay at={new Date(now).toISOString()} zone={zone} />
          <span>Now</span>
        </li>
        {future.map((moment, index) => (
          <MomentItem isFuture key={`future-${index}`} moment={moment} zone={zone} />
        ))}
      </ol>
    </section>
  )
}

import { Link } from "wouter"
import type { Invoice, Subscription } from "../api/Types.ts"
import { Amount } from "../ui/Money.tsx"
import { Day } from "../ui/Period.tsx"
import { type Moment, timelineOf } from "./Timeline.ts"

const MomentItem = ({ isFuture, moment }: { readonly moment: Moment; readonly isFuture: boolean }) => (
  <li className={isFuture ? "future" : ""}>
    <Day at={moment.at} />
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

/** The past and what comes. `now` is that of the customer, who may have a test clock. */
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
  const moments = timelineOf(subscription, invoices, upcoming)
  const past = moments.filter(({ at }) => Date.parse(at) <= now)
  const future = moments.filter(({ at }) => Date.parse(at) > now)
  return (
    <section aria-labelledby="timeline-title" className="section">
      <h2 id="timeline-title">Timeline</h2>
      <ol className="timeline">
        {past.map((moment, index) => (
          <MomentItem isFuture={false} key={`past-${index}`} moment={moment} />
        ))}
        <li className="timeline-now">
          <Day at={new Date(now).toISOString()} />
          <span>Now</span>
        </li>
        {future.map((moment, index) => (
          <MomentItem isFuture key={`future-${index}`} moment={moment} />
        ))}
      </ol>
    </section>
  )
}

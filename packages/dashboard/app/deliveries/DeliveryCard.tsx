import { useState } from "react"
import { Link } from "wouter"
import * as Queries from "../api/Queries.ts"
import type { Delivery, DeliveryWithAttempts } from "../api/Types.ts"
import { Loaded } from "../ui/Loading.tsx"
import { StatusBadge } from "../ui/StatusBadge.tsx"
import { Time } from "../ui/Time.tsx"
import { AttemptLog } from "./AttemptLog.tsx"
import { EndpointName } from "./EndpointName.tsx"
import { ReplayButton } from "./ReplayButton.tsx"
import { nextAttemptAt, summaryOf } from "./Summary.ts"

const NextAttempt = ({ delivery }: { readonly delivery: DeliveryWithAttempts }) => {
  const at = nextAttemptAt(delivery)
  if (at === null) return null
  return (
    <p className="muted">
      Next attempt <Time at={at} />
    </p>
  )
}

const Attempts = ({ id, payload }: { readonly id: string; readonly payload: unknown }) => {
  const query = Queries.useDelivery(id)
  return (
    <Loaded lines={3} query={query}>
      {(delivery) => (
        <>
          <NextAttempt delivery={delivery} />
          <AttemptLog delivery={delivery} payload={payload} />
        </>
      )}
    </Loaded>
  )
}

/** A delivery of an event, with its state. Opening it shows its attempts. */
export const DeliveryCard = ({
  delivery,
  isOpenAtFirst,
  payload,
}: {
  readonly delivery: Delivery
  readonly isOpenAtFirst: boolean
  readonly payload: unknown
}) => {
  const [isOpen, setIsOpen] = useState(isOpenAtFirst)
  return (
    <article className="card delivery-card">
      <header>
        <StatusBadge status={delivery.status} />
        <span className="grow break">
          <EndpointName id={delivery.endpoint_id} />
        </span>
        <ReplayButton delivery={delivery} />
      </header>
      <p className="muted">
        {summaryOf(delivery)}
        {" · made "}
        <Time at={delivery.created_at} />
        {" · "}
        <Link href={`/deliveries/${delivery.id}`}>details</Link>
      </p>
      <button aria-expanded={isOpen} className="disclosure" onClick={() => setIsOpen(!isOpen)} type="button">
        {isOpen ? "Hide attempts" : "Show attempts"}
      </button>
      {isOpen && <Attempts id={delivery.id} payload={payload} />}
    </article>
  )
}

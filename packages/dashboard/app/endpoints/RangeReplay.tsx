/**
 * Sends the events of a time range to an endpoint again. The API counts them first.
 */
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { useLocation } from "wouter"
import * as Queries from "../api/Queries.ts"
import type { Endpoint } from "../api/Types.ts"
import { deliveriesOnTheirWay } from "../deliveries/Summary.ts"
import * as Instant from "../Instant.ts"
import * as Quantity from "../Quantity.ts"
import { useSession } from "../session/Session.tsx"
import { ActionDialog } from "../ui/ActionDialog.tsx"
import { ErrorNotice } from "../ui/ErrorNotice.tsx"
import { Field } from "../ui/Field.tsx"
import { toast } from "../ui/Toast.tsx"

interface ReplayRange {
  readonly since: string
  readonly until?: string
  readonly status: "Failed" | "all"
}

const HOUR_MILLIS = 3_600_000

const rangeOf = (since: string, until: string, status: ReplayRange["status"]): ReplayRange | undefined => {
  const from = Instant.fromLocalInput(since)
  if (from === undefined) return undefined
  const to = Instant.fromLocalInput(until)
  return { since: from, status, ...(to === undefined ? {} : { until: to }) }
}

const events = (count: number): string => (count === 1 ? "1 event" : `${Quantity.format(count)} events`)

/** The number of events in a range. */
const useCount = (endpoint: Endpoint, range: ReplayRange | undefined) => {
  const { client } = useSession()
  return useQuery({
    queryKey: ["replay-count", endpoint.id, range],
    queryFn: ({ signal }) =>
      client.call("post", "/v1/webhook_endpoints/{id}/replay", {
        path: { id: endpoint.id },
        body: { ...(range ?? { since: "" }), dry_run: true },
        signal,
      }),
    enabled: range !== undefined,
  })
}

const Count = ({ query: { data, error } }: { readonly query: ReturnType<typeof useCount> }) => {
  if (error !== null) return <ErrorNotice error={error} />
  if (data === undefined) return <p role="status">Counting…</p>
  if (data.count === 0) return <p role="status">There are no events to send in this time.</p>
  return (
    <p role="status">
      <strong>{events(data.count)}</strong> to be sent.
    </p>
  )
}

export const RangeReplay = ({
  endpoint,
  onClose,
}: {
  readonly endpoint: Endpoint
  readonly onClose: () => void
}) => {
  const { client } = useSession()
  const refresh = Queries.useRefreshWebhooks()
  const [, navigate] = useLocation()
  const [since, setSince] = useState(() => Instant.toLocalInput(Date.now() - 24 * HOUR_MILLIS))
  const [until, setUntil] = useState("")
  const [status, setStatus] = useState<ReplayRange["status"]>("Failed")
  const range = rangeOf(since, until, status)
  const query = useCount(endpoint, range)
  const count = range === undefined ? 0 : (query.data?.count ?? 0)
  return (
    <ActionDialog
      action={[count === 0 ? "Replay" : `Replay ${events(count)}`, "Replaying…"]}
      isDisabled={count === 0}
      onClose={onClose}
      onDone={(made) => {
        toast(deliveriesOnTheirWay(made.count))
        void refresh()
        onClose()
        navigate(`/deliveries?endpoint=${endpoint.id}`)
      }}
      run={() =>
        client.call("post", "/v1/webhook_endpoints/{id}/replay", {
          path: { id: endpoint.id },
          body: range ?? { since: "" },
        })
      }
      title="Replay past events"
    >
      <div className="field-row">
        <Field label="Published from" name="since">
          {(attributes) => (
            <input
              {...attributes}
              onChange={(event) => setSince(event.target.value)}
              required
              type="datetime-local"
              value={since}
            />
          )}
        </Field>
        <Field label="Until (now if empty)" name="until">
          {(attributes) => (
            <input
              {...attributes}
              onChange={(event) => setUntil(event.target.value)}
              type="datetime-local"
              value={until}
            />
          )}
        </Field>
      </div>
      <Field label="Which" name="status">
        {(attributes) => (
          <select
            {...attributes}
            onChange={(event) => setStatus(event.target.value as ReplayRange["status"])}
            value={status}
          >
            <option value="Failed">Events whose newest delivery failed</option>
            <option value="all">All events of its types</option>
          </select>
        )}
      </Field>
      {range !== undefined && <Count query={query} />}
    </ActionDialog>
  )
}

/**
 * Sends an endpoint the events of a time again. The API counts before how many that are.
 */
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import * as Queries from "../api/Queries.ts"
import type { Endpoint } from "../api/Types.ts"
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

const Count = ({ endpoint, range }: { readonly endpoint: Endpoint; readonly range: ReplayRange }) => {
  const { client } = useSession()
  const query = useQuery({
    queryKey: ["replay-count", endpoint.id, range],
    queryFn: ({ signal }) =>
      client.call("post", "/v1/webhook_endpoints/{id}/replay", {
        path: { id: endpoint.id },
        body: { ...range, dry_run: true },
        signal,
      }),
  })
  if (query.isError) return <ErrorNotice error={query.error} />
  if (query.data === undefined) return <p role="status">Counting…</p>
  const { count } = query.data
  return (
    <p role="status">
      <strong>{count === 1 ? "1 event" : `${Quantity.format(count)} events`}</strong> to be sent.
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
  const [since, setSince] = useState(() => Instant.toLocalInput(Date.now() - 24 * HOUR_MILLIS))
  const [until, setUntil] = useState("")
  const [status, setStatus] = useState<ReplayRange["status"]>("Failed")
  const range = rangeOf(since, until, status)
  return (
    <ActionDialog
      action={["Replay", "Replaying…"]}
      isDisabled={range === undefined}
      onClose={onClose}
      onDone={({ count }) => {
        toast(count === 1 ? "1 delivery is on its way" : `${count} deliveries are on their way`)
        void refresh()
        onClose()
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
        <Field label="Published from">
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
        <Field label="Until (now if empty)">
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
      <Field label="Which">
        {(attributes) => (
          <select
            {...attributes}
            onChange={(event) => setStatus(event.target.value as ReplayRange["status"])}
            value={status}
          >
            <option value="Failed">Events whose newest delivery failed</option>
            <option value="all">All events that it admits</option>
          </select>
        )}
      </Field>
      {range !== undefined && <Count endpoint={endpoint} range={range} />}
    </ActionDialog>
  )
}

import { useState } from "react"
import { useLocation } from "wouter"
import * as Queries from "../api/Queries.ts"
import type { Endpoint, Event } from "../api/Types.ts"
import { deliveriesOnTheirWay } from "../deliveries/Summary.ts"
import { useSession } from "../session/Session.tsx"
import { ActionDialog } from "../ui/ActionDialog.tsx"
import { toast } from "../ui/Toast.tsx"

const EVERYWHERE = ""

/** Whether an event may be sent to an endpoint. A test event may only be sent to its own endpoint. */
const mayHear = ({ event_types: types, id, status }: Endpoint, event: Event): boolean =>
  status === "enabled" &&
  (event.endpoint_id === null ? types.includes("*") || types.includes(event.type) : id === event.endpoint_id)

/** Sends an event again: to all endpoints that subscribe to its type, or to one. A test event goes to its own endpoint. */
export const ReplayDialog = ({ event, onClose }: { readonly event: Event; readonly onClose: () => void }) => {
  const { client } = useSession()
  const refresh = Queries.useRefreshWebhooks()
  const [, navigate] = useLocation()
  const [target, setTarget] = useState(EVERYWHERE)
  const candidates = (Queries.useEndpoints().data ?? []).filter((endpoint) => mayHear(endpoint, event))
  const run = () =>
    client.call("post", "/v1/events/{id}/replay", {
      path: { id: event.id },
      body: target === EVERYWHERE ? {} : { endpoint_id: target },
    })
  return (
    <ActionDialog
      action={["Replay", "Replaying…"]}
      description="The event is sent again with the same id and bytes, so that a receiver can recognise an event that it already has."
      isDisabled={candidates.length === 0}
      onClose={onClose}
      onDone={({ data }) => {
        toast(deliveriesOnTheirWay(data.length))
        void refresh()
        onClose()
        const [made] = data
        navigate(
          data.length === 1 && made !== undefined
            ? `/deliveries/${made.id}`
            : `/deliveries?event=${event.id}`,
        )
      }}
      run={run}
      title={`Replay ${event.type}`}
    >
      {candidates.length === 0 && (
        <p className="muted">
          {event.endpoint_id === null
            ? "No enabled endpoint subscribes to this type."
            : "This is a test event for an endpoint that is disabled or deleted."}
        </p>
      )}
      {candidates.length > 0 && event.endpoint_id !== null && (
        <p>This is a test event. It is sent only to its own endpoint.</p>
      )}
      {candidates.length > 0 && event.endpoint_id === null && (
        <fieldset className="choices">
          <legend>Send it to</legend>
          <label className="choice">
            <input
              checked={target === EVERYWHERE}
              name="target"
              onChange={() => setTarget(EVERYWHERE)}
              type="radio"
            />
            <span>
              All {candidates.length} enabled {candidates.length === 1 ? "endpoint" : "endpoints"} that
              subscribe to its type
            </span>
          </label>
          {candidates.map(({ id, url }) => (
            <label className="choice" key={id}>
              <input checked={target === id} name="target" onChange={() => setTarget(id)} type="radio" />
              <span className="break">{url}</span>
            </label>
          ))}
        </fieldset>
      )}
    </ActionDialog>
  )
}

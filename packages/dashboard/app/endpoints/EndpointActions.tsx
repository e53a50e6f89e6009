/**
 * The actions on an endpoint, each in a dialog that explains it.
 */
import { useState } from "react"
import { useLocation } from "wouter"
import * as Queries from "../api/Queries.ts"
import type { Endpoint } from "../api/Types.ts"
import { useSession } from "../session/Session.tsx"
import { ActionDialog } from "../ui/ActionDialog.tsx"
import { Field } from "../ui/Field.tsx"
import { toast } from "../ui/Toast.tsx"
import { whyDisabled } from "./DisabledReason.ts"

interface ActionProps {
  readonly endpoint: Endpoint
  readonly onClose: () => void
}

export const SendTest = ({ endpoint, onClose }: ActionProps) => {
  const { client } = useSession()
  const refresh = Queries.useRefreshWebhooks()
  const [, navigate] = useLocation()
  const types = Queries.useEventTypes().data?.data ?? []
  const [chosen, setChosen] = useState<string>()
  const type = chosen ?? types[0]?.type ?? ""
  return (
    <ActionDialog
      action={["Send test event", "Sending…"]}
      description="Sends the example of an event type, signed, only to this endpoint."
      isDisabled={type === ""}
      onClose={onClose}
      onDone={(event) => {
        toast("The test event is on its way")
        void refresh()
        navigate(`/events/${event.id}`)
      }}
      run={() =>
        client.call("post", "/v1/webhook_endpoints/{id}/test", { path: { id: endpoint.id }, body: { type } })
      }
      title="Send a test event"
    >
      <Field hint={types.find((each) => each.type === type)?.description} label="Type" name="type">
        {(attributes) => (
          <select {...attributes} onChange={(event) => setChosen(event.target.value)} value={type}>
            {types.map((each) => (
              <option key={each.type}>{each.type}</option>
            ))}
          </select>
        )}
      </Field>
    </ActionDialog>
  )
}

const OVERLAPS: ReadonlyArray<readonly [seconds: number, label: string]> = [
  [86_400, "1 day"],
  [3_600, "1 hour"],
  [604_800, "7 days"],
  [0, "No longer: stop at once"],
]

export const RotateSecret = ({
  endpoint,
  onClose,
  onDone,
}: ActionProps & { readonly onDone: (endpoint: Endpoint & { readonly secret?: string }) => void }) => {
  const { client } = useSession()
  const refresh = Queries.useRefreshWebhooks()
  const [overlap, setOverlap] = useState(OVERLAPS[0]?.[0] ?? 0)
  return (
    <ActionDialog
      action={["Rotate secret", "Rotating…"]}
      description="The endpoint gets a new secret. For a while, webhooks are signed with both secrets, so that the receiver can switch."
      onClose={onClose}
      onDone={(rotated) => {
        void refresh()
        onDone(rotated)
      }}
      run={() =>
        client.call("post", "/v1/webhook_endpoints/{id}/rotate_secret", {
          path: { id: endpoint.id },
          body: { expire_previous_after_seconds: overlap },
        })
      }
      title="Rotate the signing secret"
    >
      <Field label="Keep signing with the previous secret for" name="expire_previous_after_seconds">
        {(attributes) => (
          <select
            {...attributes}
            onChange={(event) => setOverlap(Number(event.target.value))}
            value={overlap}
          >
            {OVERLAPS.map(([seconds, label]) => (
              <option key={seconds} value={seconds}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
    </ActionDialog>
  )
}

export const SetStatus = ({ endpoint, onClose }: ActionProps) => {
  const { client } = useSession()
  const refresh = Queries.useRefreshWebhooks()
  const isEnabled = endpoint.status === "enabled"
  return (
    <ActionDialog
      action={isEnabled ? ["Disable", "Disabling…"] : ["Enable", "Enabling…"]}
      description={
        isEnabled
          ? "Nothing is sent to it until you enable it again, and its pending deliveries fail."
          : `${whyDisabled(endpoint)} After that it gets new events. Replay the events that it missed.`
      }
      isDangerous={isEnabled}
      onClose={onClose}
      onDone={() => {
        toast(isEnabled ? "Disabled" : "Enabled")
        void refresh()
        onClose()
      }}
      run={() =>
        client.call("patch", "/v1/webhook_endpoints/{id}", {
          path: { id: endpoint.id },
          body: { status: isEnabled ? "disabled" : "enabled" },
        })
      }
      title={isEnabled ? "Disable this endpoint?" : "Enable this endpoint?"}
    />
  )
}

export const DeleteEndpoint = ({ endpoint, onClose }: ActionProps) => {
  const { client } = useSession()
  const refresh = Queries.useRefreshWebhooks()
  const [, navigate] = useLocation()
  return (
    <ActionDialog
      action={["Delete endpoint", "Deleting…"]}
      description="Its secret is deleted for good, and its pending deliveries fail. The history of its deliveries is kept."
      isDangerous
      onClose={onClose}
      onDone={() => {
        toast("Deleted")
        navigate("/endpoints")
        void refresh()
      }}
      run={() => client.call("delete", "/v1/webhook_endpoints/{id}", { path: { id: endpoint.id } })}
      title="Delete this endpoint?"
    >
      <p className="break">
        <code>{endpoint.url}</code>
      </p>
    </ActionDialog>
  )
}

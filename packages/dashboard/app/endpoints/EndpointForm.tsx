import { useState } from "react"
import { refused } from "../api/FieldError.ts"
import * as Queries from "../api/Queries.ts"
import type { Endpoint } from "../api/Types.ts"
import { useMode } from "../session/Mode.ts"
import { useSession } from "../session/Session.tsx"
import { ActionDialog } from "../ui/ActionDialog.tsx"
import { Field } from "../ui/Field.tsx"
import { ALL_TYPES, EventTypeChoice } from "./EventTypeChoice.tsx"
import * as HeaderLines from "./HeaderLines.ts"
import { HeadersChoice } from "./HeadersChoice.tsx"
import { HeadersField } from "./HeadersField.tsx"

/** The longest URL of an endpoint, in characters. */
const MAX_URL_LENGTH = 2_048
const MAX_DESCRIPTION_LENGTH = 500

const BAD_HEADERS = refused("headers", "must be lines such as x-tenant: 42")

const UrlField = ({
  onChange,
  value,
}: {
  readonly value: string
  readonly onChange: (value: string) => void
}) => {
  const mode = useMode()
  const hint =
    mode === "test"
      ? "http or https, any port. The server’s own machine only if the server allows loopback."
      : "https, port 443 or 8443, and a public address."
  return (
    <Field hint={hint} label="URL" name="url">
      {(attributes) => (
        <input
          {...attributes}
          autoComplete="off"
          maxLength={MAX_URL_LENGTH}
          onChange={(event) => onChange(event.target.value)}
          placeholder="https://example.com/webhooks"
          required
          spellCheck={false}
          type="url"
          value={value}
        />
      )}
    </Field>
  )
}

const DescriptionField = ({
  onChange,
  value,
}: {
  readonly value: string
  readonly onChange: (value: string) => void
}) => (
  <Field label="Description (optional)" name="description">
    {(attributes) => (
      <input
        {...attributes}
        maxLength={MAX_DESCRIPTION_LENGTH}
        onChange={(event) => onChange(event.target.value)}
        value={value}
      />
    )}
  </Field>
)

const originOf = (url: string): string | undefined => (URL.canParse(url) ? new URL(url).origin : undefined)

type Created = Endpoint & { readonly secret?: string }

/** Creates an endpoint. `onDone` gets it with its secret, which no other call returns. */
export const CreateEndpoint = ({
  onClose,
  onDone,
}: {
  readonly onClose: () => void
  readonly onDone: (endpoint: Created) => void
}) => {
  const { client } = useSession()
  const refresh = Queries.useRefreshWebhooks()
  const [url, setUrl] = useState("")
  const [description, setDescription] = useState("")
  const [types, setTypes] = useState<ReadonlyArray<string>>([ALL_TYPES])
  const [headerLines, setHeaderLines] = useState("")
  const [signature, setSignature] = useState<Endpoint["signature"]>("hmac")
  const run = async (): Promise<Created> => {
    const headers = HeaderLines.parse(headerLines)
    if (headers === undefined) throw BAD_HEADERS
    return client.call("post", "/v1/webhook_endpoints", {
      body: {
        url: url.trim(),
        event_types: [...types],
        signature,
        ...(description === "" ? {} : { description }),
        ...(Object.keys(headers).length === 0 ? {} : { headers }),
      },
    })
  }
  return (
    <ActionDialog
      action={["Create endpoint", "Creating…"]}
      isDisabled={types.length === 0}
      onClose={onClose}
      onDone={(endpoint) => {
        void refresh()
        onDone(endpoint)
      }}
      run={run}
      title="New endpoint"
    >
      <UrlField onChange={setUrl} value={url} />
      <EventTypeChoice legend="Events" onChange={setTypes} value={types} />
      <DescriptionField onChange={setDescription} value={description} />
      <details className="fold">
        <summary>Headers and signature</summary>
        <HeadersField onChange={setHeaderLines} value={headerLines} />
        <Field label="Signature" name="signature">
          {(attributes) => (
            <select
              {...attributes}
              onChange={(event) => setSignature(event.target.value as Endpoint["signature"])}
              value={signature}
            >
              <option value="hmac">HMAC: a shared secret (v1)</option>
              <option value="ed25519">Ed25519: a key pair (v1a)</option>
            </select>
          )}
        </Field>
      </details>
    </ActionDialog>
  )
}

export const EditEndpoint = ({
  endpoint,
  onClose,
}: {
  readonly endpoint: Endpoint
  readonly onClose: () => void
}) => {
  const { client } = useSession()
  const refresh = Queries.useRefreshWebhooks()
  const [url, setUrl] = useState(endpoint.url)
  const [description, setDescription] = useState(endpoint.description ?? "")
  const [types, setTypes] = useState<ReadonlyArray<string>>(endpoint.event_types)
  const [headerLines, setHeaderLines] = useState<string>()
  const isSameServer = originOf(url.trim()) === originOf(endpoint.url)
  const canStay = isSameServer || Object.keys(endpoint.headers).length === 0
  const run = async () => {
    const headers = headerLines === undefined ? {} : HeaderLines.parse(headerLines)
    if (headers === undefined) throw BAD_HEADERS
    return client.call("patch", "/v1/webhook_endpoints/{id}", {
      path: { id: endpoint.id },
      body: {
        url: url.trim(),
        event_types: [...types],
        description: description === "" ? null : description,
        ...(headerLines === undefined ? {} : { headers }),
      },
    })
  }
  return (
    <ActionDialog
      action={["Save", "Saving…"]}
      isDisabled={types.length === 0 || (!canStay && headerLines === undefined)}
      onClose={onClose}
      onDone={() => {
        void refresh()
        onClose()
      }}
      run={run}
      title="Edit endpoint"
    >
      <UrlField onChange={setUrl} value={url} />
      <EventTypeChoice legend="Events" onChange={setTypes} value={types} />
      <DescriptionField onChange={setDescription} value={description} />
      <HeadersChoice
        canStay={canStay}
        headers={endpoint.headers}
        onChange={setHeaderLines}
        value={headerLines}
      />
    </ActionDialog>
  )
}

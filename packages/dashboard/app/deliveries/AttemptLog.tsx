/**
 * The attempts of a delivery. Answers of receivers are untrusted, so they are shown only as text.
 */
import type { ReactNode } from "react"
import * as ExactJson from "../api/ExactJson.ts"
import * as Queries from "../api/Queries.ts"
import type { Attempt, DeliveryWithAttempts, Endpoint } from "../api/Types.ts"
import * as Curl from "../Curl.ts"
import * as Instant from "../Instant.ts"
import { CopyButton } from "../ui/CopyButton.tsx"
import { AnswerBadge } from "../ui/StatusBadge.tsx"
import { Time } from "../ui/Time.tsx"
import { ERRORS } from "./Summary.ts"

const Headers = ({
  headers,
  title,
}: {
  readonly headers: Readonly<Record<string, string>>
  readonly title: string
}) => {
  const entries = Object.entries(headers)
  return (
    <details className="fold">
      <summary>
        {title} <span className="muted">({entries.length})</span>
      </summary>
      <dl className="headers">
        {entries.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </details>
  )
}

const Body = ({ attempt }: { readonly attempt: Attempt }): ReactNode => {
  if (attempt.response_status === null) return null
  if (attempt.response_body === null || attempt.response_body === "")
    return <p className="muted">The answer had no body.</p>
  return (
    <pre
      aria-label={`Body of the answer to attempt ${attempt.number}`}
      className="code"
      role="region"
      tabIndex={0}
    >
      {attempt.response_body}
    </pre>
  )
}

/** A command that sends the same request. Its signature is masked, and too old to be accepted. */
const curlOf = (attempt: Attempt, endpoint: Endpoint | undefined, payload: unknown): string =>
  Curl.curl({
    method: "POST",
    url: endpoint?.url ?? "https://…",
    headers: { "content-type": "application/json", ...attempt.request_headers },
    body: ExactJson.stringify(payload),
  })

const AttemptEntry = ({
  attempt,
  endpoint,
  payload,
}: {
  readonly attempt: Attempt
  readonly endpoint: Endpoint | undefined
  readonly payload: unknown
}) => (
  <li className="attempt">
    <header>
      <strong>Attempt {attempt.number}</strong>
      <AnswerBadge error={attempt.error} status={attempt.response_status} />
      <span className="muted">
        <Time at={attempt.started_at} isWhole />
        {attempt.duration_ms !== null && ` · took ${Instant.duration(attempt.duration_ms)}`}
      </span>
      {payload !== undefined && (
        <CopyButton isSmall label="Copy as cURL" text={curlOf(attempt, endpoint, payload)} />
      )}
    </header>
    {attempt.error !== null && <p>{ERRORS[attempt.error]}</p>}
    <Body attempt={attempt} />
    {attempt.response_headers !== null && (
      <Headers headers={attempt.response_headers} title="Response headers" />
    )}
    <Headers headers={attempt.request_headers} title="Request headers" />
  </li>
)

export const AttemptLog = ({
  delivery,
  payload,
}: {
  readonly delivery: DeliveryWithAttempts
  readonly payload: unknown
}) => {
  const endpoint = Queries.useEndpoints().data?.find(({ id }) => id === delivery.endpoint_id)
  if (delivery.attempts.length === 0) return <p className="muted">No attempt has ended yet.</p>
  return (
    <ol className="attempts">
      {delivery.attempts.toReversed().map((attempt) => (
        <AttemptEntry attempt={attempt} endpoint={endpoint} key={attempt.number} payload={payload} />
      ))}
    </ol>
  )
}

import { useState } from "react"
import { Link } from "wouter"
import * as Queries from "../api/Queries.ts"
import { pendingCount } from "../api/Statistics.ts"
import type { Endpoint, EndpointStatistics } from "../api/Types.ts"
import * as Curl from "../Curl.ts"
import { apiAddress } from "../shell/ApiAddress.ts"
import { ActionButton } from "../ui/ActionButton.tsx"
import { EmptyState } from "../ui/EmptyState.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Loaded } from "../ui/Loading.tsx"
import { Page } from "../ui/Page.tsx"
import { EndpointBadge } from "../ui/StatusBadge.tsx"
import { Time } from "../ui/Time.tsx"
import { whyDisabled } from "./DisabledReason.ts"
import { CreateEndpoint } from "./EndpointForm.tsx"
import type { Health } from "./Health.ts"
import { SecretDialog } from "./SecretDialog.tsx"
import { Sparkline } from "./Sparkline.tsx"
import { SuccessRate } from "./SuccessRate.tsx"
import { useHealth } from "./useHealth.ts"

/** `all events`, or the types. */
const typesOf = ({ event_types: types }: Endpoint): string =>
  types.includes("*") ? "all events" : types.join(", ")

const Note = ({ endpoint, health }: { readonly endpoint: Endpoint; readonly health: Health }) => {
  if (health === "disabled") return <span className="warning-text">{whyDisabled(endpoint)}</span>
  if (health === "enabled" || endpoint.failing_since === null) return <>{typesOf(endpoint)}</>
  return (
    <span className="warning-text">
      Nothing has arrived since <Time at={endpoint.failing_since} />
    </span>
  )
}

const EndpointRow = ({
  endpoint,
  health,
  statistics,
}: {
  readonly endpoint: Endpoint
  readonly health: Health
  readonly statistics: EndpointStatistics | undefined
}) => (
  <li className="endpoint-row linked">
    <EndpointBadge health={health} />
    <div className="endpoint-name">
      <Link className="row-link break" href={`/endpoints/${endpoint.id}`}>
        {endpoint.url}
      </Link>
      <p className="muted">
        {endpoint.description === null || endpoint.description === "" ? "" : `${endpoint.description} · `}
        <Note endpoint={endpoint} health={health} />
      </p>
    </div>
    <dl className="endpoint-figures">
      <div>
        <dt>Arrived in 24 h</dt>
        <dd>
          <SuccessRate statistics={statistics} />
        </dd>
      </div>
      <div>
        <dt>Pending</dt>
        <dd>{pendingCount(statistics ?? { pending: 0 })}</dd>
      </div>
    </dl>
    {statistics === undefined ? <span className="sparkline" /> : <Sparkline hours={statistics.hours} />}
  </li>
)

const CREATE_EXAMPLE = { url: "http://localhost:3000/webhooks", event_types: ["*"] }

const Rows = ({ endpoints }: { readonly endpoints: ReadonlyArray<Endpoint> }) => {
  const statistics = Queries.useStatistics().data?.endpoints
  const healthOf = useHealth()
  if (endpoints.length === 0)
    return (
      <EmptyState
        command={Curl.apiCurl(apiAddress(), "POST", "/webhook_endpoints", CREATE_EXAMPLE)}
        title="No endpoints yet"
      >
        <p>An endpoint is where events are sent, signed. Create one here, or by the API:</p>
      </EmptyState>
    )
  return (
    <ul className="rows">
      {endpoints.map((endpoint) => (
        <EndpointRow
          endpoint={endpoint}
          health={healthOf(endpoint)}
          key={endpoint.id}
          statistics={statistics?.find(({ endpoint_id: id }) => id === endpoint.id)}
        />
      ))}
    </ul>
  )
}

/** Creates an endpoint, then shows its secret. */
const useCreation = () => {
  const [isCreating, setIsCreating] = useState(false)
  const [created, setCreated] = useState<Endpoint>()
  const dialogs = (
    <>
      {isCreating && (
        <CreateEndpoint
          onClose={() => setIsCreating(false)}
          onDone={(endpoint) => {
            setIsCreating(false)
            setCreated(endpoint)
          }}
        />
      )}
      {created !== undefined && <SecretDialog endpoint={created} onClose={() => setCreated(undefined)} />}
    </>
  )
  return { dialogs, start: () => setIsCreating(true) }
}

export const EndpointsPage = () => {
  const query = Queries.useEndpoints()
  const creation = useCreation()
  return (
    <Page
      actions={
        <ActionButton className="button primary" does="post /v1/webhook_endpoints" onClick={creation.start}>
          <Icon name="plus" /> New endpoint
        </ActionButton>
      }
      title="Endpoints"
    >
      <Loaded lines={6} query={query}>
        {(endpoints) => <Rows endpoints={endpoints} />}
      </Loaded>
      {creation.dialogs}
    </Page>
  )
}

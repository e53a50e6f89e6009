import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { Link } from "wouter"
import type { OperationName } from "../api/MissingPermissions.ts"
import * as Queries from "../api/Queries.ts"
import { pendingCount } from "../api/Statistics.ts"
import type { Delivery, Endpoint } from "../api/Types.ts"
import { HoursChart } from "../overview/HoursChart.tsx"
import { useSession } from "../session/Session.tsx"
import { ActionButton } from "../ui/ActionButton.tsx"
import { EmptyState } from "../ui/EmptyState.tsx"
import { Identifier } from "../ui/Identifier.tsx"
import { Loaded } from "../ui/Loading.tsx"
import { Page } from "../ui/Page.tsx"
import { AnswerBadge, EndpointBadge, StatusBadge } from "../ui/StatusBadge.tsx"
import { Time } from "../ui/Time.tsx"
import { whyDisabled } from "./DisabledReason.ts"
import { DeleteEndpoint, RotateSecret, SendTest, SetStatus } from "./EndpointActions.tsx"
import { EditEndpoint } from "./EndpointForm.tsx"
import type { Health } from "./Health.ts"
import { RangeReplay } from "./RangeReplay.tsx"
import { SecretDialog } from "./SecretDialog.tsx"
import { SuccessRate } from "./SuccessRate.tsx"
import { useHealth } from "./useHealth.ts"

const RECENT_DELIVERIES = 10

type Action = "edit" | "test" | "rotate" | "status" | "replay" | "delete"

const ACTIONS: ReadonlyArray<readonly [Action, OperationName, (endpoint: Endpoint) => string]> = [
  ["test", "post /v1/webhook_endpoints/{id}/test", () => "Send test event…"],
  ["replay", "post /v1/webhook_endpoints/{id}/replay", () => "Replay…"],
  ["edit", "patch /v1/webhook_endpoints/{id}", () => "Edit…"],
  ["rotate", "post /v1/webhook_endpoints/{id}/rotate_secret", () => "Rotate secret…"],
  [
    "status",
    "patch /v1/webhook_endpoints/{id}",
    ({ status }) => (status === "enabled" ? "Disable…" : "Enable…"),
  ],
  ["delete", "delete /v1/webhook_endpoints/{id}", () => "Delete…"],
]

const Fact = ({ children, name }: { readonly name: string; readonly children: React.ReactNode }) => (
  <div>
    <dt>{name}</dt>
    <dd className="break">{children}</dd>
  </div>
)

const Facts = ({ endpoint }: { readonly endpoint: Endpoint }) => {
  const headers = Object.entries(endpoint.headers)
  return (
    <dl className="facts">
      <Fact name="Endpoint">
        <Identifier id={endpoint.id} />
      </Fact>
      <Fact name="Events">
        {endpoint.event_types.includes("*") ? "all types" : endpoint.event_types.join(", ")}
      </Fact>
      <Fact name="Signature">{endpoint.signature === "hmac" ? "HMAC (v1)" : "Ed25519 (v1a)"}</Fact>
      {endpoint.public_key !== null && (
        <Fact name="Public key">
          <Identifier id={endpoint.public_key} />
        </Fact>
      )}
      <Fact name="Created">
        <Time at={endpoint.created_at} isWhole />
      </Fact>
      {headers.length > 0 && (
        <Fact name="Headers">
          {headers.map(([name, value]) => (
            <code className="block" key={name}>{`${name}: ${value}`}</code>
          ))}
        </Fact>
      )}
      {endpoint.description !== null && <Fact name="Description">{endpoint.description}</Fact>}
    </dl>
  )
}

const StateNotice = ({ endpoint, health }: { readonly endpoint: Endpoint; readonly health: Health }) => {
  if (health === "disabled")
    return (
      <p className="notice warning" role="status">
        {whyDisabled(endpoint)}
        {endpoint.disabled_at !== null && (
          <>
            {" That was "}
            <Time at={endpoint.disabled_at} />.
          </>
        )}
      </p>
    )
  if (endpoint.failing_since === null) return null
  if (health === "enabled")
    return (
      <p className="notice" role="status">
        The last attempt failed. None has succeeded since <Time at={endpoint.failing_since} />.
      </p>
    )
  return (
    <p className="notice warning" role="status">
      Attempts keep failing: none has succeeded since <Time at={endpoint.failing_since} />. After 5 days the
      endpoint is disabled.
    </p>
  )
}

const Figures = ({ id }: { readonly id: string }) => {
  const statistics = Queries.useStatistics().data?.endpoints.find(({ endpoint_id: each }) => each === id)
  if (statistics === undefined) return null
  return (
    <section aria-labelledby="figures-title" className="section">
      <h2 id="figures-title">Last 24 hours</h2>
      <dl className="figures">
        <div>
          <dt>Arrived</dt>
          <dd>
            <SuccessRate statistics={statistics} />
          </dd>
        </div>
        <div>
          <dt>Delivered</dt>
          <dd>{statistics.delivered}</dd>
        </div>
        <div>
          <dt>Failed</dt>
          <dd>{statistics.failed}</dd>
        </div>
        <div>
          <dt>Pending now</dt>
          <dd>{pendingCount(statistics)}</dd>
        </div>
      </dl>
      <HoursChart failed="failed_attempts" hours={statistics.hours} />
    </section>
  )
}

const DeliveryLine = ({ delivery }: { readonly delivery: Delivery }) => (
  <li className="line linked">
    <span className="line-state">
      <StatusBadge status={delivery.status} />
    </span>
    <Link className="row-link grow" href={`/deliveries/${delivery.id}`}>
      {delivery.event_type}
    </Link>
    <AnswerBadge error={delivery.last_error} status={delivery.last_response_status} />
    <Time at={delivery.created_at} />
  </li>
)

const RecentDeliveries = ({ id }: { readonly id: string }) => {
  const { client } = useSession()
  const query = useQuery({
    queryKey: ["deliveries", "recent", id],
    queryFn: ({ signal }) =>
      client.call("get", "/v1/deliveries", { query: { endpoint_id: id, limit: RECENT_DELIVERIES }, signal }),
    refetchInterval: Queries.LIVE_MILLIS,
  })
  return (
    <section aria-labelledby="recent-title" className="section">
      <header className="section-header">
        <h2 id="recent-title">Newest deliveries</h2>
        <Link href={`/deliveries?endpoint=${id}`}>All of them</Link>
      </header>
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState title="Nothing was sent here yet">
              <p>Send a test event to see how the receiver answers.</p>
            </EmptyState>
          ) : (
            <ul className="lines">
              {data.map((delivery) => (
                <DeliveryLine delivery={delivery} key={delivery.id} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  )
}

const ActionDialogs = ({
  action,
  endpoint,
  onClose,
}: {
  readonly action: Action | undefined
  readonly endpoint: Endpoint
  readonly onClose: () => void
}) => {
  const [rotated, setRotated] = useState<Endpoint & { readonly secret?: string }>()
  const showSecret = (changed: Endpoint) => {
    onClose()
    setRotated(changed)
  }
  return (
    <>
      {action === "edit" && <EditEndpoint endpoint={endpoint} onClose={onClose} />}
      {action === "test" && <SendTest endpoint={endpoint} onClose={onClose} />}
      {action === "rotate" && <RotateSecret endpoint={endpoint} onClose={onClose} onDone={showSecret} />}
      {action === "status" && <SetStatus endpoint={endpoint} onClose={onClose} />}
      {action === "replay" && <RangeReplay endpoint={endpoint} onClose={onClose} />}
      {action === "delete" && <DeleteEndpoint endpoint={endpoint} onClose={onClose} />}
      {rotated !== undefined && <SecretDialog endpoint={rotated} onClose={() => setRotated(undefined)} />}
    </>
  )
}

export const EndpointPage = ({ id }: { readonly id: string }) => {
  const query = Queries.useEndpoint(id)
  const healthOf = useHealth()
  const [action, setAction] = useState<Action>()
  const endpoint = query.data
  const buttons =
    endpoint === undefined
      ? undefined
      : ACTIONS.map(([name, does, label]) => (
          <ActionButton
            className={`button ${name === "test" ? "primary" : ""} ${name === "delete" ? "dangerous" : ""}`}
            disabled={endpoint.status === "disabled" && (name === "test" || name === "replay")}
            key={name}
            does={does}
            onClick={() => setAction(name)}
          >
            {label(endpoint)}
          </ActionButton>
        ))
  return (
    <Page
      actions={buttons}
      aside={endpoint !== undefined && <EndpointBadge health={healthOf(endpoint)} />}
      title={endpoint?.url ?? "Endpoint"}
      up={{ href: "/endpoints", label: "Endpoints", id }}
    >
      <Loaded lines={10} query={query}>
        {(loaded) => (
          <>
            <StateNotice endpoint={loaded} health={healthOf(loaded)} />
            <Facts endpoint={loaded} />
            <Figures id={id} />
            <RecentDeliveries id={id} />
            <ActionDialogs action={action} endpoint={loaded} onClose={() => setAction(undefined)} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

/**
 * Badges for states. Shape and word say the state, so it can be read without colours.
 */
import type { DeliveryStatus } from "../api/Types.ts"
import type { Health } from "../endpoints/Health.ts"
import type { Mode } from "../session/Key.ts"
import { Icon, type IconName } from "./Icon.tsx"

const ICONS: Readonly<Record<DeliveryStatus, IconName>> = {
  Delivered: "delivered",
  Pending: "pending",
  Failed: "failed",
}

export const StatusBadge = ({
  count,
  status,
}: {
  readonly status: DeliveryStatus
  /** The number of items, if the badge stands for several. */
  readonly count?: string
}) => (
  <span className={`badge ${status.toLowerCase()}`}>
    <Icon name={ICONS[status]} />
    {count} {status}
  </span>
)

const HEALTHS: Readonly<Record<Health, readonly [IconName, string]>> = {
  enabled: ["delivered", "Enabled"],
  failing: ["failed", "Failing"],
  disabled: ["off", "Disabled"],
}

/** The health of an endpoint. */
export const EndpointBadge = ({ health }: { readonly health: Health }) => {
  const [icon, word] = HEALTHS[health]
  return (
    <span className={`badge ${health}`}>
      <Icon name={icon} />
      {word}
    </span>
  )
}

/** The status of a receiver's answer, or the error if there was no answer. */
export const AnswerBadge = ({
  error,
  status,
}: {
  readonly status: number | null
  readonly error: string | null
}) => {
  if (status === null && error === null) return <span className="muted">no attempt yet</span>
  const isGood = status !== null && status >= 200 && status < 300
  return (
    <span className={`answer ${isGood ? "good" : "bad"}`}>
      {status === null ? error : `HTTP ${status}`}
      {status !== null && error !== null && ` · ${error}`}
    </span>
  )
}

export const ModeBadge = ({ mode }: { readonly mode: Mode | undefined }) =>
  mode === undefined ? null : (
    <span className={`mode-badge ${mode}`}>
      <Icon name={mode} />
      {mode === "live" ? "Live data" : "Test data"}
    </span>
  )

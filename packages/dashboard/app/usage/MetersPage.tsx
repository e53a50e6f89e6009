import { Link } from "wouter"
import type { Meter } from "../api/Types.ts"
import * as Curl from "../Curl.ts"
import * as Quantity from "../Quantity.ts"
import { apiAddress } from "../shell/ApiAddress.ts"
import { EmptyState } from "../ui/EmptyState.tsx"
import { Icon, type IconName } from "../ui/Icon.tsx"
import { Loaded } from "../ui/Loading.tsx"
import { Page } from "../ui/Page.tsx"
import { definitionText } from "./MeterText.ts"
import { useMeterList } from "./useMeterChoice.ts"

const STATUSES: Readonly<Record<Meter["status"], readonly [IconName, string, string]>> = {
  ready: ["delivered", "Ready", "enabled"],
  building: ["pending", "Building", "pending"],
  archived: ["off", "Archived", "disabled"],
}

const Status = ({ status }: { readonly status: Meter["status"] }) => {
  const [icon, word, className] = STATUSES[status]
  return (
    <span className={`badge ${className}`}>
      <Icon name={icon} />
      {word}
    </span>
  )
}

/** The work that is left on a meter, or why it failed. */
const Work = ({ meter: { key, rebuild } }: { readonly meter: Meter }) => {
  if (rebuild === null) return null
  if (rebuild.status === "failed") {
    return (
      <p>
        <strong>{definitionText(rebuild)}</strong> can’t be built: {rebuild.problem}
      </p>
    )
  }
  if (rebuild.status === "removing")
    return <p className="muted">What is no longer needed is being removed.</p>
  return (
    <p>
      <progress
        aria-label={`Progress of the meter ${key}`}
        max={Math.max(1, rebuild.total)}
        value={rebuild.done}
      />{" "}
      <span className="muted">
        {definitionText(rebuild)}: {Quantity.format(rebuild.done)} of {Quantity.format(rebuild.total)} days
      </span>
    </p>
  )
}

const NoMeters = () => (
  <EmptyState
    command={Curl.apiCurl(apiAddress(), "POST", "/meters", {
      key: "tokens",
      product_id: "chat",
      unit: "token",
      dimensions: ["model", "kind"],
    })}
    title="No meters yet"
  >
    <p>
      Usage is summed up without a meter, too. A meter adds other aggregations, and dimensions to filter and
      group by:
    </p>
  </EmptyState>
)

const MeterList = ({ meters }: { readonly meters: ReadonlyArray<Meter> }) => (
  <ul className="thresholds">
    {meters.map((meter) => (
      <li className="threshold" key={meter.id}>
        <header>
          <strong>{meter.name ?? meter.key}</strong>
          <span className="muted grow">
            {meter.name !== null && <code>{meter.key}</code>} {meter.product_id}, {meter.unit} ·{" "}
            {definitionText(meter)}
          </span>
          <Status status={meter.status} />
        </header>
        <Work meter={meter} />
      </li>
    ))}
  </ul>
)

/** All meters of the tenant, with the work that is left on them. */
export const MetersPage = () => (
  <Page aside={<Link href="/usage">Usage</Link>} title="Meters">
    <Loaded lines={5} query={useMeterList()}>
      {(meters) => (meters.length === 0 ? <NoMeters /> : <MeterList meters={meters} />)}
    </Loaded>
  </Page>
)

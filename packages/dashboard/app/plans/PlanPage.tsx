import { useState } from "react"
import type { PlanVersion } from "../api/Types.ts"
import { EmptyState } from "../ui/EmptyState.tsx"
import { Fact, Facts } from "../ui/Facts.tsx"
import { useFilters } from "../ui/Filters.tsx"
import { Loaded } from "../ui/Loading.tsx"
import { Page } from "../ui/Page.tsx"
import { Calculator } from "./Calculator.tsx"
import { intervalText } from "./PlanTexts.ts"
import { SubscriberNote, Subscribers } from "./SubscriberNote.tsx"
import { usePlans, useVersions } from "./usePlans.ts"
import { useSubscriberCounts } from "./useSubscriberCounts.ts"
import { VersionsTable } from "./VersionsTable.tsx"

/** The newest versions that stand side by side at first. */
const SHOWN = 3

/** Which versions stand side by side. */
const VersionChoice = ({
  all,
  onChange,
  shown,
}: {
  readonly all: ReadonlyArray<PlanVersion>
  readonly shown: ReadonlyArray<number>
  readonly onChange: (shown: ReadonlyArray<number>) => void
}) => (
  <fieldset className="choices version-choice">
    <legend>Side by side</legend>
    {all.map(({ version }) => (
      <label className="choice" key={version}>
        <input
          checked={shown.includes(version)}
          disabled={shown.length === 1 && shown.includes(version)}
          onChange={({ target }) =>
            onChange(target.checked ? [...shown, version] : shown.filter((each) => each !== version))
          }
          type="checkbox"
        />
        <span>Version {version}</span>
      </label>
    ))}
  </fieldset>
)

/** The newest versions, and the one that the address asks for. */
const firstShown = (all: ReadonlyArray<PlanVersion>, asked: number): ReadonlyArray<number> => {
  const newest = all.slice(0, SHOWN).map(({ version }) => version)
  return all.some(({ version }) => version === asked) ? [...new Set([...newest, asked])] : newest
}

const Versions = ({ all, asked }: { readonly all: ReadonlyArray<PlanVersion>; readonly asked: number }) => {
  const counts = useSubscriberCounts()
  const [chosen, setChosen] = useState<ReadonlyArray<number>>()
  const shown = chosen ?? firstShown(all, asked)
  const versions = all.filter(({ version }) => shown.includes(version)).toReversed()
  const priced = all.find(({ version }) => version === asked) ?? versions.at(-1)
  return (
    <>
      {priced !== undefined && <Calculator key={priced.id} version={priced} />}
      <section aria-labelledby="versions-title" className="section">
        <h2 id="versions-title">Versions</h2>
        {all.length > 1 && <VersionChoice all={all} onChange={setChosen} shown={shown} />}
        <VersionsTable counts={counts} versions={versions} />
        <SubscriberNote counts={counts} />
      </section>
    </>
  )
}

export const PlanPage = ({ planKey }: { readonly planKey: string }) => {
  const filters = useFilters()
  const plans = usePlans()
  const counts = useSubscriberCounts()
  const query = useVersions(planKey)
  const plan = plans.data?.find(({ key }) => key === planKey)
  return (
    <Page title={plan?.name ?? planKey} up={{ href: "/plans", label: "Plans", id: planKey }}>
      {plan !== undefined && (
        <Facts>
          <Fact name="Plan">
            <code>{plan.key}</code>
          </Fact>
          {plan.description !== null && <Fact name="Description">{plan.description}</Fact>}
          <Fact name="Newest version">{plan.version}</Fact>
          <Fact name="Billed">{intervalText(plan.terms.interval)}</Fact>
          <Fact name="Used by">
            <Subscribers counts={counts} planKey={plan.key} />
          </Fact>
        </Facts>
      )}
      <Loaded lines={8} query={query}>
        {(all) =>
          all.length === 0 ? (
            <EmptyState title={`There is no plan ${planKey}`} />
          ) : (
            <Versions all={all} asked={Number(filters.get("version") ?? Number.NaN)} />
          )
        }
      </Loaded>
    </Page>
  )
}

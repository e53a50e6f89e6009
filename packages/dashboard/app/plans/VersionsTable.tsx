/**
 * Versions of a plan side by side.
 */
import { useState } from "react"
import type { PlanVersion } from "../api/Types.ts"
import { Day } from "../ui/Period.tsx"
import { Subscribers } from "./SubscriberNote.tsx"
import { rowsOf } from "./TermRows.ts"
import type { SubscriberCounts } from "./useSubscriberCounts.ts"

const Head = ({
  counts,
  version,
}: {
  readonly version: PlanVersion
  readonly counts: SubscriberCounts | undefined
}) => (
  <th scope="col">
    Version {version.version}
    <span className="block">
      <Day at={version.created_at} />
    </span>
    <span className="block">
      <Subscribers counts={counts} planKey={version.plan_key} version={version.version} />
    </span>
  </th>
)

export const VersionsTable = ({
  counts,
  versions,
}: {
  readonly versions: ReadonlyArray<PlanVersion>
  readonly counts: SubscriberCounts | undefined
}) => {
  const [onlyDifferent, setOnlyDifferent] = useState(false)
  const all = rowsOf(versions.map(({ terms }) => terms))
  const rows = onlyDifferent ? all.filter(({ differs }) => differs) : all
  return (
    <>
      {versions.length > 1 && (
        <label className="choice">
          <input
            checked={onlyDifferent}
            onChange={({ target }) => setOnlyDifferent(target.checked)}
            type="checkbox"
          />
          <span>Only what differs</span>
        </label>
      )}
      {/* Many versions can be scrolled, also by keyboard. */}
      <div aria-label="Terms of the versions" className="scroll-x" role="region" tabIndex={0}>
        <table className="versions-table">
          <thead>
            <tr>
              <th scope="col">Term</th>
              {versions.map((version) => (
                <Head counts={counts} key={version.id} version={version} />
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ differs, name, values }) => (
              <tr className={differs ? "differs" : ""} key={name}>
                <th scope="row">{name}</th>
                {values.map((value, index) => (
                  <td key={index}>{value ?? <span className="muted">–</span>}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length === 0 && <p className="muted">The terms are the same.</p>}
    </>
  )
}

import { useQueries } from "@tanstack/react-query"
import type { Hold } from "../api/Types.ts"
import { useSession } from "../session/Session.tsx"
import { StateBadge, type Tone } from "../ui/StateBadge.tsx"
import { Time } from "../ui/Time.tsx"
import * as Units from "./Units.ts"
import { useRecentEntries } from "./useCredits.ts"

/** The most holds that are read: each is a request. */
const MAX_HOLDS = 20

/** The holds among the newest entries. The API has no list of them. */
const useHolds = (customerId: string, unit: string): ReadonlyArray<Hold> => {
  const { client } = useSession()
  const entries = useRecentEntries(customerId, unit).data ?? []
  const reserved = entries.flatMap(({ hold_id: id, kind }) => (kind === "reserve" && id !== null ? [id] : []))
  const ids = [...new Set(reserved)].slice(0, MAX_HOLDS)
  return useQueries({
    queries: ids.map((id) => ({
      queryKey: ["credits", "hold", id],
      queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
        client.call("get", "/v1/holds/{id}", { path: { id }, signal }),
    })),
  }).flatMap(({ data }) => (data === undefined ? [] : [data]))
}

const HOLDS: Readonly<Record<Hold["status"], readonly [tone: Tone, word: string]>> = {
  open: ["wait", "Open"],
  committed: ["good", "Used"],
  released: ["quiet", "Given back"],
  lapsed: ["quiet", "Lapsed"],
}

const HoldLine = ({ decimals, hold }: { readonly decimals: number; readonly hold: Hold }) => {
  const { amount, committed, expires_at: expires, id, settled_at: settled, status, unit } = hold
  const [tone, word] = HOLDS[status]
  return (
    <li className="line">
      <span className="line-state wide">
        <StateBadge tone={tone} word={word} />
      </span>
      <span className="grow two-lines">
        <code className="clip">{id}</code>
        <span className="muted">
          {settled === null ? "lapses " : "settled "}
          <Time at={settled ?? expires} />
        </span>
      </span>
      {committed !== null && <span className="muted">used {Units.format(committed, unit, decimals)}</span>}
      <span className="amount">{Units.format(amount, unit, decimals)}</span>
    </li>
  )
}

/** The newest holds of an account, if there are any. */
export const Holds = ({
  customerId,
  decimals,
  unit,
}: {
  readonly customerId: string
  readonly decimals: number
  readonly unit: string
}) => {
  const holds = useHolds(customerId, unit)
  if (holds.length === 0) return null
  return (
    <section aria-labelledby="holds-title" className="section">
      <h2 id="holds-title">Newest holds</h2>
      <ul className="lines">
        {holds.map((hold) => (
          <HoldLine decimals={decimals} hold={hold} key={hold.id} />
        ))}
      </ul>
    </section>
  )
}

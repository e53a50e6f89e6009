import { useMemo } from "react"
import type { Hold } from "../api/Types.ts"
import { useLiveList } from "../api/useLiveList.ts"
import * as Instant from "../Instant.ts"
import { useSession } from "../session/Session.tsx"
import { type Column, DataTable, MOMENT_WIDTH } from "../ui/DataTable.tsx"
import { StateBadge, type Tone } from "../ui/StateBadge.tsx"
import { Time } from "../ui/Time.tsx"
import * as Units from "./Units.ts"

const HOLDS: Readonly<Record<Hold["status"], readonly [tone: Tone, word: string]>> = {
  open: ["wait", "Open"],
  committed: ["good", "Used"],
  released: ["quiet", "Given back"],
  lapsed: ["quiet", "Lapsed"],
}

const columnsOf = (decimals: number): ReadonlyArray<Column<Hold>> => [
  {
    id: "status",
    header: "State",
    width: "minmax(8rem, 10rem)",
    narrow: "first",
    cell: ({ status }) => <StateBadge tone={HOLDS[status][0]} word={HOLDS[status][1]} />,
  },
  {
    id: "id",
    header: "Hold",
    width: "minmax(11rem, 2fr)",
    narrow: "hidden",
    cell: ({ id, purpose }) => (
      <code className="clip">
        {id}
        {purpose !== null && ` for ${purpose}`}
      </code>
    ),
  },
  {
    id: "amount",
    header: "Held",
    width: "minmax(8rem, 1fr)",
    isNumber: true,
    cell: ({ amount, unit }) => <span className="amount">{Units.format(amount, unit, decimals)}</span>,
  },
  {
    id: "committed",
    header: "Used",
    width: "minmax(8rem, 1fr)",
    isNumber: true,
    narrow: "hidden",
    cell: ({ committed, unit }) =>
      committed === null ? (
        <span className="muted">–</span>
      ) : (
        <span className="amount">{Units.format(committed, unit, decimals)}</span>
      ),
  },
  {
    id: "until",
    header: `Until (${Instant.zone})`,
    width: MOMENT_WIDTH,
    isNumber: true,
    narrow: "end",
    cell: ({ expires_at: expires, settled_at: settled }) => <Time at={settled ?? expires} />,
  },
]

/** The holds of an account, newest first: those that are open, and what became of the others. */
export const Holds = ({
  customerId,
  decimals,
  unit,
}: {
  readonly customerId: string
  readonly decimals: number
  readonly unit: string
}) => {
  const columns = useMemo(() => columnsOf(decimals), [decimals])
  const { client } = useSession()
  const query = { customer_id: customerId, unit }
  const list = useLiveList<Hold>({
    key: ["credits", "holds", query],
    fetchPage: (page, signal) => client.call("get", "/v1/holds", { query: { ...query, ...page }, signal }),
  })
  return (
    <section aria-labelledby="holds-title" className="section records">
      <h2 id="holds-title">Holds</h2>
      <DataTable
        columns={columns}
        empty={<p className="muted">None. A hold keeps credits while work is under way.</p>}
        hasLinks={false}
        label="Credit holds"
        list={list}
      />
    </section>
  )
}

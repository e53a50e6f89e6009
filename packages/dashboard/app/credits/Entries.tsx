import { useMemo } from "react"
import { Link } from "wouter"
import type { CreditEntry } from "../api/Types.ts"
import { useLiveList } from "../api/useLiveList.ts"
import * as Instant from "../Instant.ts"
import { useSession } from "../session/Session.tsx"
import { type Column, DataTable, MOMENT_WIDTH } from "../ui/DataTable.tsx"
import { Time } from "../ui/Time.tsx"
import * as Units from "./Units.ts"

const KINDS: Readonly<Record<CreditEntry["kind"], string>> = {
  grant: "Granted",
  expire: "Expired",
  void: "Taken back",
  consume: "Used",
  reserve: "Held",
  commit: "Used of a hold",
  release: "Given back by a hold",
  lapse: "A hold lapsed",
  repay: "Paid a debt",
  adjust: "The plan was changed",
  apply: "Used for an invoice",
  restore: "Given back by an invoice",
  burn: "Burnt by usage",
}

const Change = ({
  amount,
  decimals,
  unit,
}: {
  readonly amount: number
  readonly decimals: number
  readonly unit: string
}) =>
  BigInt(amount) === 0n ? (
    <span className="muted">–</span>
  ) : (
    <span className="amount">{Units.formatChange(amount, unit, decimals)}</span>
  )

const columnsOf = (decimals: number): ReadonlyArray<Column<CreditEntry>> => [
  {
    id: "kind",
    header: "What happened",
    width: "minmax(11rem, 1fr)",
    narrow: "first",
    cell: ({ invoice_id: invoice, kind, purpose }) => {
      const text = purpose === null ? KINDS[kind] : `${KINDS[kind]}: ${purpose}`
      return invoice === null ? (
        text
      ) : (
        <Link className="row-link" href={`/invoices/${invoice}`}>
          {text}
        </Link>
      )
    },
  },
  {
    id: "available",
    header: "Available",
    width: "minmax(9rem, 1fr)",
    isNumber: true,
    // Of a grant for some things alone it is `scoped`, and otherwise `available`: one of them is 0.
    cell: ({ available, scoped, unit }) => (
      <Change amount={BigInt(scoped) === 0n ? available : scoped} decimals={decimals} unit={unit} />
    ),
  },
  {
    id: "held",
    header: "Held",
    width: "minmax(9rem, 1fr)",
    isNumber: true,
    narrow: "hidden",
    cell: ({ held, unit }) => <Change amount={held} decimals={decimals} unit={unit} />,
  },
  {
    id: "at",
    header: `When (${Instant.zone})`,
    width: MOMENT_WIDTH,
    isNumber: true,
    narrow: "end",
    cell: ({ at }) => <Time at={at} />,
  },
]

/** What changed the credits of an account, newest first. */
export const Entries = ({
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
  const list = useLiveList<CreditEntry>({
    key: ["credits", "entries", query],
    fetchPage: (page, signal) =>
      client.call("get", "/v1/credit_entries", { query: { ...query, ...page }, signal }),
  })
  return (
    <section aria-labelledby="entries-title" className="section records">
      <h2 id="entries-title">Entries</h2>
      <DataTable
        columns={columns}
        empty={<p className="muted">None.</p>}
        hasLinks={false}
        label="Credit entries"
        list={list}
      />
    </section>
  )
}

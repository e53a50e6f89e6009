import { Link } from "wouter"
import type { AuditRecord } from "../api/Types.ts"
import { useLiveList } from "../api/useLiveList.ts"
import * as Instant from "../Instant.ts"
import { useSession } from "../session/Session.tsx"
import { type Column, DataTable, MOMENT_WIDTH } from "../ui/DataTable.tsx"
import { EmptyState } from "../ui/EmptyState.tsx"
import { FilterBar, type Filters, InputFilter, useFilters } from "../ui/Filters.tsx"
import { Page } from "../ui/Page.tsx"
import { Time } from "../ui/Time.tsx"
import { actorOf } from "./Actor.ts"

const COLUMNS: ReadonlyArray<Column<AuditRecord>> = [
  {
    id: "action",
    header: "Change",
    width: "minmax(13rem, 1fr)",
    narrow: "first",
    cell: ({ action, id }) => (
      <Link className="row-link" href={`/audit-log/${id}`}>
        {action}
      </Link>
    ),
  },
  {
    id: "object",
    header: "Object",
    width: "minmax(17rem, 1.2fr)",
    narrow: "hidden",
    cell: ({ object_id: id }) => <code title={id}>{id}</code>,
  },
  {
    id: "actor",
    header: "By",
    width: "minmax(13rem, 1.2fr)",
    cell: (record) => <span title={record.actor_id}>{actorOf(record)}</span>,
  },
  {
    id: "ip",
    header: "From",
    width: "minmax(8rem, 0.6fr)",
    narrow: "hidden",
    cell: ({ ip }) => (ip === null ? <span className="muted">unknown</span> : <code>{ip}</code>),
  },
  {
    id: "made",
    header: `Made (${Instant.zone})`,
    width: MOMENT_WIDTH,
    isNumber: true,
    narrow: "end",
    cell: ({ created_at: at }) => <Time at={at} />,
  },
]

/** The parameters of the list, from the page's address. */
const queryOf = (filters: Filters) => {
  const [from, to] = [filters.get("from"), filters.get("to")]
  return {
    action: filters.get("action"),
    object_id: filters.get("object"),
    actor_id: filters.get("actor"),
    created_after: from === undefined ? undefined : Instant.startOfDay(from),
    created_before: to === undefined ? undefined : Instant.startOfDay(to, 1),
  }
}

const NoRecords = ({ isFiltered }: { readonly isFiltered: boolean }) =>
  isFiltered ? (
    <EmptyState title="No changes match these filters">
      <p>Clear a filter to see more.</p>
    </EmptyState>
  ) : (
    <EmptyState title="No changes yet">
      <p>Every change appears here, with who made it and from where.</p>
    </EmptyState>
  )

/** Who changed what. */
export const AuditLogPage = () => {
  const { client } = useSession()
  const filters = useFilters()
  const query = queryOf(filters)
  const list = useLiveList<AuditRecord>({
    key: ["audit", query],
    fetchPage: (page, signal) =>
      client.call("get", "/v1/audit_log", { query: { ...query, ...page }, signal }),
  })
  return (
    <Page isList title="Audit log">
      <FilterBar filters={filters}>
        <InputFilter filters={filters} label="Change" name="action" placeholder="customer.updated" />
        <InputFilter filters={filters} label="Object" name="object" placeholder="Its id" />
        <InputFilter filters={filters} label="By" name="actor" placeholder="Id of a key or a person" />
        <InputFilter filters={filters} label="From" name="from" type="date" />
        <InputFilter filters={filters} label="To" name="to" type="date" />
      </FilterBar>
      <DataTable
        columns={COLUMNS}
        empty={<NoRecords isFiltered={filters.isAny} />}
        label="Audit log"
        list={list}
      />
    </Page>
  )
}

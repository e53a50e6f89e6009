import { useQueryClient } from "@tanstack/react-query"
import { useMemo, useState } from "react"
import type { UsageRecord } from "../api/Types.ts"
import { useLiveList } from "../api/useLiveList.ts"
import * as Quantity from "../Quantity.ts"
import { useSession } from "../session/Session.tsx"
import { ActionDialog } from "../ui/ActionDialog.tsx"
import { type Column, DataTable } from "../ui/DataTable.tsx"
import { Time } from "../ui/Time.tsx"
import { toast } from "../ui/Toast.tsx"

const columnsOf = (onVoid: (record: UsageRecord) => void): ReadonlyArray<Column<UsageRecord>> => [
  {
    id: "product",
    header: "Product",
    width: "minmax(8rem, 1fr)",
    narrow: "first",
    cell: ({ product_id: product }) => product,
  },
  {
    id: "quantity",
    header: "Quantity",
    width: "minmax(9rem, 1fr)",
    isNumber: true,
    cell: ({ quantity, unit, voided_at: voidedAt }) => (
      <span className={voidedAt === null ? "" : "struck"}>
        {Quantity.format(quantity)} <span className="muted">{unit}</span>
      </span>
    ),
  },
  {
    id: "used",
    header: "Used",
    width: "8rem",
    isNumber: true,
    narrow: "end",
    cell: ({ timestamp }) => <Time at={timestamp} />,
  },
  {
    id: "record",
    header: "Record",
    width: "minmax(18.5rem, 1.4fr)",
    narrow: "hidden",
    cell: ({ id }) => <code title={id}>{id}</code>,
  },
  {
    id: "void",
    header: "Correction",
    width: "7rem",
    narrow: "fixed",
    cell: (record) =>
      record.voided_at === null ? (
        <button className="button small" onClick={() => onVoid(record)} type="button">
          Void…
        </button>
      ) : (
        <span className="muted">
          voided <Time at={record.voided_at} />
        </span>
      ),
  },
]

const VoidRecord = ({ onClose, record }: { readonly record: UsageRecord; readonly onClose: () => void }) => {
  const { client } = useSession()
  const queries = useQueryClient()
  return (
    <ActionDialog
      action={["Void the record", "Voiding…"]}
      description="The record stays, its quantity no longer counts. This can't be undone: a correction is a new record."
      isDangerous
      onClose={onClose}
      onDone={() => {
        toast("Voided")
        onClose()
        void queries.invalidateQueries({ queryKey: ["usage"] })
      }}
      run={() => client.call("post", "/v1/usage/records/{id}/void", { path: { id: record.id } })}
      title={`Void ${Quantity.format(record.quantity)} ${record.unit} of ${record.product_id}?`}
    >
      <p>
        <code>{record.id}</code>
      </p>
    </ActionDialog>
  )
}

/** A customer's records, newest first, to be corrected one by one. */
export const UsageRecords = ({ customerId }: { readonly customerId: string }) => {
  const { client } = useSession()
  const [voiding, setVoiding] = useState<UsageRecord>()
  const columns = useMemo(() => columnsOf(setVoiding), [])
  const list = useLiveList<UsageRecord>({
    key: ["usage", { customerId }],
    fetchPage: (page, signal) =>
      client.call("get", "/v1/usage/records", { query: { customer_id: customerId, ...page }, signal }),
  })
  return (
    <section aria-labelledby="records-title" className="section records">
      <h2 id="records-title">Records</h2>
      <DataTable
        columns={columns}
        empty={<p className="muted">None yet.</p>}
        label="Usage records"
        list={list}
      />
      {voiding !== undefined && <VoidRecord onClose={() => setVoiding(undefined)} record={voiding} />}
    </section>
  )
}

import { useQueryClient } from "@tanstack/react-query"
import { useMemo, useState } from "react"
import type { UsageRecord } from "../api/Types.ts"
import { useLiveList } from "../api/useLiveList.ts"
import * as Instant from "../Instant.ts"
import * as Quantity from "../Quantity.ts"
import { useSession } from "../session/Session.tsx"
import { ActionButton } from "../ui/ActionButton.tsx"
import { ActionDialog } from "../ui/ActionDialog.tsx"
import { type Column, DataTable, MOMENT_WIDTH } from "../ui/DataTable.tsx"
import { type Filters, SelectFilter, useFilters } from "../ui/Filters.tsx"
import { Time } from "../ui/Time.tsx"
import { toast } from "../ui/Toast.tsx"
import { Dimensions } from "./Dimensions.tsx"
import { useChosenMeter } from "./useMeterChoice.ts"
import { useMeters } from "./useTotals.ts"

const DIMENSIONS: Column<UsageRecord> = {
  id: "dimensions",
  header: "Dimensions",
  width: "minmax(8rem, 1.4fr)",
  cell: ({ dimensions }) => <Dimensions dimensions={dimensions} />,
}

/** Dimensions have a column only if one of the records has some. */
const columnsOf = (
  onVoid: (record: UsageRecord) => void,
  hasDimensions: boolean,
): ReadonlyArray<Column<UsageRecord>> => [
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
  ...(hasDimensions ? [DIMENSIONS] : []),
  {
    id: "used",
    header: `Used (${Instant.zone})`,
    width: MOMENT_WIDTH,
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
    width: "12.5rem",
    narrow: "fixed",
    cell: (record) =>
      record.voided_at === null ? (
        <ActionButton
          className="button small"
          does="post /v1/usage/records/{id}/void"
          onClick={() => onVoid(record)}
        >
          Void…
        </ActionButton>
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
      description="The record stays, but its quantity no longer counts. This can't be undone. To correct a mistake, record the usage again."
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

const optionsOf = (values: ReadonlyArray<string>) =>
  [...new Set(values)].map((value) => [value, value] as const)

/** Filters with the products and units that were used, so that nobody has to type them. */
const MeterFilters = ({
  customerId,
  filters,
}: {
  readonly customerId: string
  readonly filters: Filters
}) => {
  const meters = useMeters(customerId).data ?? []
  const product = filters.get("product")
  const units = meters.filter(({ productId }) => product === undefined || productId === product)
  return (
    <>
      <SelectFilter
        filters={filters}
        label="Product"
        name="product"
        options={optionsOf(meters.map(({ productId }) => productId))}
      />
      <SelectFilter
        filters={filters}
        label="Unit"
        name="unit"
        options={optionsOf(units.map(({ unit }) => unit))}
      />
    </>
  )
}

/** A customer's records, newest first. Each can be voided. */
export const UsageRecords = ({ customerId }: { readonly customerId: string }) => {
  const { client } = useSession()
  const filters = useFilters()
  const chosen = useChosenMeter(filters)
  const query = {
    customer_id: customerId,
    ...(chosen === undefined
      ? { product_id: filters.get("product"), unit: filters.get("unit") }
      : { meter: chosen.meter.key, where: [...chosen.where] }),
  }
  const [voiding, setVoiding] = useState<UsageRecord>()
  const list = useLiveList<UsageRecord>({
    key: ["usage", query],
    fetchPage: (page, signal) =>
      client.call("get", "/v1/usage/records", { query: { ...query, ...page }, signal }),
  })
  const hasDimensions = list.rows.some(({ dimensions }) => Object.keys(dimensions).length > 0)
  const columns = useMemo(() => columnsOf(setVoiding, hasDimensions), [hasDimensions])
  return (
    <section aria-labelledby="records-title" className="section records">
      <header className="section-header">
        <h2 id="records-title">Records</h2>
        {chosen === undefined ? (
          <MeterFilters customerId={customerId} filters={filters} />
        ) : (
          <span className="muted">of the meter {chosen.meter.key}, with its filters</span>
        )}
      </header>
      <DataTable columns={columns} empty={<p className="muted">None.</p>} label="Usage records" list={list} />
      {voiding !== undefined && <VoidRecord onClose={() => setVoiding(undefined)} record={voiding} />}
    </section>
  )
}

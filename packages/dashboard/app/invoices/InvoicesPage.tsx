import { Link } from "wouter"
import { UTC } from "../api/Queries.ts"
import type { Invoice } from "../api/Types.ts"
import { useLiveList } from "../api/useLiveList.ts"
import { CustomerFilter } from "../customers/CustomerFilter.tsx"
import { CustomerName } from "../customers/CustomerName.tsx"
import { figureOptions, INVOICE_FIGURES, type InvoiceFigure } from "../money/Figures.ts"
import { useSession } from "../session/Session.tsx"
import { type Column, DataTable } from "../ui/DataTable.tsx"
import { EmptyState } from "../ui/EmptyState.tsx"
import { FilterBar, type Filters, InputFilter, SelectFilter, useFilters } from "../ui/Filters.tsx"
import { Amount } from "../ui/Money.tsx"
import { Page } from "../ui/Page.tsx"
import { ZonedDay } from "../ui/Period.tsx"
import { DueDay } from "./DueDay.tsx"
import { InvoiceBadge } from "./InvoiceBadge.tsx"
import { STATUS_OPTIONS } from "./InvoiceStates.ts"

const COLUMNS: ReadonlyArray<Column<Invoice>> = [
  {
    id: "number",
    header: "Number",
    width: "minmax(8rem, 0.8fr)",
    narrow: "first",
    cell: ({ id, number }) => (
      <Link className="row-link" href={`/invoices/${id}`}>
        {number ?? "Draft"}
      </Link>
    ),
  },
  {
    id: "status",
    header: "Status",
    width: "9rem",
    narrow: "fixed",
    cell: (invoice) => <InvoiceBadge invoice={invoice} />,
  },
  {
    id: "customer",
    header: "Customer",
    width: "minmax(9rem, 1.4fr)",
    cell: ({ customer_id: id }) => <CustomerName className="cell-link" id={id} />,
  },
  {
    id: "total",
    header: "Total",
    width: "minmax(7rem, 0.8fr)",
    isNumber: true,
    narrow: "end",
    cell: ({ currency, total }) => <Amount amount={total} currency={currency} />,
  },
  {
    id: "due",
    header: "To pay",
    width: "minmax(7rem, 0.8fr)",
    isNumber: true,
    narrow: "hidden",
    cell: ({ amount_due: due, currency, status }) =>
      status === "draft" ? <span className="muted">–</span> : <Amount amount={due} currency={currency} />,
  },
  {
    id: "issued",
    header: `Issued (${UTC})`,
    width: "minmax(8rem, 0.7fr)",
    isNumber: true,
    narrow: "hidden",
    cell: ({ issued_at: at }) =>
      at === null ? <span className="muted">not yet</span> : <ZonedDay at={at} zone={UTC} />,
  },
  {
    id: "dueAt",
    header: "Due by",
    width: "minmax(8rem, 0.7fr)",
    isNumber: true,
    narrow: "hidden",
    cell: ({ customer_id: customerId, due_at: at }) =>
      at === null ? <span className="muted">–</span> : <DueDay at={at} customerId={customerId} />,
  },
]

const queryOf = (filters: Filters) => ({
  status: filters.get("status") as Invoice["status"] | undefined,
  customer_id: filters.get("customer"),
  subscription_id: filters.get("subscription"),
  currency: filters.get("currency"),
  figure: filters.get("figure") as InvoiceFigure | undefined,
})

const NoInvoices = ({ isFiltered }: { readonly isFiltered: boolean }) =>
  isFiltered ? (
    <EmptyState title="No invoices match these filters">
      <p>Clear a filter to see more.</p>
    </EmptyState>
  ) : (
    <EmptyState title="No invoices yet">
      <p>
        Subscriptions make them: start one on the page <Link href="/subscriptions">Subscriptions</Link>.
      </p>
    </EmptyState>
  )

export const InvoicesPage = () => {
  const { client } = useSession()
  const filters = useFilters()
  const query = queryOf(filters)
  const list = useLiveList<Invoice>({
    key: ["invoices", query],
    fetchPage: (page, signal) => client.call("get", "/v1/invoices", { query: { ...query, ...page }, signal }),
  })
  return (
    <Page isList title="Invoices">
      <FilterBar filters={filters}>
        <SelectFilter filters={filters} label="Status" name="status" options={STATUS_OPTIONS} />
        <CustomerFilter filters={filters} name="customer" />
        <InputFilter filters={filters} label="Subscription" name="subscription" placeholder="sub_…" />
        <SelectFilter
          filters={filters}
          label="Figure"
          name="figure"
          options={figureOptions(INVOICE_FIGURES)}
        />
        <InputFilter filters={filters} label="Currency" name="currency" placeholder="EUR" />
      </FilterBar>
      <DataTable
        columns={COLUMNS}
        empty={<NoInvoices isFiltered={filters.isAny} />}
        label="Invoices"
        list={list}
      />
    </Page>
  )
}

import { Link } from "wouter"
import type { Payment } from "../api/Types.ts"
import { useLiveList } from "../api/useLiveList.ts"
import { CustomerFilter } from "../customers/CustomerFilter.tsx"
import { CustomerName } from "../customers/CustomerName.tsx"
import * as Instant from "../Instant.ts"
import { figureOptions, PAYMENT_FIGURES } from "../money/Figures.ts"
import { useSession } from "../session/Session.tsx"
import { type Column, DataTable, MOMENT_WIDTH } from "../ui/DataTable.tsx"
import { EmptyState } from "../ui/EmptyState.tsx"
import { FilterBar, type Filters, InputFilter, SelectFilter, useFilters } from "../ui/Filters.tsx"
import { Amount } from "../ui/Money.tsx"
import { Page } from "../ui/Page.tsx"
import { Time } from "../ui/Time.tsx"
import { PaymentBadge } from "./PaymentBadge.tsx"
import { optionsOf, PAYMENTS } from "./PaymentStates.ts"

const COLUMNS: ReadonlyArray<Column<Payment>> = [
  {
    id: "amount",
    header: "Amount",
    width: "minmax(8rem, 0.7fr)",
    narrow: "first",
    cell: ({ amount, currency, id }) => (
      <Link className="row-link" href={`/payments/${id}`}>
        <Amount amount={amount} currency={currency} />
      </Link>
    ),
  },
  {
    id: "status",
    header: "Status",
    width: "10.5rem",
    narrow: "fixed",
    cell: (payment) => <PaymentBadge payment={payment} />,
  },
  {
    id: "customer",
    header: "Customer",
    width: "minmax(9rem, 1.2fr)",
    cell: ({ customer_id: id }) => <CustomerName className="cell-link" id={id} />,
  },
  {
    id: "provider",
    header: "Taken by",
    width: "minmax(7rem, 0.7fr)",
    narrow: "hidden",
    cell: ({ provider }) => <span className="muted">{provider}</span>,
  },
  {
    id: "reference",
    header: "Reference",
    width: "minmax(9rem, 1.2fr)",
    narrow: "hidden",
    cell: ({ reference }) =>
      reference === null ? <span className="muted">none</span> : <code title={reference}>{reference}</code>,
  },
  {
    id: "at",
    header: `Since (${Instant.zone})`,
    width: MOMENT_WIDTH,
    isNumber: true,
    narrow: "end",
    cell: ({ created_at: createdAt, paid_at: paidAt }) => <Time at={paidAt ?? createdAt} />,
  },
]

const queryOf = (filters: Filters) => ({
  status: filters.get("status") as Payment["status"] | undefined,
  customer_id: filters.get("customer"),
  currency: filters.get("currency"),
  figure: filters.get("figure") as keyof typeof PAYMENT_FIGURES | undefined,
})

const NoPayments = ({ isFiltered }: { readonly isFiltered: boolean }) =>
  isFiltered ? (
    <EmptyState title="No payments match these filters">
      <p>Clear a filter to see more.</p>
    </EmptyState>
  ) : (
    <EmptyState title="No payments yet">
      <p>
        They begin when an <Link href="/invoices">invoice</Link> is issued, or when you record one there.
      </p>
    </EmptyState>
  )

export const PaymentsPage = () => {
  const { client } = useSession()
  const filters = useFilters()
  const query = queryOf(filters)
  const list = useLiveList<Payment>({
    key: ["payments", query],
    fetchPage: (page, signal) => client.call("get", "/v1/payments", { query: { ...query, ...page }, signal }),
  })
  return (
    <Page
      actions={
        <Link className="button" href="/payments/attention">
          What needs attention
        </Link>
      }
      isList
      title="Payments"
    >
      <FilterBar filters={filters}>
        <SelectFilter filters={filters} label="Status" name="status" options={optionsOf(PAYMENTS)} />
        <CustomerFilter filters={filters} name="customer" />
        <SelectFilter
          filters={filters}
          label="Figure"
          name="figure"
          options={figureOptions(PAYMENT_FIGURES)}
        />
        <InputFilter filters={filters} label="Currency" name="currency" placeholder="EUR" />
      </FilterBar>
      <DataTable
        columns={COLUMNS}
        empty={<NoPayments isFiltered={filters.isAny} />}
        label="Payments"
        list={list}
      />
    </Page>
  )
}

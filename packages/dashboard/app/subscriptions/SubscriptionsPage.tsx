import { useState } from "react"
import { Link, useLocation } from "wouter"
import type { Subscription } from "../api/Types.ts"
import { useLiveList } from "../api/useLiveList.ts"
import { CustomerFilter } from "../customers/CustomerFilter.tsx"
import { CustomerName } from "../customers/CustomerName.tsx"
import { usePlans } from "../plans/usePlans.ts"
import { useSession } from "../session/Session.tsx"
import { ActionButton } from "../ui/ActionButton.tsx"
import { type Column, DataTable } from "../ui/DataTable.tsx"
import { EmptyState } from "../ui/EmptyState.tsx"
import { FilterBar, type Filters, InputFilter, SelectFilter, useFilters } from "../ui/Filters.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Page } from "../ui/Page.tsx"
import { ZonedDay } from "../ui/Period.tsx"
import { CreateSubscription } from "./CreateSubscription.tsx"
import { PhaseBadge, WarningBadges } from "./PhaseBadge.tsx"
import { PHASE_OPTIONS, planText, quantitiesText } from "./SubscriptionStates.ts"

const COLUMNS: ReadonlyArray<Column<Subscription>> = [
  {
    id: "plan",
    header: "Plan",
    width: "minmax(10rem, 1fr)",
    narrow: "first",
    cell: ({ id, plan }) => (
      <Link className="row-link" href={`/subscriptions/${id}`}>
        {planText(plan)}
      </Link>
    ),
  },
  {
    id: "phase",
    header: "Phase",
    width: "minmax(13rem, 1fr)",
    narrow: "fixed",
    cell: (subscription) => (
      <span className="badges">
        <PhaseBadge phase={subscription.phase} />
        <WarningBadges subscription={subscription} />
      </span>
    ),
  },
  {
    id: "customer",
    header: "Customer",
    width: "minmax(9rem, 1.2fr)",
    cell: ({ customer_id: id }) => <CustomerName className="cell-link" id={id} />,
  },
  {
    id: "quantities",
    header: "Quantities",
    width: "minmax(7rem, 1fr)",
    narrow: "hidden",
    cell: ({ quantities }) => <span className="muted">{quantitiesText(quantities)}</span>,
  },
  {
    id: "started",
    header: "Since",
    width: "minmax(8rem, 0.7fr)",
    isNumber: true,
    narrow: "end",
    cell: ({ start_at: at, timezone }) => <ZonedDay at={at} zone={timezone} />,
  },
  {
    id: "renews",
    header: "Renews or ends",
    width: "minmax(8rem, 0.7fr)",
    isNumber: true,
    narrow: "hidden",
    cell: ({ current_period_end: renews, ended_at: ended, ends_at: ends, timezone }) => {
      const at = ended ?? ends ?? renews
      return at === null ? <span className="muted">–</span> : <ZonedDay at={at} zone={timezone} />
    },
  },
]

const queryOf = (filters: Filters) => ({
  phase: filters.get("phase") as Subscription["phase"] | undefined,
  customer_id: filters.get("customer"),
  currency: filters.get("currency"),
  plan: filters.get("plan"),
  // The API says what is wrong with another text.
  version: filters.get("version") === undefined ? undefined : Number(filters.get("version")),
})

const NoSubscriptions = ({ isFiltered }: { readonly isFiltered: boolean }) =>
  isFiltered ? (
    <EmptyState title="No subscriptions match these filters">
      <p>Clear a filter to see more.</p>
    </EmptyState>
  ) : (
    <EmptyState command="npx @billwright/cli catalog push plans.json" title="No subscriptions yet">
      <p>
        A subscription gives a customer a <Link href="/plans">plan</Link>. Push your plans, then start one
        with the button above.
      </p>
    </EmptyState>
  )

export const SubscriptionsPage = () => {
  const { client } = useSession()
  const [, navigate] = useLocation()
  const filters = useFilters()
  const plans = usePlans().data ?? []
  const [isCreating, setIsCreating] = useState(false)
  const query = queryOf(filters)
  const list = useLiveList<Subscription>({
    key: ["subscriptions", query],
    fetchPage: (page, signal) =>
      client.call("get", "/v1/subscriptions", { query: { ...query, ...page }, signal }),
  })
  return (
    <Page
      actions={
        <ActionButton
          className="button primary"
          does="post /v1/subscriptions"
          onClick={() => setIsCreating(true)}
        >
          <Icon name="plus" /> New subscription
        </ActionButton>
      }
      isList
      title="Subscriptions"
    >
      <FilterBar filters={filters}>
        <SelectFilter filters={filters} label="Phase" name="phase" options={PHASE_OPTIONS} />
        <CustomerFilter filters={filters} name="customer" />
        <SelectFilter
          filters={filters}
          label="Plan"
          name="plan"
          options={plans.map(({ key, name }) => [key, name] as const)}
        />
        <InputFilter filters={filters} label="Version" name="version" placeholder="1" />
        <InputFilter filters={filters} label="Currency" name="currency" placeholder="EUR" />
      </FilterBar>
      <DataTable
        columns={COLUMNS}
        empty={<NoSubscriptions isFiltered={filters.isAny} />}
        label="Subscriptions"
        list={list}
      />
      {isCreating && (
        <CreateSubscription
          customerId={query.customer_id}
          onClose={() => setIsCreating(false)}
          onDone={({ id }) => navigate(`/subscriptions/${id}`)}
        />
      )}
    </Page>
  )
}

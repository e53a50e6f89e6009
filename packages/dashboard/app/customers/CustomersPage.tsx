import { useState } from "react"
import { Link, useLocation } from "wouter"
import type { Customer } from "../api/Types.ts"
import { useLiveList } from "../api/useLiveList.ts"
import * as Curl from "../Curl.ts"
import * as Instant from "../Instant.ts"
import { useSession } from "../session/Session.tsx"
import { apiAddress } from "../shell/ApiAddress.ts"
import { ActionButton } from "../ui/ActionButton.tsx"
import { type Column, DataTable, MOMENT_WIDTH } from "../ui/DataTable.tsx"
import { EmptyState } from "../ui/EmptyState.tsx"
import { FilterBar, InputFilter, useFilters } from "../ui/Filters.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Page } from "../ui/Page.tsx"
import { Time } from "../ui/Time.tsx"
import { CreateCustomer } from "./CustomerForm.tsx"
import { MIN_SEARCH_LENGTH, wantedOf } from "./CustomerSearch.ts"

const COLUMNS: ReadonlyArray<Column<Customer>> = [
  {
    id: "name",
    header: "Name",
    width: "minmax(10rem, 1fr)",
    narrow: "first",
    cell: ({ id, name }) => (
      <Link className="row-link" href={`/customers/${id}`}>
        {name}
      </Link>
    ),
  },
  {
    id: "email",
    header: "E-mail",
    width: "minmax(12rem, 1.4fr)",
    cell: ({ email }) => email,
  },
  {
    id: "id",
    header: "Customer",
    width: "minmax(18.5rem, 1.4fr)",
    narrow: "hidden",
    cell: ({ id }) => <code title={id}>{id}</code>,
  },
  {
    id: "created",
    header: `Created (${Instant.zone})`,
    width: MOMENT_WIDTH,
    isNumber: true,
    narrow: "end",
    cell: ({ created_at: at }) => <Time at={at} />,
  },
]

const NoCustomers = ({ search }: { readonly search: string | undefined }) =>
  search === undefined ? (
    <EmptyState
      command={Curl.apiCurl(apiAddress(), "POST", "/customers", {
        name: "Ada Lovelace",
        email: "ada@example.com",
      })}
      title="No customers yet"
    >
      <p>Customers are whom usage and events belong to. Create one here, or by the API:</p>
    </EmptyState>
  ) : (
    <EmptyState title={`No customer has “${search}” in name or e-mail address`}>
      <p>Capitals make no difference. Clear the filter to see all customers.</p>
    </EmptyState>
  )

export const CustomersPage = () => {
  const { client } = useSession()
  const [, navigate] = useLocation()
  const filters = useFilters()
  const [isCreating, setIsCreating] = useState(false)
  const { search } = wantedOf(filters.get("search") ?? "")
  const list = useLiveList<Customer>({
    key: ["customers", { search }],
    fetchPage: (page, signal) => client.call("get", "/v1/customers", { query: { search, ...page }, signal }),
  })
  return (
    <Page
      actions={
        <ActionButton
          className="button primary"
          does="post /v1/customers"
          onClick={() => setIsCreating(true)}
        >
          <Icon name="plus" /> New customer
        </ActionButton>
      }
      isList
      title="Customers"
    >
      <FilterBar filters={filters}>
        <InputFilter
          filters={filters}
          label="Name or e-mail"
          name="search"
          placeholder={`${MIN_SEARCH_LENGTH} letters or more`}
        />
      </FilterBar>
      <DataTable columns={COLUMNS} empty={<NoCustomers search={search} />} label="Customers" list={list} />
      {isCreating && (
        <CreateCustomer
          onClose={() => setIsCreating(false)}
          onDone={({ id }) => {
            setIsCreating(false)
            navigate(`/customers/${id}`)
          }}
        />
      )}
    </Page>
  )
}

import { useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { Link, useLocation } from "wouter"
import * as Queries from "../api/Queries.ts"
import type { Customer } from "../api/Types.ts"
import { EventLines, useNewestEvents } from "../events/EventLines.tsx"
import { useSession } from "../session/Session.tsx"
import { ActionButton } from "../ui/ActionButton.tsx"
import { ActionDialog } from "../ui/ActionDialog.tsx"
import { Fact, Facts } from "../ui/Facts.tsx"
import { Field } from "../ui/Field.tsx"
import { Identifier } from "../ui/Identifier.tsx"
import { ListSection } from "../ui/ListSection.tsx"
import { Loaded } from "../ui/Loading.tsx"
import { Page } from "../ui/Page.tsx"
import { Time } from "../ui/Time.tsx"
import { toast } from "../ui/Toast.tsx"
import { Thresholds } from "../usage/Thresholds.tsx"
import { Totals } from "../usage/Totals.tsx"
import { CustomerBilling } from "./CustomerBilling.tsx"
import { EditCustomer } from "./CustomerForm.tsx"

const EraseCustomer = ({
  customer,
  onClose,
}: {
  readonly customer: Customer
  readonly onClose: () => void
}) => {
  const { client } = useSession()
  const queries = useQueryClient()
  const [, navigate] = useLocation()
  const [typed, setTyped] = useState("")
  return (
    <ActionDialog
      action={["Erase for good", "Erasing…"]}
      description="Name, e-mail and metadata are erased for good. The id and the usage stay, so that totals stay correct."
      isDangerous
      isDisabled={typed !== customer.email}
      onClose={onClose}
      onDone={() => {
        toast("Erased")
        navigate("/customers")
        void queries.invalidateQueries({ queryKey: ["customers"] })
      }}
      run={() => client.call("delete", "/v1/customers/{id}", { path: { id: customer.id } })}
      title={`Erase ${customer.name}?`}
    >
      <Field label={`Type ${customer.email} to confirm`}>
        {(attributes) => (
          <input
            {...attributes}
            autoComplete="off"
            onChange={(event) => setTyped(event.target.value)}
            spellCheck={false}
            value={typed}
          />
        )}
      </Field>
    </ActionDialog>
  )
}

const CustomerFacts = ({ customer }: { readonly customer: Customer }) => (
  <Facts>
    <Fact name="Customer">
      <Identifier id={customer.id} />
    </Fact>
    <Fact name="E-mail">
      <span className="break">{customer.email}</span>
    </Fact>
    {customer.currency !== null && <Fact name="Currency">{customer.currency}</Fact>}
    {customer.country !== null && <Fact name="Country">{customer.country}</Fact>}
    {customer.tax_id !== null && <Fact name="Tax id">{customer.tax_id}</Fact>}
    {customer.tax_status !== "taxable" && (
      <Fact name="Tax">{customer.tax_status === "exempt" ? "Exempt" : "Reverse charge"}</Fact>
    )}
    {customer.collection_method === "send_invoice" && <Fact name="Payment">pays invoices by itself</Fact>}
    {customer.test_clock_id !== null && (
      <Fact name="Test clock">
        <Link href={`/test-clocks/${customer.test_clock_id}`}>lives in its time</Link>
      </Fact>
    )}
    <Fact name="Created">
      <Time at={customer.created_at} isWhole />
    </Fact>
    <Fact name="Changed">
      <Time at={customer.updated_at} isWhole />
    </Fact>
  </Facts>
)

const Metadata = ({ customer }: { readonly customer: Customer }) => {
  const metadata = Object.entries(customer.metadata)
  return (
    <section aria-labelledby="metadata-title" className="section">
      <h2 id="metadata-title">Metadata</h2>
      {metadata.length === 0 && <p className="muted">None.</p>}
      <dl className="headers">
        {metadata.map(([key, value]) => (
          <div key={key}>
            <dt>{key}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

const CustomerEvents = ({ id }: { readonly id: string }) => (
  <div className="columns even">
    <ListSection
      href={`/events?customer=${id}&status=Failed`}
      id="failures"
      more="All failures"
      title="Failed deliveries"
    >
      <EventLines empty="Nothing has failed." query={useNewestEvents({ customerId: id, status: "Failed" })} />
    </ListSection>
    <ListSection href={`/events?customer=${id}`} id="events" more="All events" title="Newest events">
      <EventLines empty="No events yet." query={useNewestEvents({ customerId: id })} />
    </ListSection>
  </div>
)

export const CustomerPage = ({ id }: { readonly id: string }) => {
  const query = Queries.useCustomer(id)
  const [dialog, setDialog] = useState<"edit" | "erase">()
  const customer = query.data
  const close = () => setDialog(undefined)
  return (
    <Page
      actions={
        customer !== undefined && (
          <>
            <Link className="button" href={`/usage?customer=${id}`}>
              Usage records
            </Link>
            <ActionButton
              className="button"
              does="patch /v1/customers/{id}"
              onClick={() => setDialog("edit")}
            >
              Edit…
            </ActionButton>
            <ActionButton
              className="button dangerous"
              does="delete /v1/customers/{id}"
              onClick={() => setDialog("erase")}
            >
              Erase…
            </ActionButton>
          </>
        )
      }
      title={customer?.name ?? "Customer"}
      up={{ href: "/customers", label: "Customers", id }}
    >
      <Loaded lines={6} query={query}>
        {(loaded) => (
          <>
            <CustomerFacts customer={loaded} />
            <CustomerBilling customer={loaded} />
            <Totals customerId={id} title="Usage" />
            <Thresholds customerId={id} />
            <CustomerEvents id={id} />
            <Metadata customer={loaded} />
          </>
        )}
      </Loaded>
      {customer !== undefined && dialog === "edit" && <EditCustomer customer={customer} onClose={close} />}
      {customer !== undefined && dialog === "erase" && <EraseCustomer customer={customer} onClose={close} />}
    </Page>
  )
}

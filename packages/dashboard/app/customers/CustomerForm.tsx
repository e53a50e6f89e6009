import { useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { refused } from "../api/FieldError.ts"
import type { Customer } from "../api/Types.ts"
import { useSession } from "../session/Session.tsx"
import { ActionDialog } from "../ui/ActionDialog.tsx"
import { Field } from "../ui/Field.tsx"
import { toast } from "../ui/Toast.tsx"
import * as MetadataLines from "./MetadataLines.ts"

const MAX_NAME_LENGTH = 256
const MAX_EMAIL_LENGTH = 254

const BAD_METADATA = refused("metadata", "must be a line for each key, such as plan=pro")

interface Draft {
  readonly name: string
  readonly email: string
  readonly metadata: string
}

const DraftFields = ({
  draft,
  onChange,
}: {
  readonly draft: Draft
  readonly onChange: (draft: Draft) => void
}) => (
  <>
    <Field label="Name" name="name">
      {(attributes) => (
        <input
          {...attributes}
          autoComplete="off"
          maxLength={MAX_NAME_LENGTH}
          onChange={(event) => onChange({ ...draft, name: event.target.value })}
          required
          value={draft.name}
        />
      )}
    </Field>
    <Field label="E-mail" name="email">
      {(attributes) => (
        <input
          {...attributes}
          autoComplete="off"
          maxLength={MAX_EMAIL_LENGTH}
          onChange={(event) => onChange({ ...draft, email: event.target.value })}
          required
          spellCheck={false}
          type="email"
          value={draft.email}
        />
      )}
    </Field>
    <Field hint="One per line, such as plan=pro." label="Metadata (optional)" name="metadata">
      {(attributes) => (
        <textarea
          {...attributes}
          className="mono"
          onChange={(event) => onChange({ ...draft, metadata: event.target.value })}
          rows={3}
          spellCheck={false}
          value={draft.metadata}
        />
      )}
    </Field>
  </>
)

const useRefresh = () => {
  const queries = useQueryClient()
  return () => void queries.invalidateQueries({ queryKey: ["customers"] })
}

export const CreateCustomer = ({
  onClose,
  onDone,
}: {
  readonly onClose: () => void
  readonly onDone: (customer: Customer) => void
}) => {
  const { client } = useSession()
  const refresh = useRefresh()
  const [draft, setDraft] = useState<Draft>({ name: "", email: "", metadata: "" })
  const run = async (): Promise<Customer> => {
    const metadata = MetadataLines.parse(draft.metadata)
    if (metadata === undefined) throw BAD_METADATA
    return client.call("post", "/v1/customers", { body: { name: draft.name, email: draft.email, metadata } })
  }
  return (
    <ActionDialog
      action={["Create customer", "Creating…"]}
      onClose={onClose}
      onDone={(customer) => {
        toast("Created")
        refresh()
        onDone(customer)
      }}
      run={run}
      title="New customer"
    >
      <DraftFields draft={draft} onChange={setDraft} />
    </ActionDialog>
  )
}

export const EditCustomer = ({
  customer,
  onClose,
}: {
  readonly customer: Customer
  readonly onClose: () => void
}) => {
  const { client } = useSession()
  const refresh = useRefresh()
  const [draft, setDraft] = useState<Draft>({
    name: customer.name,
    email: customer.email,
    metadata: MetadataLines.write(customer.metadata),
  })
  const run = async (): Promise<Customer> => {
    const metadata = MetadataLines.parse(draft.metadata)
    if (metadata === undefined) throw BAD_METADATA
    return client.call("patch", "/v1/customers/{id}", {
      path: { id: customer.id },
      body: {
        name: draft.name,
        email: draft.email,
        metadata: MetadataLines.patch(customer.metadata, metadata),
      },
    })
  }
  return (
    <ActionDialog
      action={["Save", "Saving…"]}
      onClose={onClose}
      onDone={() => {
        toast("Saved")
        refresh()
        onClose()
      }}
      run={run}
      title="Edit customer"
    >
      <DraftFields draft={draft} onChange={setDraft} />
    </ActionDialog>
  )
}

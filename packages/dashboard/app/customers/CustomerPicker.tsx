import { useDeferredValue, useState } from "react"
import * as Queries from "../api/Queries.ts"
import type { Customer } from "../api/Types.ts"
import { Dialog } from "../ui/Dialog.tsx"
import { ErrorNotice } from "../ui/ErrorNotice.tsx"
import { Field } from "../ui/Field.tsx"
import { wantedOf } from "./CustomerSearch.ts"

/** The customers to choose from: those that the API finds by an id or a text, or else the newest ones. */
const useCandidates = (text: string) => {
  const { id, search } = wantedOf(text)
  const byId = Queries.useCustomer(id)
  const listed = Queries.useNewestCustomers(search)
  const found = id === undefined ? listed.data?.data : [byId.data]
  return {
    candidates: (found ?? []).filter((each) => each !== undefined),
    error: id === undefined ? listed.error : byId.error,
  }
}

const Candidate = ({ customer, onPick }: { readonly customer: Customer; readonly onPick: () => void }) => (
  <li>
    <button className="candidate" onClick={onPick} type="button">
      <strong>{customer.name}</strong>
      <span className="muted">{customer.email}</span>
    </button>
  </li>
)

/** Finds a customer. */
export const CustomerPicker = ({
  onClose,
  onPick,
}: {
  readonly onClose: () => void
  readonly onPick: (id: string) => void
}) => {
  const [text, setText] = useState("")
  const { candidates, error } = useCandidates(useDeferredValue(text))
  return (
    <Dialog onClose={onClose} title="Choose a customer">
      <Field
        hint="At least three letters of a name or e-mail address, or an id. Until then, the newest customers are shown."
        label="Find"
      >
        {(attributes) => (
          <input
            {...attributes}
            autoComplete="off"
            onChange={(event) => setText(event.target.value)}
            spellCheck={false}
            type="search"
            value={text}
          />
        )}
      </Field>
      {error !== null && <ErrorNotice error={error} />}
      <ul className="candidates">
        {candidates.map((customer) => (
          <Candidate customer={customer} key={customer.id} onPick={() => onPick(customer.id)} />
        ))}
      </ul>
      {candidates.length === 0 && error === null && <p className="muted">No customer found.</p>}
    </Dialog>
  )
}

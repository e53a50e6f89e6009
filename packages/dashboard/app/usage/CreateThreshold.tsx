import { useState } from "react"
import { ApiError } from "../api/ApiError.ts"
import type { Threshold } from "../api/Types.ts"
import { useSession } from "../session/Session.tsx"
import { ActionDialog } from "../ui/ActionDialog.tsx"
import { Field } from "../ui/Field.tsx"

interface Draft {
  readonly productId: string
  readonly unit: string
  readonly quantity: string
  readonly period: Threshold["period"]
}

const EMPTY: Draft = { productId: "", unit: "", quantity: "", period: "month" }
const BAD_QUANTITY = new ApiError(0, "bad_quantity", "The quantity must be a whole number from 1.", undefined)

const TEXT_FIELDS = [
  ["productId", "Product", "api"],
  ["unit", "Unit", "call"],
  ["quantity", "Fires at", "100000"],
] as const

const isPeriod = (value: string): value is Draft["period"] => ["day", "month", "lifetime"].includes(value)

export const CreateThreshold = ({
  customerId,
  onClose,
  onDone,
}: {
  readonly customerId: string
  readonly onClose: () => void
  readonly onDone: () => void
}) => {
  const { client } = useSession()
  const [draft, setDraft] = useState(EMPTY)
  const run = async () => {
    if (!/^[1-9]\d*$/.test(draft.quantity)) throw BAD_QUANTITY
    return client.call("post", "/v1/usage/thresholds", {
      body: {
        customer_id: customerId,
        product_id: draft.productId,
        unit: draft.unit,
        // Exact beyond 2^53, too; the document knows only numbers.
        quantity: BigInt(draft.quantity) as unknown as number,
        period: draft.period,
      },
    })
  }
  return (
    <ActionDialog
      action={["Create threshold", "Creating…"]}
      description="Publishes a usage.threshold event, once a period, when the total reaches the quantity."
      onClose={onClose}
      onDone={onDone}
      run={run}
      title="New threshold"
    >
      {TEXT_FIELDS.map(([name, label, placeholder]) => (
        <Field key={name} label={label}>
          {(attributes) => (
            <input
              {...attributes}
              autoComplete="off"
              inputMode={name === "quantity" ? "numeric" : "text"}
              onChange={(event) => setDraft({ ...draft, [name]: event.target.value })}
              placeholder={placeholder}
              required
              value={draft[name]}
            />
          )}
        </Field>
      ))}
      <Field label="Counted over">
        {(attributes) => (
          <select
            {...attributes}
            onChange={(event) =>
              isPeriod(event.target.value) && setDraft({ ...draft, period: event.target.value })
            }
            value={draft.period}
          >
            <option value="day">A UTC day</option>
            <option value="month">A UTC month</option>
            <option value="lifetime">All time</option>
          </select>
        )}
      </Field>
    </ActionDialog>
  )
}

import { useState } from "react"
import { refused } from "../api/FieldError.ts"
import type { Threshold } from "../api/Types.ts"
import { useSession } from "../session/Session.tsx"
import { ActionDialog } from "../ui/ActionDialog.tsx"
import { Field } from "../ui/Field.tsx"
import { useMeters } from "./useTotals.ts"

interface Draft {
  readonly productId: string
  readonly unit: string
  readonly quantity: string
  readonly period: Threshold["period"]
}

const EMPTY: Draft = { productId: "", unit: "", quantity: "", period: "month" }
const BAD_QUANTITY = refused("quantity", "must be a whole number from 1")

const TEXT_FIELDS = [
  ["productId", "product_id", "Product", "api"],
  ["unit", "unit", "Unit", "call"],
] as const

const isPeriod = (value: string): value is Draft["period"] => ["day", "month", "lifetime"].includes(value)

interface DraftProps {
  readonly draft: Draft
  readonly onChange: (draft: Draft) => void
}

/** Fields for a product and a unit that have no usage yet. */
const WrittenMeter = ({ draft, onChange }: DraftProps) =>
  TEXT_FIELDS.map(([key, name, label, placeholder]) => (
    <Field key={key} label={label} name={name}>
      {(attributes) => (
        <input
          {...attributes}
          autoComplete="off"
          onChange={(event) => onChange({ ...draft, [key]: event.target.value })}
          placeholder={placeholder}
          required
          value={draft[key]}
        />
      )}
    </Field>
  ))

const ANOTHER = ""

/** Chooses the product and unit: one that the customer has used, or another one. */
const MeterField = ({ customerId, draft, onChange }: DraftProps & { readonly customerId: string }) => {
  const { data: meters = [], isPending } = useMeters(customerId)
  const [isWritten, setIsWritten] = useState(false)
  const chosen = meters.find(({ productId, unit }) => productId === draft.productId && unit === draft.unit)
  if (isPending) return <p role="status">Loading products and units…</p>
  if (meters.length === 0) return <WrittenMeter draft={draft} onChange={onChange} />
  const choose = (key: string) => {
    const meter = meters.find((each) => each.key === key)
    setIsWritten(meter === undefined)
    onChange({ ...draft, productId: meter?.productId ?? "", unit: meter?.unit ?? "" })
  }
  return (
    <>
      <Field label="Product and unit" {...(isWritten ? {} : { name: "product_id" })}>
        {(attributes) => (
          <select
            {...attributes}
            onChange={(event) => choose(event.target.value)}
            required={!isWritten}
            value={isWritten ? ANOTHER : (chosen?.key ?? "choose")}
          >
            {!isWritten && chosen === undefined && (
              <option disabled value="choose">
                Choose…
              </option>
            )}
            {meters.map(({ key, productId, unit }) => (
              <option key={key} value={key}>
                {productId} · {unit}
              </option>
            ))}
            <option value={ANOTHER}>Another…</option>
          </select>
        )}
      </Field>
      {isWritten && <WrittenMeter draft={draft} onChange={onChange} />}
    </>
  )
}

const PeriodField = ({ draft, onChange }: DraftProps) => (
  <Field label="Counted over" name="period">
    {(attributes) => (
      <select
        {...attributes}
        onChange={(event) =>
          isPeriod(event.target.value) && onChange({ ...draft, period: event.target.value })
        }
        value={draft.period}
      >
        <option value="day">A UTC day</option>
        <option value="month">A UTC month</option>
        <option value="lifetime">All time</option>
      </select>
    )}
  </Field>
)

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
        // A `bigint` is exact beyond 2^53. The generated types only have numbers.
        quantity: BigInt(draft.quantity) as unknown as number,
        period: draft.period,
      },
    })
  }
  return (
    <ActionDialog
      action={["Create threshold", "Creating…"]}
      isDisabled={draft.productId === "" || draft.unit === ""}
      description="Publishes a usage.threshold event when the total reaches the quantity, once per period."
      onClose={onClose}
      onDone={onDone}
      run={run}
      title="New threshold"
    >
      <MeterField customerId={customerId} draft={draft} onChange={setDraft} />
      <Field label="Fires at" name="quantity">
        {(attributes) => (
          <input
            {...attributes}
            autoComplete="off"
            inputMode="numeric"
            onChange={(event) => setDraft({ ...draft, quantity: event.target.value })}
            placeholder="100000"
            required
            value={draft.quantity}
          />
        )}
      </Field>
      <PeriodField draft={draft} onChange={setDraft} />
    </ActionDialog>
  )
}

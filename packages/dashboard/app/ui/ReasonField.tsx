import type { CreditNote } from "../api/Types.ts"
import { Field } from "./Field.tsx"

export type Reason = CreditNote["reason"]

/** Why money is given back. */
export const REASONS: Readonly<Record<Reason, string>> = {
  duplicate: "Billed twice",
  fraudulent: "Fraud",
  order_change: "The order changed",
  unsatisfactory: "The customer was not satisfied",
  usage_corrected: "Less usage than was billed",
  other: "Another reason",
}

export const ReasonField = ({
  onChange,
  value,
}: {
  readonly value: Reason
  readonly onChange: (reason: Reason) => void
}) => (
  <Field label="Reason" name="reason">
    {(attributes) => (
      <select {...attributes} onChange={(event) => onChange(event.target.value as Reason)} value={value}>
        {Object.entries(REASONS).map(([reason, text]) => (
          <option key={reason} value={reason}>
            {text}
          </option>
        ))}
      </select>
    )}
  </Field>
)

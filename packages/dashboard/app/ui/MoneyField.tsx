import * as Money from "../Money.ts"
import { Field } from "./Field.tsx"

/** An amount in the currency's unit, as somebody types it, and what it is read as. */
export const MoneyField = ({
  currency,
  hint,
  label,
  name,
  onChange,
  value,
}: {
  readonly label: string
  readonly name: string
  readonly currency: string
  readonly value: string
  readonly onChange: (text: string) => void
  readonly hint?: string
}) => (
  <Field
    hint={`${hint ?? `In ${currency}, such as ${Money.decimalOf(1250, currency)}.`}${Money.readAs(value, currency)}`}
    label={`${label} (${currency})`}
    name={name}
  >
    {(attributes) => (
      <input
        {...attributes}
        autoComplete="off"
        inputMode="decimal"
        onChange={(event) => onChange(event.target.value)}
        value={value}
      />
    )}
  </Field>
)

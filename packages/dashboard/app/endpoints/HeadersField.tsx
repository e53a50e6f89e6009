import { Field } from "../ui/Field.tsx"

/** A field for the headers of every attempt, as lines. */
export const HeadersField = ({
  onChange,
  value,
}: {
  readonly value: string
  readonly onChange: (lines: string) => void
}) => (
  <Field hint="One per line. They are sent with every attempt." label="Headers" name="headers">
    {(attributes) => (
      <textarea
        {...attributes}
        autoComplete="off"
        className="mono"
        onChange={(event) => onChange(event.target.value)}
        placeholder="x-tenant: 42"
        rows={2}
        spellCheck={false}
        value={value}
      />
    )}
  </Field>
)

import { useState } from "react"
import * as Instant from "../Instant.ts"
import { Field } from "../ui/Field.tsx"

const INSTANT = "instant"

/** When something takes effect: now, at the end of the period, or at an instant. */
export const TimeField = ({
  label,
  onChange,
  value,
}: {
  readonly label: string
  /** `now`, `period_end`, or an instant of the API. Empty while no instant was entered. */
  readonly value: string
  readonly onChange: (value: string) => void
}) => {
  const [entered, setEntered] = useState("")
  const isNamed = value === "now" || value === "period_end"
  return (
    <div className="field-row">
      <Field label={label} name="at">
        {(attributes) => (
          <select
            {...attributes}
            onChange={({ target }) =>
              onChange(target.value === INSTANT ? (Instant.fromLocalInput(entered) ?? "") : target.value)
            }
            value={isNamed ? value : INSTANT}
          >
            <option value="now">Now</option>
            <option value="period_end">At the end of the period</option>
            <option value={INSTANT}>At another time</option>
          </select>
        )}
      </Field>
      {!isNamed && (
        <Field label={`Time (${Instant.zone})`}>
          {(attributes) => (
            <input
              {...attributes}
              onChange={({ target }) => {
                setEntered(target.value)
                onChange(Instant.fromLocalInput(target.value) ?? "")
              }}
              type="datetime-local"
              value={entered}
            />
          )}
        </Field>
      )}
    </div>
  )
}

import { useState } from "react"
import * as Queries from "../api/Queries.ts"
import { FieldGroup } from "../ui/Field.tsx"

export const ALL_TYPES = "*"

/** Chooses the event types of an endpoint: all of them, or those that are ticked. */
export const EventTypeChoice = ({
  legend,
  onChange,
  value,
}: {
  readonly legend: string
  readonly value: ReadonlyArray<string>
  readonly onChange: (value: ReadonlyArray<string>) => void
}) => {
  const defined = Queries.useEventTypes().data?.data ?? []
  const isAll = value.includes(ALL_TYPES)
  // Keeps the first value, so that a chosen type that is no longer defined can be unticked and ticked again.
  const [first] = useState(value)
  const undefinedTypes = first.filter(
    (each) => each !== ALL_TYPES && defined.every(({ type }) => type !== each),
  )
  const types = [...defined, ...undefinedTypes.map((type) => ({ type, description: undefined }))]
  const toggle = (type: string) =>
    onChange(value.includes(type) ? value.filter((each) => each !== type) : [...value, type])
  return (
    <FieldGroup legend={legend} name="event_types">
      <label className="choice">
        <input checked={isAll} onChange={() => onChange([ALL_TYPES])} type="radio" />
        <span>All types, those that are added later included</span>
      </label>
      <label className="choice">
        <input checked={!isAll} onChange={() => onChange([])} type="radio" />
        <span>Only these</span>
      </label>
      {!isAll && (
        <div className="choice-list">
          {types.map(({ description, type }) => (
            <label className="choice" key={type} title={description}>
              <input checked={value.includes(type)} onChange={() => toggle(type)} type="checkbox" />
              <span>{type}</span>
            </label>
          ))}
        </div>
      )}
    </FieldGroup>
  )
}

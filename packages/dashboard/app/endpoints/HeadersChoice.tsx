import { HeadersField } from "./HeadersField.tsx"

const namesOf = (headers: Readonly<Record<string, string>>): string => {
  const names = Object.keys(headers)
  return names.length === 0 ? "there are none" : names.join(", ")
}

/** The headers of an endpoint that is there. Their values are secret, so that they are replaced as a whole. */
export const HeadersChoice = ({
  canStay,
  headers,
  onChange,
  value,
}: {
  /** Whether they may be left: another receiver than the one that they are for must not get them. */
  readonly canStay: boolean
  readonly headers: Readonly<Record<string, string>>
  /** Lines that take their place; `undefined`: they stay. */
  readonly value: string | undefined
  readonly onChange: (lines: string | undefined) => void
}) => (
  <fieldset className="choices">
    <legend>Headers</legend>
    <label className="choice">
      <input
        checked={canStay && value === undefined}
        disabled={!canStay}
        name="headers-choice"
        onChange={() => onChange(undefined)}
        type="radio"
      />
      <span className="break">
        {canStay ? "Leave them" : "Not for another server"}: {namesOf(headers)}
      </span>
    </label>
    <label className="choice">
      <input checked={value !== undefined} name="headers-choice" onChange={() => onChange("")} type="radio" />
      <span>Replace all of them</span>
    </label>
    {value !== undefined && <HeadersField onChange={onChange} value={value} />}
  </fieldset>
)

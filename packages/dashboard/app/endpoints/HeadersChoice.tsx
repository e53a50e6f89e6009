import { HeadersField } from "./HeadersField.tsx"

const namesOf = (headers: Readonly<Record<string, string>>): string => {
  const names = Object.keys(headers)
  return names.length === 0 ? "none" : names.join(", ")
}

/** Edits the headers of an existing endpoint. Their values are secret, so they can only be replaced together. */
export const HeadersChoice = ({
  canStay,
  headers,
  onChange,
  value,
}: {
  /** Whether they may be kept. Another server must not get them. */
  readonly canStay: boolean
  readonly headers: Readonly<Record<string, string>>
  /** The new headers as lines. `undefined` keeps the old ones. */
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
        {canStay ? "Keep them" : "Can’t be kept for another server"}: {namesOf(headers)}
      </span>
    </label>
    <label className="choice">
      <input checked={value !== undefined} name="headers-choice" onChange={() => onChange("")} type="radio" />
      <span>Replace all of them</span>
    </label>
    {value !== undefined && <HeadersField onChange={onChange} value={value} />}
  </fieldset>
)

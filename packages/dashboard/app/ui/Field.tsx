import { type ReactNode, useId } from "react"
import { ErrorNotice } from "./ErrorNotice.tsx"
import { type ErrorOfField, useErrorOf } from "./FieldErrors.ts"

interface ControlAttributes {
  readonly id: string
  readonly name?: string
  readonly "aria-describedby"?: string
  readonly "aria-invalid"?: true
}

/** What is in parentheses behind a label is no part of the field's name. */
const nameOf = (label: string): string => label.replace(/ \(.*\)$/, "")

/** What is wrong with a field, by its label. */
const Wrong = ({
  id,
  label,
  wrong,
}: {
  readonly id: string
  readonly label: string
  readonly wrong: ErrorOfField
}) => (
  <div id={id}>
    <ErrorNotice error={wrong.error} message={`${nameOf(label)}${wrong.part} ${wrong.problem}`} />
  </div>
)

/** A labelled control. `children` gets the attributes that join them. */
export const Field = ({
  children,
  hint,
  label,
  name,
}: {
  readonly label: string
  readonly hint?: ReactNode
  /** The field's name in the request: an error that names it is shown here, by the label. */
  readonly name?: string
  readonly children: (attributes: ControlAttributes) => ReactNode
}) => {
  const id = useId()
  const wrong = useErrorOf(name)
  const [hintId, errorId] = [`${id}-hint`, `${id}-error`]
  const described = [...(wrong === undefined ? [] : [errorId]), ...(hint === undefined ? [] : [hintId])]
  return (
    <div className="field">
      <label className="field-label" htmlFor={id}>
        {label}
      </label>
      {children({
        id,
        ...(name === undefined ? {} : { name }),
        ...(described.length === 0 ? {} : { "aria-describedby": described.join(" ") }),
        ...(wrong === undefined ? {} : { "aria-invalid": true }),
      })}
      {wrong !== undefined && <Wrong id={errorId} label={label} wrong={wrong} />}
      {hint !== undefined && (
        <span className="field-hint" id={hintId}>
          {hint}
        </span>
      )}
    </div>
  )
}

/** Controls that make one field together. */
export const FieldGroup = ({
  children,
  legend,
  name,
}: {
  readonly legend: string
  /** The field's name in the request: an error that names it is shown here, by the legend. */
  readonly name: string
  readonly children: ReactNode
}) => {
  const errorId = useId()
  const wrong = useErrorOf(name)
  return (
    <fieldset aria-describedby={wrong === undefined ? undefined : errorId} className="choices" name={name}>
      <legend>{legend}</legend>
      {children}
      {wrong !== undefined && <Wrong id={errorId} label={legend} wrong={wrong} />}
    </fieldset>
  )
}

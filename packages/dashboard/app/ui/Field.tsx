import { type ReactNode, useId } from "react"
import { ErrorNotice } from "./ErrorNotice.tsx"
import { type ErrorOfField, useErrorOf } from "./FieldErrors.ts"

interface ControlAttributes {
  readonly id: string
  readonly name?: string
  readonly "aria-describedby"?: string
  readonly "aria-invalid"?: true
}

/** The name of a field: its label without the text in parentheses. */
const nameOf = (label: string): string => label.replace(/ \(.*\)$/, "")

/** The error of a field, with its label. */
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

/** A control with a label. `children` gets the attributes that connect them. */
export const Field = ({
  children,
  hint,
  label,
  name,
}: {
  readonly label: string
  readonly hint?: ReactNode
  /** The field's name in the request. An error with this name is shown here, with the label. */
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

/** A group of controls that form one field. */
export const FieldGroup = ({
  children,
  legend,
  name,
}: {
  readonly legend: string
  /** The field's name in the request. An error with this name is shown here, with the legend. */
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

import { type ReactNode, useContext, useId } from "react"
import { ErrorNotice } from "./ErrorNotice.tsx"
import { FieldErrors } from "./FieldErrors.ts"

interface ControlAttributes {
  readonly id: string
  readonly name?: string
  readonly "aria-describedby"?: string
  readonly "aria-invalid"?: true
}

/** What is in parentheses behind a label is no part of the field's name. */
const nameOf = (label: string): string => label.replace(/ \(.*\)$/, "")

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
  const shown = useContext(FieldErrors)
  const wrong = name !== undefined && shown?.name === name ? shown : undefined
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
      {wrong !== undefined && (
        <div id={errorId}>
          <ErrorNotice error={wrong.error} message={`${nameOf(label)}${wrong.part} ${wrong.problem}`} />
        </div>
      )}
      {hint !== undefined && (
        <span className="field-hint" id={hintId}>
          {hint}
        </span>
      )}
    </div>
  )
}

import { type ReactNode, useId } from "react"

/** A labelled control. `children` gets the attributes that join them. */
export const Field = ({
  children,
  hint,
  label,
}: {
  readonly label: string
  readonly hint?: ReactNode
  readonly children: (attributes: { readonly id: string; readonly "aria-describedby"?: string }) => ReactNode
}) => {
  const id = useId()
  const hintId = `${id}-hint`
  return (
    <div className="field">
      <label className="field-label" htmlFor={id}>
        {label}
      </label>
      {children(hint === undefined ? { id } : { id, "aria-describedby": hintId })}
      {hint !== undefined && (
        <span className="field-hint" id={hintId}>
          {hint}
        </span>
      )}
    </div>
  )
}

/**
 * Errors of a form that belong to one of its fields.
 */
import { createContext } from "react"
import { type FieldError, fieldErrorOf } from "../api/FieldError.ts"

/** An error, and the field that shows it. */
interface ErrorOfField extends FieldError {
  readonly error: unknown
}

/** The error that one of the form's fields shows. */
export const FieldErrors = createContext<ErrorOfField | undefined>(undefined)

/** Gives an error to the field that it is about, with the focus; `undefined` where the form has no such field. */
export const claim = (form: HTMLFormElement | null, error: unknown): ErrorOfField | undefined => {
  const found = fieldErrorOf(error)
  const control = found === undefined ? null : form?.elements.namedItem(found.name)
  if (found === undefined || !(control instanceof HTMLElement)) return undefined
  control.closest("details")?.setAttribute("open", "")
  control.focus()
  return { ...found, error }
}

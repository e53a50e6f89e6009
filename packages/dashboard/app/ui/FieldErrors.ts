/**
 * Errors of a form that belong to one of its fields.
 */
import { createContext, useContext } from "react"
import { type FieldError, fieldErrorOf } from "../api/FieldError.ts"

/** An error, and the field that shows it. */
export interface ErrorOfField extends FieldError {
  readonly error: unknown
}

/** The error that a field of the form shows. */
export const FieldErrors = createContext<ErrorOfField | undefined>(undefined)

/** The error for the field with this name. */
export const useErrorOf = (name: string | undefined): ErrorOfField | undefined => {
  const shown = useContext(FieldErrors)
  return name !== undefined && shown?.name === name ? shown : undefined
}

/** The element to focus. In a group, it is the chosen one. */
const focusableOf = (control: HTMLElement): HTMLElement =>
  control instanceof HTMLFieldSetElement
    ? (control.querySelector<HTMLElement>("input:checked") ?? control)
    : control

/** Assigns an error to its field, and focuses the field. `undefined` if the form has no such field. */
export const claim = (form: HTMLFormElement | null, error: unknown): ErrorOfField | undefined => {
  const found = fieldErrorOf(error)
  const control = found === undefined ? null : form?.elements.namedItem(found.name)
  if (found === undefined || !(control instanceof HTMLElement)) return undefined
  control.closest("details")?.setAttribute("open", "")
  focusableOf(control).focus()
  return { ...found, error }
}

/**
 * Which field of a form the API's answer is about: its message begins with the field's name.
 */
import { ApiError } from "./ApiError.ts"

export interface FieldError {
  /** The name of the field in the request. */
  readonly name: string
  /** Which part of it, such as `["x-tenant"]`; empty for all of it. */
  readonly part: string
  /** What is wrong, to be read on from the field's name: `must be an integer`. */
  readonly problem: string
}

const FIELD_FIRST = /^([a-z][a-z0-9_]*)((?:\.[^\s:]+|\[[^\]]*\])*):? (.+)$/s
const OF_FIELDS = new Set(["invalid_request", "not_found", "conflict"])

/** What is wrong with a field, where the error may be about one. That a form has it is for the form to know. */
export const fieldErrorOf = (error: unknown): FieldError | undefined => {
  if (!(error instanceof ApiError) || !OF_FIELDS.has(error.code)) return undefined
  const [, name, part = "", problem] = FIELD_FIRST.exec(error.message) ?? []
  return name === undefined || problem === undefined ? undefined : { name, part, problem }
}

/** Input that is refused before it is sent, as the API would refuse it. */
export const refused = (name: string, problem: string): ApiError =>
  new ApiError(0, "invalid_request", `${name} ${problem}`, undefined)

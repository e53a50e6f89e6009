/**
 * Finds the field that an error of the API is about. The message of the error begins with the field's name.
 */
import { ApiError } from "./ApiError.ts"

export interface FieldError {
  /** The name of the field in the request. */
  readonly name: string
  /** The part of the field, such as `["x-tenant"]`. Empty for the whole field. */
  readonly part: string
  /** What is wrong. The text continues a sentence that begins with the field's name: `must be an integer`. */
  readonly problem: string
}

const FIELD_FIRST = /^([a-z][a-z0-9_]*)((?:\.[^\s:]+|\[[^\]]*\])*):? (.+)$/s
const OF_FIELDS = new Set(["invalid_request", "not_found", "conflict"])

/** The field that an error is about, if it is about a field. The form has to check that it has this field. */
export const fieldErrorOf = (error: unknown): FieldError | undefined => {
  if (!(error instanceof ApiError) || !OF_FIELDS.has(error.code)) return undefined
  const [, name, part = "", problem] = FIELD_FIRST.exec(error.message) ?? []
  return name === undefined || problem === undefined ? undefined : { name, part, problem }
}

/** An error for input that is refused before it is sent, in the form of an error of the API. */
export const refused = (name: string, problem: string): ApiError =>
  new ApiError(0, "invalid_request", `${name} ${problem}`, undefined)

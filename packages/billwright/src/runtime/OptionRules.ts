/**
 * Rules for options, so that a wrong option is reported at once instead of failing later.
 */
import { ConfigurationError } from "../errors/RuntimeError.ts"

/** Throws a `ConfigurationError` when a value is wrong. `name` is the option's name, for the message. */
export type Rule = (value: unknown, name: string) => void

export const must =
  (isRight: (value: unknown) => boolean, be: string): Rule =>
  (value, name) => {
    if (!isRight(value)) throw new ConfigurationError(`${name} must be ${be}`)
  }

export const integer = (minimum: number, maximum = Number.MAX_SAFE_INTEGER): Rule =>
  must(
    (value) => Number.isSafeInteger(value) && (value as number) >= minimum && (value as number) <= maximum,
    maximum === Number.MAX_SAFE_INTEGER
      ? `an integer of at least ${minimum}`
      : `an integer from ${minimum} to ${maximum}`,
  )

export const number = (isRight: (value: number) => boolean, be: string): Rule =>
  must((value) => typeof value === "number" && Number.isFinite(value) && isRight(value), be)

export const listOfText = must(
  (value) => Array.isArray(value) && value.every((item) => typeof item === "string"),
  "a list of strings",
)
export const boolean = must((value) => typeof value === "boolean", "true or false")
/** Not checked here: the code that uses the option checks it. */
export const anything: Rule = () => {}

/** An object with only these fields. They are optional, unless `isWhole` is set. */
export const fields =
  (rules: Readonly<Record<string, Rule>>, isWhole = false): Rule =>
  (value, name) =>
    checkFields(rules, value, name, (field) => {
      if (isWhole || field.value !== undefined) field.rule(field.value, `${name}.${field.name}`)
    })

/** The same for the options of a function. `name` is the function's name. Messages name a field without it. */
export const argument =
  (rules: Readonly<Record<string, Rule>>): Rule =>
  (value, name) =>
    checkFields(rules, value, name, (field) => {
      if (field.value !== undefined) field.rule(field.value, field.name)
    })

interface Field {
  readonly name: string
  readonly value: unknown
  readonly rule: Rule
}

const checkFields = (
  rules: Readonly<Record<string, Rule>>,
  value: unknown,
  name: string,
  check: (field: Field) => void,
): void => {
  const names = Object.keys(rules).join(", ")
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new ConfigurationError(`${name} must be an object of ${names}`)
  }
  const unknown = Object.keys(value).find((field) => !Object.hasOwn(rules, field))
  if (unknown !== undefined) {
    throw new ConfigurationError(`${name} has no option "${unknown}": its options are ${names}`)
  }
  for (const [field, rule] of Object.entries(rules)) {
    check({ name: field, value: (value as Record<string, unknown>)[field], rule })
  }
}

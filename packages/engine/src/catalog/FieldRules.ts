/**
 * Rules of single fields, which charges and plans share. Each reports problems at the path of the field.
 */
import { DECIMAL_LIMITS, DECIMAL_PATTERN } from "../money/Exact.ts"
import * as Exact from "../money/Exact.ts"
import type { Problems } from "./Problem.ts"

/** The form of keys of charges, features, meters and quantities. */
export const KEY_PATTERN = /^[a-z][a-z0-9_]{0,63}$/
const KEY_RULE = "must be a lower-case letter, then at most 63 lower-case letters, digits and underscores"

export type Fields = Readonly<Record<string, unknown>>

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The fields of an object without some of them. */
export const without = <A extends object, Name extends keyof A & string>(
  value: A,
  ...names: ReadonlyArray<Name>
): Omit<A, Name> => {
  const kept = Object.entries(value).filter(([name]) => !names.some((one) => one === name))
  return Object.fromEntries(kept) as object as Omit<A, Name>
}

export const oneOf = (words: ReadonlyArray<string>): string => `must be one of ${words.join(", ")}`

/** Checks that a value is one of some words. */
export const checkChoice = (at: Problems, value: unknown, choices: ReadonlyArray<string>): void => {
  if (!choices.some((choice) => choice === value)) at.add(oneOf(choices))
}

/** Refuses all fields but the known ones, and lists those: a name is often misspelled, or belongs to another place. */
export const checkKnown = (at: Problems, fields: Fields, known: ReadonlyArray<string>): void => {
  for (const field of Object.keys(fields)) {
    if (!known.includes(field)) at.in(field).add(`is not a known field here (known: ${known.join(", ")})`)
  }
}

/** Whether a text can be the key of a plan, charge, feature, meter or quantity. */
export const isKey = (text: string): boolean => KEY_PATTERN.test(text)

export const checkKey = (at: Problems, value: unknown): void => {
  if (typeof value !== "string" || !KEY_PATTERN.test(value)) at.add(KEY_RULE)
}

/** Reads a decimal that is 0 or more. Gives `undefined` and reports the problem when it is not valid. */
export const decimalOf = (at: Problems, value: unknown): Exact.Exact | undefined => {
  if (value === undefined) at.add("is required")
  else if (typeof value === "number") at.add(`must be a string, such as "${value}"`)
  else if (typeof value !== "string" || !DECIMAL_PATTERN.test(value)) {
    at.add(
      `must be a decimal in a string, at most ${DECIMAL_LIMITS.before} digits before and ${DECIMAL_LIMITS.after} after the point`,
    )
  } else {
    const decimal = Exact.ofDecimal(value)
    if (!Exact.isNegative(decimal)) return decimal
    at.add("must be 0 or more")
  }
  return undefined
}

export const positiveOf = (at: Problems, value: unknown): Exact.Exact | undefined => {
  const decimal = decimalOf(at, value)
  if (decimal === undefined || !Exact.isZero(decimal)) return decimal
  at.add("must be greater than 0")
  return undefined
}

/** The currencies that every price needs, or a unit of credits. With `areAll`, prices in others are refused. */
export interface Currencies {
  readonly required: ReadonlyArray<string>
  readonly areAll: boolean
  /** What one that is refused is not. Default: a currency of the plan. */
  readonly what?: string
}

export const checkPrices = (at: Problems, value: unknown, currencies: Currencies): void => {
  if (!isFields(value)) {
    at.add(
      value === undefined ? "is required" : `must give a price for each currency, such as {"EUR": "0.01"}`,
    )
    return
  }
  for (const currency of currencies.required) {
    if (!Object.hasOwn(value, currency)) at.add(`has no price in ${currency}`)
  }
  for (const [currency, price] of Object.entries(value)) {
    if (currencies.areAll && !currencies.required.includes(currency)) {
      at.in(currency).add(`is not ${currencies.what ?? "a currency of the plan"}`)
    } else decimalOf(at.in(currency), price)
  }
}

/** Checks text for people: not empty, not too long, and without control characters. */
export const checkText = (at: Problems, value: unknown, maxLength: number): void => {
  if (value === undefined) at.add("is required")
  else if (typeof value !== "string" || value.trim() === "" || value.length > maxLength) {
    at.add(`must be a text of 1 to ${maxLength} characters`)
  } else checkStorable(at, value)
}

/** Refuses control characters and halves of surrogate pairs, which databases don't store. */
export const checkStorable = (at: Problems, value: string): void => {
  if (/\p{Cc}|\p{Cs}/u.test(value)) at.add("must not have control characters")
}

/** Checks an integer from `least` to `most`, both included. */
export const integerIn = (at: Problems, value: unknown, least: number, most: number): void => {
  if (value === undefined) at.add("is required")
  else if (!Number.isInteger(value) || Number(value) < least || Number(value) > most) {
    at.add(`must be an integer from ${least} to ${most}`)
  }
}

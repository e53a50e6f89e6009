/**
 * Strict JSON. It refuses what `JSON.parse` accepts but a billing API must not accept.
 *
 * Refused: nesting, keys and numbers beyond a limit (checked before parsing), and an object with the same key twice
 * (parsers disagree on which one counts). Integers beyond 2^53 stay exact: they are read as `bigint`.
 *
 * The work is proportional to the length of the text. One pass over the text finds out what is needed. Then the
 * platform's own parser does the rest, so usual bodies cost little more than `JSON.parse`.
 */
import { Event } from "@billwright/core"
import { Predicate } from "effect"

/** The deepest nesting of a body. */
const MAX_DEPTH = 32

/**
 * The most keys of a body, in all its objects together. The largest batch has 15,001: 1,000 records with 15 keys each,
 * 8 of them in `dimensions`. A key costs far more than its length: it is parsed, looked up and checked.
 */
export const MAX_KEYS = 16_000

/**
 * The most digits of a number. Digits of its exponent are counted separately. The work to make a `bigint` grows
 * faster than its length.
 */
const MAX_DIGITS = Event.MAX_NUMBER_DIGITS

/**
 * A number with a point or an exponent that is at least this large is read as a double, as by every parser. Writing
 * it out would be too long: the digits of many `1e308` would be sixty times as long as the body.
 */
const MAX_WRITTEN_OUT = 1e40

/** An integer with fewer digits always fits a double exactly: 2^53 has 16. */
const UNSAFE_DIGITS = 16

/** Why a text is refused. The message is worded to follow "the body". */
export class JsonProblem extends Error {
  override readonly name = "JsonProblem"
}

interface Scan {
  readonly keys: number
  /** Whether there are numbers that may not fit a double exactly, because of many digits or an exponent. */
  readonly hasInexactNumbers: boolean
}

const QUOTE = 34
const BACKSLASH = 92
/** A point doesn't end the digits of a number. */
const POINT = 46

/** The index after the string that starts at `start` (its opening quote). */
const skipString = (text: string, start: number): number => {
  let end = start
  do {
    end = text.indexOf('"', end + 1)
    if (end === -1) return text.length
  } while (isEscaped(text, end))
  return end + 1
}

const isEscaped = (text: string, index: number): boolean => {
  let backslashes = 0
  while (text.charCodeAt(index - 1 - backslashes) === BACKSLASH) backslashes++
  return backslashes % 2 === 1
}

const tooManyDigits = (index: number): JsonProblem =>
  new JsonProblem(`has a number of more than ${MAX_DIGITS} digits, up to character ${index + 1}`)

/** Counts keys, measures depth and looks for long numbers, without building anything. */
const scan = (text: string): Scan => {
  let depth = 0
  let keys = 0
  let digits = 0
  let hasInexactNumbers = false
  for (let i = 0; i < text.length;) {
    const code = text.charCodeAt(i)
    if (code >= 48 && code <= 57) {
      if (++digits >= UNSAFE_DIGITS) hasInexactNumbers = true
      if (digits > MAX_DIGITS) throw tooManyDigits(i)
    } else if (code !== POINT) {
      if (digits > 0 && (code === 69 || code === 101)) hasInexactNumbers = true
      digits = 0
    }
    if (code === QUOTE) {
      i = skipString(text, i)
      continue
    }
    if (code === 123 || code === 91) {
      if (++depth > MAX_DEPTH) throw new JsonProblem(`is nested deeper than ${MAX_DEPTH} levels`)
    } else if (code === 125 || code === 93) depth--
    else if (code === 58 && ++keys > MAX_KEYS) throw new JsonProblem(`has more than ${MAX_KEYS} keys`)
    i++
  }
  return { keys, hasInexactNumbers }
}

const countKeys = (value: unknown): number => {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + countKeys(item), 0)
  if (!Predicate.isObject(value)) return 0
  let count = 0
  for (const item of Object.values(value)) count += 1 + countKeys(item)
  return count
}

/** Finds the key that an object has twice. It is only called when there is one and the text is well-formed. */
const findDuplicateKey = (text: string): string => {
  const open: Array<Set<string> | undefined> = []
  let lastString = ""
  for (let i = 0; i < text.length;) {
    const char = text[i]
    if (char === '"') {
      const end = skipString(text, i)
      lastString = text.slice(i, end)
      i = end
      continue
    }
    if (char === "{") open.push(new Set())
    else if (char === "[") open.push(undefined)
    else if (char === "}" || char === "]") open.pop()
    else if (char === ":") {
      const key = JSON.parse(lastString) as string
      const keys = open[open.length - 1]
      if (keys?.has(key)) return key
      keys?.add(key)
    }
    i++
  }
  return ""
}

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/**
 * The integer that a number's source text stands for; `undefined` when the number has a fraction. Only for numbers
 * below `MAX_WRITTEN_OUT`, which limits the number of digits.
 */
const wholeNumber = (source: string): bigint | undefined => {
  const [, sign = "", integer = "", fraction = "", exponent = "0"] = NUMBER.exec(source) ?? []
  const digits = integer + fraction
  let significant = digits.length
  while (digits[significant - 1] === "0") significant--
  if (significant === 0) return 0n
  const length = integer.length + Number(exponent)
  if (significant > length) return undefined
  return BigInt(sign + digits.slice(0, length).padEnd(length, "0"))
}

/**
 * Converts numbers by their source text. An integer beyond 2^53 becomes a `bigint`. Below `MAX_WRITTEN_OUT` this
 * also holds for other spellings, such as `1e21`. A number with a fraction that a double would round to an integer
 * becomes NaN, so that no check accepts it as an integer.
 */
function reviveNumber(this: unknown, _key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source
  if (typeof value !== "number" || source === undefined) return value
  if (/^-?\d+$/.test(source)) return Number.isSafeInteger(value) ? value : BigInt(source)
  if (!Number.isInteger(value) || Math.abs(value) >= MAX_WRITTEN_OUT) return value
  const whole = wholeNumber(source)
  if (whole === undefined) return Number.NaN
  return Number.isSafeInteger(value) ? value : whole
}

/** Parses a text. Throws a `JsonProblem`. */
export const parse = (text: string): unknown => {
  const { hasInexactNumbers, keys } = scan(text)
  let value: unknown
  try {
    value = hasInexactNumbers ? JSON.parse(text, reviveNumber) : JSON.parse(text)
  } catch {
    throw new JsonProblem("is not valid JSON")
  }
  if (countKeys(value) !== keys) {
    throw new JsonProblem(`has the key ${JSON.stringify(findDuplicateKey(text))} twice in one object`)
  }
  return value
}

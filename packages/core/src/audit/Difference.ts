/**
 * What a change did to an object: the fields that differ, before and after, within the limits of an audit record.
 */
import { DateTime } from "effect"
import { MAX_AUDITED_BYTES, MAX_AUDITED_FIELD_BYTES, MAX_AUDITED_FIELDS } from "./AuditRecord.ts"

type Json = Readonly<Record<string, unknown>>

/** What a record shows of a change. */
export interface Difference {
  readonly before: Json | null
  readonly after: Json | null
  /** The names of fields that changed and are not shown. */
  readonly leftOut: ReadonlyArray<string>
}

/** Which fields of a kind of object are shown. */
export interface Shown {
  /** All fields that count as changes. */
  readonly fields: ReadonlyArray<string>
  /** Those of which only the name is shown. */
  readonly hidden: ReadonlySet<string>
}

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1)

/** A value that is no list and has no fields, as JSON. */
const leaf = (value: unknown): unknown => {
  if (value === undefined) return null
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  return DateTime.isDateTime(value) ? DateTime.formatIso(value) : value
}

const hasParts = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !DateTime.isDateTime(value)

const fieldOf = (value: object | undefined, name: string): unknown => (value as Json | undefined)?.[name]

/** Whether two values are the same as JSON. Most values stay, and many are large, so none is written out for this. */
const isSame = (one: unknown, other: unknown): boolean => {
  if (one === other) return true
  if (!hasParts(one) || !hasParts(other)) {
    if (DateTime.isDateTime(one) && DateTime.isDateTime(other)) {
      return one.epochMilliseconds === other.epochMilliseconds
    }
    return !hasParts(one) && !hasParts(other) && leaf(one) === leaf(other)
  }
  if (Array.isArray(one) || Array.isArray(other)) {
    return (
      Array.isArray(one) &&
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((item, index) => isSame(item, other[index]))
    )
  }
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSame(fieldOf(one, name), fieldOf(other, name)))
  )
}

/**
 * A value as JSON: instants as ISO 8601, and integers that JSON can't hold exactly as text. Names are in one order, because some
 * storages give them back in another one.
 */
export const toJson = (value: unknown): unknown => {
  if (!hasParts(value)) return leaf(value)
  if (Array.isArray(value)) return value.map(toJson)
  const fields = Object.entries(value).toSorted(byName)
  return Object.fromEntries(fields.map(([name, field]) => [name, toJson(field)]))
}

/** `customerId` → `customer_id` */
export const toSnake = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const encoder = new TextEncoder()
const ASCII = /^[ -~]*$/
/** The bytes of JSON, which is mostly ASCII. */
const bytesOf = (json: string): number => (ASCII.test(json) ? json.length : encoder.encode(json).length)

/** One side of a record, which takes fields until it is full. */
class Side {
  readonly fields: Array<readonly [string, unknown]> = []
  #left = MAX_AUDITED_BYTES - 2

  /** `bytes`: those of the value as JSON. */
  hasRoom(name: string, bytes: number): boolean {
    return bytes <= MAX_AUDITED_FIELD_BYTES && sizeOf(name, bytes) <= this.#left
  }

  add(name: string, bytes: number, value: unknown): void {
    this.#left -= sizeOf(name, bytes)
    this.fields.push([name, value])
  }
}

/** A comma, the name in quotes, a colon and the value. Names of fields are ASCII. */
const sizeOf = (name: string, bytes: number): number => name.length + bytes + 4

/** What differs between two states of an object. `undefined`: nothing that counts. A missing state is `undefined`. */
export const between = (
  { fields, hidden }: Shown,
  before: object | undefined,
  after: object | undefined,
): Difference | undefined => {
  const [was, is] = [new Side(), new Side()]
  const leftOut: Array<string> = []
  let count = 0
  for (const name of fields) {
    const [oldValue, newValue] = [fieldOf(before, name), fieldOf(after, name)]
    if (isSame(oldValue, newValue)) continue
    if (++count > MAX_AUDITED_FIELDS) break
    const shown = toSnake(name)
    if (hidden.has(name)) {
      leftOut.push(shown)
      continue
    }
    const [old, now] = [toJson(oldValue), toJson(newValue)]
    const [oldBytes, newBytes] = [bytesOf(JSON.stringify(old)), bytesOf(JSON.stringify(now))]
    if (!was.hasRoom(shown, oldBytes) || !is.hasRoom(shown, newBytes)) leftOut.push(shown)
    else {
      was.add(shown, oldBytes, old)
      is.add(shown, newBytes, now)
    }
  }
  if (count === 0 && before !== undefined && after !== undefined) return undefined
  return {
    before: before === undefined ? null : Object.fromEntries(was.fields),
    after: after === undefined ? null : Object.fromEntries(is.fields),
    leftOut,
  }
}

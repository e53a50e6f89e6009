/**
 * Converts values of the domain to plain values: instants become `Date`s, and secrets become strings.
 */
import { DateTime, Redacted } from "effect"

/** The plain form of a value of the domain. */
export type Plain<A> = A extends DateTime.DateTime
  ? Date
  : A extends Redacted.Redacted<infer Secret>
    ? Secret
    : A extends string | number | bigint | boolean | null | undefined | Date
      ? A
      : A extends ReadonlyArray<infer Item>
        ? ReadonlyArray<Plain<Item>>
        : A extends object
          ? { readonly [Key in keyof A]: Plain<A[Key]> }
          : A

const convert = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null || value instanceof Date) return value
  if (DateTime.isDateTime(value)) return DateTime.toDateUtc(value)
  if (Redacted.isRedacted(value)) return Redacted.value(value)
  if (Array.isArray(value)) return value.map(convert)
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, convert(item)]))
}

/**
 * Copies a value without any type of Effect. The value must consist of plain objects, arrays, instants and secrets.
 */
export const toPlain = <A>(value: A): Plain<A> => convert(value) as Plain<A>

/**
 * Converts values to plain data, to compare the result of a storage with the expected value.
 */
import { DateTime, Option, Predicate } from "effect"

/**
 * Converts instants to ISO strings, and options, maps and sets to arrays, at any depth. Everything else stays as it
 * is.
 *
 * Two equal instants can differ as objects, because an instant caches its calendar parts once they were read. So
 * values with instants can't be compared directly.
 */
export const plain = (value: unknown): unknown => {
  if (DateTime.isDateTime(value)) return DateTime.formatIso(value)
  if (Option.isOption(value)) return Option.toArray(value).map(plain)
  if (Array.isArray(value)) return value.map(plain)
  if (value instanceof Map || value instanceof Set) return Array.from(value, plain)
  if (!Predicate.isObject(value) || value instanceof Error) return value
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, plain(field)]))
}

/**
 * Values as plain data, to compare what a storage gives with what is expected.
 */
import { DateTime, Option, Predicate } from "effect"

/**
 * Turns instants into ISO strings, options, maps and sets into arrays, deeply; everything else stays as it is.
 *
 * Two instants that are equal can differ as objects (an instant remembers its calendar parts once they were
 * asked for), so values with instants can't be compared as they are.
 */
export const plain = (value: unknown): unknown => {
  if (DateTime.isDateTime(value)) return DateTime.formatIso(value)
  if (Option.isOption(value)) return Option.toArray(value).map(plain)
  if (Array.isArray(value)) return value.map(plain)
  if (value instanceof Map || value instanceof Set) return Array.from(value, plain)
  if (!Predicate.isObject(value) || value instanceof Error) return value
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, plain(field)]))
}

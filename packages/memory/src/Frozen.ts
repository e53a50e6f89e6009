/**
 * Values that can't be changed, so that storing and giving them out needs no copies.
 */
import { Predicate } from "effect"

/** Every object that `frozen` made. Its parts are frozen, too. */
const made = new WeakSet<object>()

/**
 * A copy of plain data of which no part can be changed. What is frozen by this function already is not copied again, so a
 * value with few changes costs little.
 */
export const frozen = <A>(value: A): A => {
  if (typeof value !== "object" || value === null || made.has(value)) return value
  const copy: unknown = Array.isArray(value)
    ? value.map(frozen)
    : Predicate.isObject(value) && Object.getPrototypeOf(value) === Object.prototype
      ? frozenFields(value)
      : undefined
  if (copy === undefined) return value
  made.add(Object.freeze(copy as object))
  return copy as A
}

/** A spread copies a field of any name, `__proto__` too. Then only fields that are objects are looked at. */
const frozenFields = (value: object): object => {
  const copy: Record<string, unknown> = { ...value }
  for (const name of Object.keys(copy)) {
    const field = copy[name]
    if (typeof field === "object" && field !== null) copy[name] = frozen(field)
  }
  return copy
}

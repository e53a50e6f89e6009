/**
 * Plain data: arrays and objects without a class, and what they are made of.
 */

/** Whether a value is an array or a plain object. Others, such as a `DateTime`, are never changed. */
export const isData = (value: unknown): value is object =>
  typeof value === "object" &&
  value !== null &&
  (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype)

/** A copy of an array or a plain object, with each part that is an object changed. */
export const mapParts = (value: object, change: (part: unknown) => unknown): object => {
  if (Array.isArray(value)) return value.map(change)
  // A spread copies a field of any name, `__proto__` too. Then only fields that are objects are looked at.
  const copy: Record<string, unknown> = { ...value }
  for (const name of Object.keys(copy)) {
    const field = copy[name]
    if (typeof field === "object" && field !== null) copy[name] = change(field)
  }
  return copy
}

/** Values are copied when they are stored and when they are given out, so both sides may change their objects. */
export const copyOf = <A>(value: A): A => (isData(value) ? (mapParts(value, copyOf) as A) : value)

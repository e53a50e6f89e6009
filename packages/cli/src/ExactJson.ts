/**
 * JSON whose integers keep every digit: totals are beyond what a number holds.
 */

const exactly = (_key: string, value: unknown, { source }: { readonly source?: string }): unknown =>
  typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(source ?? "")
    ? BigInt(source!)
    : value

const parseWith = JSON.parse as (text: string, reviver: typeof exactly) => unknown

/** Reads JSON. Integers that no double holds become a `bigint`. */
export const parse = (text: string): unknown => parseWith(text, exactly)

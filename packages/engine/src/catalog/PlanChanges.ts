/**
 * What is different between two plans, or between two rate cards, field by field.
 */
import { canonicalJson } from "./CanonicalJson.ts"
import { type Fields, isFields } from "./FieldRules.ts"
import { pathTo } from "./Problem.ts"

/** A field that differs: `charges.calls.tiers[0].price.EUR` from `"0.01"` to `"0.02"`. `null` stands for no value. */
export interface FieldChange {
  readonly path: string
  readonly from: unknown
  readonly to: unknown
}

type Keyed = Fields & { readonly key: string }

const isKeyed = (value: unknown): value is Keyed => isFields(value) && typeof value["key"] === "string"

/** Collects the changes below a path. Values that both have are compared part by part. */
const compare = (path: string, from: unknown, to: unknown, found: Array<FieldChange>): void => {
  if (canonicalJson(from ?? null) === canonicalJson(to ?? null)) return
  if (isFields(from) && isFields(to)) compareFields(path, from, to, found)
  else if (Array.isArray(from) && Array.isArray(to)) compareLists(path, from, to, found)
  else found.push({ path, from: from ?? null, to: to ?? null })
}

/** The field of an object. A feature may be called `constructor`, which every object inherits. */
const ownOf = (fields: Fields, name: string): unknown =>
  Object.hasOwn(fields, name) ? fields[name] : undefined

const compareFields = (path: string, from: Fields, to: Fields, found: Array<FieldChange>): void => {
  // Sorted, because databases keep fields in an order of their own.
  for (const name of [...new Set([...Object.keys(from), ...Object.keys(to)])].sort()) {
    compare(pathTo(path, name), ownOf(from, name), ownOf(to, name), found)
  }
}

/** Charges are compared by key, other objects by position. A list of texts is one value. */
const compareLists = (
  path: string,
  from: ReadonlyArray<unknown>,
  to: ReadonlyArray<unknown>,
  found: Array<FieldChange>,
): void => {
  const all = [...from, ...to]
  if (!all.every(isFields)) found.push({ path, from, to })
  else if (all.every(isKeyed))
    compareKeyed(path, from as ReadonlyArray<Keyed>, to as ReadonlyArray<Keyed>, found)
  else
    for (let at = 0; at < Math.max(from.length, to.length); at++)
      compare(pathTo(path, at), from[at], to[at], found)
}

const compareKeyed = (
  path: string,
  from: ReadonlyArray<Keyed>,
  to: ReadonlyArray<Keyed>,
  found: Array<FieldChange>,
): void => {
  const byKey = (list: ReadonlyArray<Keyed>) => new Map(list.map((one) => [one.key, one]))
  const [before, after] = [byKey(from), byKey(to)]
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    compare(pathTo(path, key), before.get(key), after.get(key), found)
  }
  const kept = (keys: Iterable<string>) => [...keys].filter((key) => before.has(key) && after.has(key))
  const [order, newOrder] = [kept(before.keys()), kept(after.keys())]
  if (order.join() !== newOrder.join()) found.push({ path, from: order, to: newOrder })
}

/** The fields that differ between two valid plans, or rate cards. Empty when they are equal. */
export const changesOf = (from: object, to: object): ReadonlyArray<FieldChange> => {
  const found: Array<FieldChange> = []
  compare("", from, to, found)
  return found
}

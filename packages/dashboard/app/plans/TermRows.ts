/**
 * The terms of a plan as rows of a table, so that versions can stand side by side.
 */
import type { Plan } from "../api/Types.ts"

type Terms = Plan["terms"]
type Json = string | number | boolean | null | ReadonlyArray<Json> | { readonly [key: string]: Json }

export interface TermRow {
  /** What it is about, such as `charges › calls › tier 2 › price › EUR`. */
  readonly name: string
  /** Its value in each version, in the order of the versions. `undefined`: that version doesn't have it. */
  readonly values: ReadonlyArray<string | undefined>
  readonly differs: boolean
}

const SEPARATOR = " › "

const isObject = (value: Json): value is { readonly [key: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Items of a list are named by their key. Those without one, such as tiers, by their place. */
const nameOf = (item: Json, index: number): string =>
  isObject(item) && typeof item["key"] === "string" ? item["key"] : `${index + 1}`

const isPlainList = (value: Json): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.every((item) => typeof item === "string")

const flatten = (value: Json, path: ReadonlyArray<string>): ReadonlyArray<readonly [string, string]> => {
  if (isPlainList(value)) return [[path.join(SEPARATOR), value.join(", ")]]
  if (Array.isArray(value))
    return value.flatMap((item: Json, index) => flatten(item, [...path, nameOf(item, index)]))
  if (isObject(value))
    return Object.entries(value).flatMap(([key, item]) =>
      // The key of a charge is in its path already.
      key === "key" && path.length > 0 ? [] : flatten(item, [...path, key]),
    )
  return [[path.join(SEPARATOR), String(value)]]
}

/** A row for each term that one of the versions has, in the order of the first version that has it. */
export const rowsOf = (versions: ReadonlyArray<Terms>): ReadonlyArray<TermRow> => {
  const flat = versions.map((terms) => new Map(flatten(terms as unknown as Json, [])))
  const names = [...new Set(flat.flatMap((terms) => [...terms.keys()]))]
  return names.map((name) => {
    const values = flat.map((terms) => terms.get(name))
    return { name, values, differs: values.some((value) => value !== values[0]) }
  })
}

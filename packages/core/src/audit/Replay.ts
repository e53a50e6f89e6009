/**
 * Checks the audit log against what is stored: the records of an object lead to the object as it is now. So a change without a
 * record is found.
 */
import type { AuditRecord } from "./AuditRecord.ts"
import { toJson, toSnake } from "./Difference.ts"

/** What a field is according to the records. Those that records only name are unknown. */
type Known = Map<string, string>

const textOf = (value: unknown): string => JSON.stringify(toJson(value))

const apply = (known: Known, { action, after, before, leftOut }: AuditRecord): ReadonlyArray<string> => {
  const wrong = Object.entries(before ?? {}).flatMap(([name, value]) => {
    const was = known.get(name)
    return was === undefined || was === textOf(value) ? [] : [`${action}: ${name} was ${was} before`]
  })
  for (const [name, value] of Object.entries(after ?? {})) known.set(name, textOf(value))
  for (const name of leftOut) known.delete(name)
  return wrong
}

/**
 * What contradicts the records of an object, which are in the order in which they were made. `fields` are those that count as
 * changes, and `now` is the object as it is; `undefined` if there is none.
 */
export const contradictions = (
  records: ReadonlyArray<AuditRecord>,
  fields: ReadonlyArray<string>,
  now: object | undefined,
): ReadonlyArray<string> => {
  const [first] = records
  const last = records.at(-1)
  if (first === undefined || last === undefined) return now === undefined ? [] : ["it has no record"]
  if (!first.action.endsWith(".created")) return ["its creation has no record"]
  const known: Known = new Map()
  const problems = records.flatMap((record) => apply(known, record))
  const isGone = last.action.endsWith(".deleted")
  if (now === undefined) return isGone ? problems : [...problems, "its removal has no record"]
  if (isGone) return [...problems, "it was removed, and is there"]
  const left = fields.flatMap((name) => {
    const expected = known.get(toSnake(name))
    const is = textOf((now as Readonly<Record<string, unknown>>)[name])
    return expected === undefined || expected === is ? [] : [`${name} is ${is}, and ${expected} by the log`]
  })
  return [...problems, ...left]
}

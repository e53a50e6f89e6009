/**
 * Snapshots of customers as text, for files.
 *
 * The text is JSON. What JSON lacks is an object with one field: `$bigint` for an integer of any size, `$instant` for an
 * instant.
 */
import { DateTime, Result, Schema } from "effect"
import * as Resources from "../Resources.ts"
import * as Instant from "../shared/Instant.ts"
import { InvalidInput } from "../shared/InvalidInput.ts"
import { AccountId, Mode } from "../shared/Tenant.ts"
import type { CustomerSnapshot } from "./CustomerSnapshot.ts"

/** The format that this release writes and reads. It changes with the shape of what is stored. */
const SNAPSHOT_FORMAT = 1
/** Longest text of a snapshot, in characters. */
const MAX_SNAPSHOT_LENGTH = 268_435_456
/** How deep a snapshot may be nested. */
const MAX_DEPTH = 100

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const encoded = (value: unknown): unknown => {
  if (typeof value === "bigint") return { $bigint: String(value) }
  if (DateTime.isDateTime(value)) return { $instant: DateTime.formatIso(value) }
  if (Array.isArray(value)) return value.map(encoded)
  if (!isFields(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, encoded(field)]))
}

/** The text of a snapshot. */
export const snapshotText = ({ tenant: { accountId, mode }, ...snapshot }: CustomerSnapshot): string =>
  `${JSON.stringify({ format: SNAPSHOT_FORMAT, tenant: { accountId, mode }, ...(encoded(snapshot) as object) })}\n`

const refused = (problem: string): InvalidInput => new InvalidInput({ field: "snapshot", problem })

const instantOf = (text: unknown): unknown => {
  const instant = typeof text === "string" ? Instant.parse(text) : undefined
  if (instant === undefined) throw refused("has an instant that is none")
  return instant
}

const integerOf = (text: unknown): unknown => {
  if (typeof text !== "string" || !/^-?\d{1,60}$/.test(text)) throw refused("has an integer that is none")
  return BigInt(text)
}

const decoded = (value: unknown, depth = 0): unknown => {
  if (depth > MAX_DEPTH) throw refused(`is nested deeper than ${MAX_DEPTH} levels`)
  if (Array.isArray(value)) return value.map((item) => decoded(item, depth + 1))
  if (!isFields(value)) return value
  const entries = Object.entries(value)
  if (entries.length === 1 && Object.hasOwn(value, "$bigint")) return integerOf(value["$bigint"])
  if (entries.length === 1 && Object.hasOwn(value, "$instant")) return instantOf(value["$instant"])
  return Object.fromEntries(entries.map(([name, field]) => [name, decoded(field, depth + 1)]))
}

const AnyFields = Schema.Record(Schema.String, Schema.Unknown)
const Identified = Schema.Array(Schema.StructWithRest(Schema.Struct({ id: Schema.String }), [AnyFields]))

/** The outer shape. What is inside is what the release that wrote it has stored. */
const Shape = Schema.Struct({
  tenant: Schema.Struct({ accountId: AccountId, mode: Mode }),
  customerId: Schema.String,
  at: Schema.Int,
  values: Schema.Record(Schema.String, Identified),
  plans: Schema.Array(Schema.Struct({ plan: AnyFields, versions: Identified })),
  subscriptions: Schema.Array(Schema.Struct({ value: AnyFields, periods: Schema.Array(AnyFields) })),
  invoices: Identified,
  creditNotes: Identified,
  payments: Identified,
  series: Schema.Record(Schema.String, AnyFields),
  credits: Schema.Array(AnyFields),
  records: Identified,
})
const decodeShape = Schema.decodeUnknownResult(Schema.toType(Shape))

const parsed = (text: string): unknown => {
  if (text.length > MAX_SNAPSHOT_LENGTH) throw refused(`must have at most ${MAX_SNAPSHOT_LENGTH} characters`)
  try {
    return JSON.parse(text)
  } catch {
    throw refused("must be the text of a snapshot: it is no JSON")
  }
}

/** Each value of a resource is one by its definition. */
const checkValues = ({ customerId, values }: CustomerSnapshot): void => {
  for (const { definition } of Object.values(Resources.all)) {
    const isValue: (value: unknown) => boolean = Schema.is(definition.Value as Schema.Schema<object>)
    for (const value of values[definition.type] ?? []) {
      if (!isValue(value)) throw refused(`has the ${definition.noun} ${value.id}, which is not valid`)
    }
  }
  const [customer, another] = values["Customer"] ?? []
  if (customer?.id !== customerId || another !== undefined)
    throw refused("must have its customer, and no other")
}

/** Reads the text of a snapshot. Throws an `InvalidInput` that says what is wrong with it. */
export const readSnapshot = (text: string): CustomerSnapshot => {
  const json = parsed(text)
  if (!isFields(json) || json["format"] === undefined) throw refused("must be the text of a snapshot")
  const { format, ...fields } = json
  if (format !== SNAPSHOT_FORMAT) {
    const found = typeof format === "number" ? format : "another one"
    throw refused(`is of format ${found}, and this release reads format ${SNAPSHOT_FORMAT}: export it again`)
  }
  const shaped = decodeShape(decoded(fields))
  if (Result.isFailure(shaped)) throw refused(`is not complete: ${shaped.failure.message.split("\n")[0]}`)
  const snapshot = shaped.success as object as CustomerSnapshot
  checkValues(snapshot)
  return snapshot
}

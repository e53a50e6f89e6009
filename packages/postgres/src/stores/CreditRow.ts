/**
 * Rows of credits, and the JSON in which they are written and read within an account.
 */
import { Credit, CreditNote, Hold, Id, Invoice, SUBSCRIPTION_ID_PREFIX } from "@billwright/core"
import { Statement } from "effect/sql"
import { millisColumn, millisText } from "../Millis.ts"
import { bigint, integer, json, type Row, text, textOrNull } from "../Row.ts"
import { customerIdOf } from "./DueRow.ts"

const literal = (sql: string): Statement.Fragment => Statement.fragment([Statement.literal(sql)])

const GRANT_FIELDS = [
  "id",
  "kind",
  "amount",
  "priority",
  "status",
  "available",
  "held",
  "source_type",
  "source_id",
  "source_period",
  "rollover_maximum",
  "scope",
  "steps",
  "idempotency_key",
]
const GRANT_INSTANTS = ["effective_at", "expires_at", "rollover_expires_at", "created_at"]
const HOLD_FIELDS = [
  "id",
  "amount",
  "slices",
  "ttl_seconds",
  "status",
  "committed",
  "is_late",
  "purpose",
  "idempotency_key",
]
const HOLD_INSTANTS = ["expires_at", "settled_at", "created_at"]
const CONSUMPTION_FIELDS = ["id", "amount", "purpose", "available", "held", "debt", "idempotency_key"]
const ENTRY_FIELDS = [
  "id",
  "sequence",
  "kind",
  "grant_id",
  "hold_id",
  "consumption_id",
  "invoice_id",
  "purpose",
  "available",
  "scoped",
  "held",
  "debt",
]

const columns = (fields: ReadonlyArray<string>, instants: ReadonlyArray<string>): Statement.Fragment =>
  literal(
    [
      "t.customer_id::text",
      "t.unit",
      ...fields.map((name) => `t.${name}::text as ${name}`),
      ...instants.map((name) => millisColumn(`t.${name}`)),
    ].join(", "),
  )

/** The columns of a row `t`. */
export const grantColumns = columns(GRANT_FIELDS, GRANT_INSTANTS)
export const holdColumns = columns(HOLD_FIELDS, HOLD_INSTANTS)
export const consumptionColumns = columns(CONSUMPTION_FIELDS, ["created_at"])
export const entryColumns = columns(ENTRY_FIELDS, ["at"])

/** The SQL of a row's columns as JSON. */
const jsonOf = (row: string, fields: ReadonlyArray<string>, instants: ReadonlyArray<string>): string =>
  `jsonb_build_object(${[
    `'customer_id', ${row}.customer_id, 'unit', ${row}.unit`,
    ...fields.map((name) => `'${name}', ${row}.${name}::text`),
    ...instants.map((name) => `'${name}', ${millisText(`${row}.${name}`)}`),
  ].join(", ")})`

/** The SQL of a hold as JSON. */
export const holdJsonOf = (row: string): string => jsonOf(row, HOLD_FIELDS, HOLD_INSTANTS)

const objects = (json: string): Statement.Fragment =>
  literal(`coalesce(jsonb_agg(${json} order by t.id), '[]')::text`)

/** Rows `t` as a JSON array of what the columns have. */
export const grantObjects = objects(jsonOf("t", GRANT_FIELDS, GRANT_INSTANTS))
export const holdObjects = objects(holdJsonOf("t"))

const integerOrNull = (row: Row, column: string): number | null =>
  row[column] === null ? null : integer(row, column)
const idOf = (prefix: string, row: Row, column: string): string => Id.fromUuid(prefix, text(row, column))
const idOrNull = (prefix: string, row: Row, column: string): string | null =>
  row[column] === null ? null : idOf(prefix, row, column)

const accountOf = (row: Row): Credit.AccountKey => ({
  customerId: customerIdOf(row),
  unit: text(row, "unit"),
})

/** The prefixes of the ids of what makes grants. */
const SOURCE_PREFIXES = {
  credit_note: CreditNote.CREDIT_NOTE_ID_PREFIX,
  invoice: Invoice.INVOICE_ID_PREFIX,
  subscription: SUBSCRIPTION_ID_PREFIX,
} as const satisfies Record<Credit.GrantSource["type"], string>

const sourceOf = (row: Row): Credit.GrantSource | null => {
  if (row["source_id"] === null) return null
  const type = text(row, "source_type") as Credit.GrantSource["type"]
  return {
    type,
    id: idOf(SOURCE_PREFIXES[type], row, "source_id"),
    period: integerOrNull(row, "source_period"),
  }
}

const rolloverOf = (row: Row): Credit.StoredGrant["rollover"] =>
  row["rollover_maximum"] === null
    ? null
    : { maximum: bigint(row, "rollover_maximum"), expiresAt: integer(row, "rollover_expires_at") }

type Step = Credit.StoredGrant["steps"][number]

const stepsOf = (row: Row): ReadonlyArray<Step> => {
  if (row["steps"] === null) return []
  const steps = json(row, "steps") as ReadonlyArray<Omit<Step, "amount"> & { readonly amount: string }>
  return steps.map((step) => ({ ...step, amount: BigInt(step.amount) }))
}

export const grantFromRow = (row: Row): Credit.StoredGrant => ({
  id: idOf(Credit.GRANT_ID_PREFIX, row, "id") as Credit.CreditGrantId,
  ...accountOf(row),
  kind: text(row, "kind") as Credit.StoredGrant["kind"],
  amount: bigint(row, "amount"),
  priority: integer(row, "priority"),
  effectiveAt: integer(row, "effective_at"),
  expiresAt: integerOrNull(row, "expires_at"),
  status: text(row, "status") as Credit.StoredGrant["status"],
  available: bigint(row, "available"),
  held: bigint(row, "held"),
  rollover: rolloverOf(row),
  scope: row["scope"] === null ? null : (json(row, "scope") as ReadonlyArray<string>),
  source: sourceOf(row),
  steps: stepsOf(row),
  idempotencyKey: textOrNull(row, "idempotency_key"),
  createdAt: integer(row, "created_at"),
})

interface SliceJson {
  readonly grant_id: string
  readonly amount: string
}

export const holdFromRow = (row: Row): Hold.StoredHold => ({
  id: idOf(Hold.HOLD_ID_PREFIX, row, "id") as Hold.HoldId,
  ...accountOf(row),
  amount: bigint(row, "amount"),
  slices: (json(row, "slices") as ReadonlyArray<SliceJson>).map(({ amount, grant_id }) => ({
    grantId: Id.fromUuid(Credit.GRANT_ID_PREFIX, grant_id),
    amount: BigInt(amount),
  })),
  ttlSeconds: integer(row, "ttl_seconds"),
  expiresAt: integer(row, "expires_at"),
  status: text(row, "status") as Hold.StoredHold["status"],
  committed: row["committed"] === null ? null : bigint(row, "committed"),
  isLate: text(row, "is_late") === "true",
  purpose: textOrNull(row, "purpose"),
  settledAt: integerOrNull(row, "settled_at"),
  idempotencyKey: textOrNull(row, "idempotency_key"),
  createdAt: integer(row, "created_at"),
})

export const consumptionFromRow = (row: Row): Credit.StoredConsumption => ({
  id: idOf(Credit.CONSUMPTION_ID_PREFIX, row, "id") as Credit.ConsumptionId,
  ...accountOf(row),
  amount: bigint(row, "amount"),
  purpose: textOrNull(row, "purpose"),
  idempotencyKey: textOrNull(row, "idempotency_key"),
  balance: { available: bigint(row, "available"), held: bigint(row, "held"), debt: bigint(row, "debt") },
  createdAt: integer(row, "created_at"),
})

export const entryFromRow = (row: Row): Credit.StoredEntry => ({
  id: idOf(Credit.ENTRY_ID_PREFIX, row, "id") as Credit.CreditEntryId,
  ...accountOf(row),
  sequence: integer(row, "sequence"),
  kind: text(row, "kind") as Credit.StoredEntry["kind"],
  grantId: idOrNull(Credit.GRANT_ID_PREFIX, row, "grant_id"),
  holdId: idOrNull(Hold.HOLD_ID_PREFIX, row, "hold_id"),
  consumptionId: idOrNull(Credit.CONSUMPTION_ID_PREFIX, row, "consumption_id"),
  invoiceId: idOrNull(Invoice.INVOICE_ID_PREFIX, row, "invoice_id") as Invoice.InvoiceId | null,
  purpose: textOrNull(row, "purpose"),
  available: bigint(row, "available"),
  scoped: bigint(row, "scoped"),
  held: bigint(row, "held"),
  debt: bigint(row, "debt"),
  at: integer(row, "at"),
})

const uuidOrNull = (id: string | null): string | null => (id === null ? null : Id.toUuid(id))

/** What is written of a grant, as JSON for `jsonb_to_recordset`. Amounts are text, which is exact. */
export const grantJson = (grant: Credit.StoredGrant): object => ({
  id: Id.toUuid(grant.id),
  kind: grant.kind,
  amount: String(grant.amount),
  priority: grant.priority,
  effective_at: grant.effectiveAt,
  expires_at: grant.expiresAt,
  status: grant.status,
  available: String(grant.available),
  held: String(grant.held),
  source_type: grant.source?.type ?? null,
  source_id: uuidOrNull(grant.source?.id ?? null),
  source_period: grant.source?.period ?? null,
  scope: grant.scope,
  rollover_maximum: grant.rollover === null ? null : String(grant.rollover.maximum),
  rollover_expires_at: grant.rollover?.expiresAt ?? null,
  steps:
    grant.steps.length === 0 ? null : grant.steps.map((step) => ({ ...step, amount: String(step.amount) })),
  idempotency_key: grant.idempotencyKey,
  created_at: grant.createdAt,
})

export const holdJson = (hold: Hold.StoredHold): object => ({
  id: Id.toUuid(hold.id),
  amount: String(hold.amount),
  slices: hold.slices.map(({ amount, grantId }) => ({
    grant_id: Id.toUuid(grantId),
    amount: String(amount),
  })),
  ttl_seconds: hold.ttlSeconds,
  expires_at: hold.expiresAt,
  status: hold.status,
  committed: hold.committed === null ? null : String(hold.committed),
  is_late: hold.isLate,
  purpose: hold.purpose,
  settled_at: hold.settledAt,
  idempotency_key: hold.idempotencyKey,
  created_at: hold.createdAt,
})

export const consumptionJson = (one: Credit.StoredConsumption): object => ({
  id: Id.toUuid(one.id),
  amount: String(one.amount),
  purpose: one.purpose,
  available: String(one.balance.available),
  held: String(one.balance.held),
  debt: String(one.balance.debt),
  idempotency_key: one.idempotencyKey,
  created_at: one.createdAt,
})

export const entryJson = (entry: Credit.StoredEntry): object => ({
  id: Id.toUuid(entry.id),
  sequence: entry.sequence,
  kind: entry.kind,
  grant_id: uuidOrNull(entry.grantId),
  hold_id: uuidOrNull(entry.holdId),
  consumption_id: uuidOrNull(entry.consumptionId),
  invoice_id: uuidOrNull(entry.invoiceId),
  purpose: entry.purpose,
  available: String(entry.available),
  scoped: String(entry.scoped),
  held: String(entry.held),
  debt: String(entry.debt),
  at: entry.at,
})

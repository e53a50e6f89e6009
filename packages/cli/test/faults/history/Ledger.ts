import { Id, type Tenant, type Threshold, type UsageRecord } from "@billwright/core"
/**
 * The changes that Postgres committed, in order. Triggers record every change of a row with its transaction, and
 * `track_commit_timestamp` says when the transaction was committed. The library doesn't know about this.
 */
import type { OrderedEntry, StorageEntry } from "@billwright/simulation"
import { DateTime } from "effect"
import type { FaultyPostgres } from "../../FaultyPostgres.ts"

/** The settings that Postgres needs for this. */
export const LEDGER_SETTINGS = { track_commit_timestamp: "on" }

const TABLES = [
  "events",
  "usage_records",
  "usage_threshold_firings",
  "usage_thresholds",
  "webhook_earlier_attempts",
  "webhook_endpoints",
  "webhook_finished",
  "webhook_pending",
]

/** Begins to record the changes of a migrated database. */
export const observe = async (postgres: FaultyPostgres): Promise<void> => {
  await postgres.query(
    "create schema ledger",
    `create table ledger.changes (
      id bigint generated always as identity primary key, xid xid not null, begun_at timestamptz not null default now(),
      name text not null, is_gone boolean not null, row jsonb not null
    )`,
    `create function ledger.note() returns trigger language plpgsql security definer as $$
    begin
      insert into ledger.changes (xid, name, is_gone, row) values (
        pg_current_xact_id()::xid, tg_table_name, tg_op = 'DELETE', to_jsonb(case when tg_op = 'DELETE' then old else new end)
      );
      return null;
    end $$`,
    "grant usage on schema ledger to public",
    ...TABLES.map(
      (table) =>
        `create trigger ledger after insert or update or delete on billwright.${table} for each row execute function ledger.note()`,
    ),
  )
}

type Row = Readonly<Record<string, unknown>>

interface Change {
  readonly xid: string
  readonly at: number
  /** When the transaction began. */
  readonly since: number
  readonly name: string
  readonly isGone: boolean
  readonly row: Row
}

const changesOf = async (postgres: FaultyPostgres): Promise<ReadonlyArray<Change>> => {
  const rows = await postgres.query(`
    select c.xid::text as xid, c.name, c.is_gone, c.row::text as row,
      (extract(epoch from pg_xact_commit_timestamp(c.xid)) * 1000000)::bigint::text as at,
      (extract(epoch from c.begun_at) * 1000000)::bigint::text as since
    from ledger.changes c order by pg_xact_commit_timestamp(c.xid), c.id`)
  return rows.map(({ at, is_gone: isGone, name, row, since, xid }) => ({
    xid: String(xid),
    at: Number(at),
    since: Number(since),
    name: String(name),
    isGone: isGone === true,
    row: JSON.parse(String(row)) as Row,
  }))
}

const text = (row: Row, column: string): string => String(row[column])

export const tenantOf = (row: Row): Tenant.Tenant =>
  ({ accountId: text(row, "account_id"), mode: text(row, "mode") }) as Tenant.Tenant
const tenantNameOf = (row: Row): string => `${text(row, "mode")}:${text(row, "account_id")}`

const idOf = (prefix: string, row: Row, column = "id"): string => Id.fromUuid(prefix, text(row, column))

const instantOf = (value: unknown): DateTime.Utc => DateTime.makeUnsafe(String(value))

/** A usage record in the form that the checkers read. */
export const recordOf = (row: Row): UsageRecord.UsageRecord =>
  ({
    id: idOf("usg", row),
    customerId: idOf("cus", row, "customer_id"),
    productId: text(row, "product_id"),
    unit: text(row, "unit"),
    quantity: Number(row["quantity"]),
    dimensions: row["dimensions"] ?? {},
    timestamp: instantOf(row["occurred_at"]),
    idempotencyKey: row["idempotency_key"] ?? null,
    voidedAt: row["voided_at"] === null ? null : instantOf(row["voided_at"]),
  }) as UsageRecord.UsageRecord

export const thresholdOf = (row: Row): Threshold.Threshold =>
  ({
    id: idOf("thr", row),
    customerId: idOf("cus", row, "customer_id"),
    productId: text(row, "product_id"),
    unit: text(row, "unit"),
    quantity: BigInt(text(row, "quantity")),
    period: text(row, "period"),
  }) as Threshold.Threshold

const endpointSeen = (row: Row): StorageEntry => ({
  _tag: "EndpointSeen",
  tenant: tenantNameOf(row),
  id: idOf("whe", row),
  status: row["deleted_at"] === null ? (text(row, "status") as "enabled") : "deleted",
  url: text(row, "url"),
  eventTypes: row["event_types"] as ReadonlyArray<string>,
})

/** What came of an attempt. */
interface Attempted {
  readonly status: number | null
  readonly error: string | null
}

const attemptOf = (row: Row): Attempted => ({
  status: row["response_status"] as number | null,
  error: row["error"] as string | null,
})

/** The attempt in the row of a finished delivery. */
const lastAttemptOf = (row: Row): Attempted => ({
  status: row["attempt_response_status"] as number | null,
  error: row["last_error"] as string | null,
})

/** The rows of deliveries at some time. */
class DeliveryRows {
  readonly #rows = new Map<string, Row>()
  readonly #attempts = new Map<string, Map<number, Attempted>>()
  readonly #tokens = new Map<string, unknown>()
  readonly #touched = new Set<string>()

  /** Applies a change. Returns the call of the storage that caused it, as far as the row shows it. */
  change({ isGone, name, row, since }: Change): ReadonlyArray<StorageEntry> {
    const id = text(row, name === "webhook_earlier_attempts" ? "delivery_id" : "id")
    this.#touched.add(id)
    if (name === "webhook_earlier_attempts") {
      const attempts = this.#attemptsOf(id)
      if (isGone) attempts.delete(Number(row["number"]))
      else attempts.set(Number(row["number"]), attemptOf(row))
      return []
    }
    // A finished delivery moves from one table to the other.
    if (isGone) return []
    const wasFinished = this.#rows.get(id)?.["status"] !== undefined
    this.#rows.set(id, row)
    const token = row["lease_token"] ?? undefined
    const before = this.#tokens.get(id)
    this.#tokens.set(id, token)
    const base = { id: Id.fromUuid("dlv", id), token: String(token) }
    if (name === "webhook_finished") {
      // It has the last attempt.
      if (row["attempt_started_at"] !== null)
        this.#attemptsOf(id).set(Number(row["attempt_count"]), lastAttemptOf(row))
      // A row that is finished changes when its event is redacted.
      if (token === undefined || wasFinished) return []
      return [{ _tag: "Settled", process: "worker", results: [{ ...base, isWritten: true }] }]
    }
    if (token === undefined || token === before) return []
    const eventId = idOf("evt", row, "event_id")
    const endpointId = idOf("whe", row, "endpoint_id")
    return [{ _tag: "Claimed", process: "worker", since, deliveries: [{ ...base, eventId, endpointId }] }]
  }

  #attemptsOf(id: string): Map<number, Attempted> {
    const attempts = this.#attempts.get(id) ?? new Map<number, Attempted>()
    this.#attempts.set(id, attempts)
    return attempts
  }

  /** The new states of the deliveries that a transaction changed. */
  seen(): ReadonlyArray<StorageEntry> {
    const ids = [...this.#touched]
    this.#touched.clear()
    return ids.flatMap((id): ReadonlyArray<StorageEntry> => {
      const row = this.#rows.get(id)
      if (row === undefined) return []
      const attempts = [...(this.#attempts.get(id)?.entries() ?? [])].sort(([a], [b]) => a - b)
      return [
        {
          _tag: "DeliverySeen",
          id: Id.fromUuid("dlv", id),
          tenant: tenantNameOf(row),
          status: (row["status"] ?? "Pending") as "Pending",
          reason: (row["reason"] ?? null) as null,
          attemptCount: Number(row["attempt_count"]),
          attempts: attempts.map(([number, attempt]) => ({ number, ...attempt })),
        },
      ]
    })
  }
}

/** The changes of usage, events and endpoints by a transaction. A replay to a single endpoint is not a new event. */
const entriesOf = (changes: ReadonlyArray<Change>, known: Set<string>): ReadonlyArray<StorageEntry> => {
  const named = (name: string) => changes.filter((change) => change.name === name && !change.isGone)
  const firsts = (name: string) =>
    named(name).filter(({ row }) => {
      const isFirst = !known.has(text(row, "id"))
      known.add(text(row, "id"))
      return isFirst
    })
  const crossings = named("usage_threshold_firings").map(({ row }) => ({
    tenant: tenantNameOf(row),
    thresholdId: idOf("thr", row, "threshold_id"),
    periodKey: text(row, "period_key"),
  }))
  const appended = Map.groupBy(firsts("usage_records"), ({ row }) => tenantNameOf(row))
  return [
    ...named("webhook_endpoints").map(({ row }) => endpointSeen(row)),
    ...firsts("usage_thresholds").map(({ row }): StorageEntry => ({
      _tag: "ThresholdStored",
      tenant: tenantNameOf(row),
      threshold: thresholdOf(row),
    })),
    ...[...appended].map(([tenant, rows]): StorageEntry => ({
      _tag: "Appended",
      tenant,
      records: rows.map(({ row }) => recordOf(row)),
      crossings: crossings.filter((crossing) => crossing.tenant === tenant),
    })),
    ...firsts("events")
      .filter(({ row }) => row["type"] !== "usage.threshold")
      .map(({ row }): StorageEntry => ({
        _tag: "Published",
        tenant: tenantNameOf(row),
        eventId: idOf("evt", row),
        type: text(row, "type"),
        // Only examples of the catalogue are published for a single endpoint.
        endpointId: isExample(row) && row["endpoint_id"] !== null ? idOf("whe", row, "endpoint_id") : null,
      })),
  ]
}

const isExample = (row: Row): boolean => /"(?:in_2026_0042|pay_7f3a)"/.test(text(row, "payload"))

/** All committed changes, in order. */
export const committed = async (postgres: FaultyPostgres): Promise<ReadonlyArray<OrderedEntry>> => {
  const deliveries = new DeliveryRows()
  const known = new Set<string>()
  const entries: Array<OrderedEntry> = []
  // In the order of commits, because a map keeps the order of insertion.
  for (const changes of Map.groupBy(await changesOf(postgres), ({ xid }) => xid).values()) {
    const order = changes[0]!.at
    const asked = changes
      .filter(
        ({ name }) =>
          name === "webhook_earlier_attempts" || name === "webhook_pending" || name === "webhook_finished",
      )
      .flatMap((change) => deliveries.change(change))
    for (const entry of [...entriesOf(changes, known), ...asked, ...deliveries.seen()]) {
      entries.push({ ...entry, order })
    }
  }
  return entries
}

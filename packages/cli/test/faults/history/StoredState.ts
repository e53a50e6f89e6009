/**
 * All data of all tenants, read from Postgres without the library.
 */
import { Id } from "@billwright/core"
import type { Stored } from "@billwright/simulation"
import type { FaultyPostgres } from "../../FaultyPostgres.ts"
import { recordOf, tenantOf, thresholdOf } from "./Ledger.ts"

type Row = Readonly<Record<string, unknown>>

/** All rows of a table as JSON, so that types of the driver don't matter. */
const rowsOf = async (postgres: FaultyPostgres, table: string): Promise<ReadonlyArray<Row>> => {
  const rows = await postgres.query(`select to_jsonb(t)::text as row from billwright.${table} t`)
  return rows.map(({ row }) => JSON.parse(String(row)) as Row)
}

const id = (prefix: string, row: Row, column = "id"): string => Id.fromUuid(prefix, String(row[column]))

/** The fields that the checkers read, with the types of the full objects. */
const as = <A>(fields: object): A => fields as A

const deliveriesOf = (rows: ReadonlyArray<Row>, attempts: ReadonlyArray<Row>): Stored["deliveries"] => {
  const byDelivery = Map.groupBy(attempts, (attempt) => attempt["delivery_id"])
  return rows.map((row) => ({
    tenant: tenantOf(row),
    delivery: as({
      id: id("dlv", row),
      eventId: id("evt", row, "event_id"),
      endpointId: id("whe", row, "endpoint_id"),
      status: row["status"] ?? "Pending",
      reason: row["reason"] ?? null,
      attemptCount: row["attempt_count"],
    }),
    attemptStartedAt: null,
    attempts: (byDelivery.get(row["id"]) ?? [])
      .toSorted((a, b) => Number(a["number"]) - Number(b["number"]))
      .map((attempt) =>
        as({
          number: attempt["number"],
          responseStatus: attempt["response_status"],
          responseHeaders: attempt["response_headers"],
          responseBody: attempt["response_body"],
          error: attempt["error"],
          requestHeaders: attempt["request_headers"],
        }),
      ),
  }))
}

export const storedState = async (postgres: FaultyPostgres): Promise<Stored> => {
  const all = (table: string) => rowsOf(postgres, table)
  const finished = await all("webhook_finished")
  const pending = await all("webhook_pending")
  return {
    customers: (await all("customers")).map((row) => ({
      tenant: tenantOf(row),
      id: id("cus", row),
      customer: row["erased_at"] === null ? as({ name: row["name"] }) : null,
    })),
    records: (await all("usage_records")).map((row) => ({ tenant: tenantOf(row), record: recordOf(row) })),
    rollups: (await all("usage_daily")).map((row) => ({
      tenant: tenantOf(row),
      customerId: id("cus", row, "customer_id"),
      productId: String(row["product_id"]),
      unit: String(row["unit"]),
      day: String(row["day"]),
      quantity: BigInt(String(row["quantity"])),
      recordCount: Number(row["record_count"]),
    })),
    meters: (await all("meters")).map((row) => ({
      tenant: tenantOf(row),
      meter: as({ ...row, id: id("mtr", row), productId: row["product_id"] }),
    })),
    thresholds: (await all("usage_thresholds")).map((row) => ({
      tenant: tenantOf(row),
      threshold: thresholdOf(row),
    })),
    firings: (await all("usage_threshold_firings")).map((row) => ({
      tenant: tenantOf(row),
      thresholdId: id("thr", row, "threshold_id"),
      periodKey: String(row["period_key"]),
    })),
    events: (await all("events")).map((row) => ({
      tenant: tenantOf(row),
      event: as({
        id: id("evt", row),
        type: row["type"],
        payload: row["payload"],
        idempotencyKey: row["idempotency_key"],
      }),
    })),
    endpoints: (await all("webhook_endpoints")).map((row) => ({
      tenant: tenantOf(row),
      id: id("whe", row),
      endpoint: row["deleted_at"] === null ? as({ url: row["url"], status: row["status"] }) : null,
    })),
    deliveries: deliveriesOf([...finished, ...pending], await all("webhook_attempts")),
  }
}

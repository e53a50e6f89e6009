/**
 * Usage calls over the API.
 */
import type { RecordUsage, UsageGroup, UsagePoint, UsageRecord, UsageSummary } from "../usage/Usage.ts"
import type { ClientUsage } from "./BillingClient.ts"
import type { Connection } from "./Connection.ts"
import { list, path, read, readAll, write } from "./Requests.ts"
import { fromWire, toQuery, toWire } from "./WireNames.ts"

/** The API's integers as `bigint`. Small ones arrive as numbers. */
const toValue = ({ denominator, totalQuantity }: Pick<UsageGroup, "denominator" | "totalQuantity">) => ({
  totalQuantity: BigInt(totalQuantity),
  denominator: BigInt(denominator),
})

const toSummary = (summary: UsageSummary): UsageSummary => ({
  ...summary,
  ...toValue(summary),
  ...(summary.groups === undefined
    ? {}
    : { groups: summary.groups.map((group) => ({ ...group, ...toValue(group) })) }),
})

type SentPoint = Omit<UsagePoint, "productId"> & { readonly productId?: string }

const toPoint = (point: SentPoint): UsagePoint => ({
  ...point,
  productId: point.productId ?? null,
  quantity: BigInt(point.quantity),
  denominator: BigInt(point.denominator),
})

const recordBatch =
  (connection: Connection): ClientUsage["recordBatch"] =>
  async (records, options) => {
    const body = { records: records.map((record: RecordUsage) => toWire(record)) }
    const request = { method: "POST", path: "/usage/batch", body, signal: options?.signal } as const
    const results = await readAll<{ readonly id: string; readonly status: string }>(connection, request)
    return results.map(({ id, status }) => ({ id, isDuplicate: status === "duplicate" }))
  }

export const makeUsage = (connection: Connection): ClientUsage => ({
  record: async (input, options) => {
    const request = { method: "POST", path: "/usage", body: toWire(input), signal: options?.signal } as const
    const { body, status } = await connection.send(request)
    return { record: fromWire<UsageRecord>(body), isDuplicate: status === 200 }
  },
  recordBatch: recordBatch(connection),
  getRecord: (id, options) => read(connection, path`/usage/records/${id}`, undefined, options),
  listRecords: (query, options) => list<object, UsageRecord>(connection, "/usage/records", query, options),
  voidRecord: (id, options) => write(connection, "POST", path`/usage/records/${id}/void`, undefined, options),
  summary: async (query, options) =>
    toSummary(await read<UsageSummary>(connection, "/usage", query, options)),
  series: async (query, options) => {
    const request = {
      method: "GET",
      path: `/usage/series${toQuery(query)}`,
      signal: options?.signal,
    } as const
    return (await readAll<SentPoint>(connection, request)).map(toPoint)
  },
})

/**
 * Implements `billing.usage`.
 */
import { Usage as UsageService, type UsageRecord as Core } from "@billwright/core"
import { Effect } from "effect"
import { InvalidInputError } from "../errors/BillingError.ts"
import type { Calls } from "../runtime/Calls.ts"
import * as Ids from "../runtime/Ids.ts"
import { toInput } from "../runtime/Input.ts"
import { makeListing } from "../runtime/ListingPages.ts"
import type { RecordUsage, Usage } from "./Usage.ts"

/**
 * Converts a `bigint` quantity to a number. A quantity above 2^53 − 1 stays above it as a double, so the domain
 * still refuses it.
 */
const toRecord = (record: RecordUsage): Core.RecordUsage => {
  const input = toInput<Core.RecordUsage>(record, "timestamp")
  return typeof record?.quantity === "bigint" ? { ...input, quantity: Number(record.quantity) } : input
}

const toBatch = (records: ReadonlyArray<RecordUsage>): Core.RecordUsageBatch => ({
  // The service refuses a value that is not a list.
  records: Array.isArray(records) ? records.map(toRecordAt) : (records as unknown as []),
})

const toRecordAt = (record: RecordUsage, index: number): Core.RecordUsage => {
  try {
    return toRecord(record)
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error
    throw new InvalidInputError(`records[${index}].${error.field}`, error.problem)
  }
}

const toRecorded = ({ _tag, record }: Core.Recorded) => ({ record, isDuplicate: _tag === "Duplicate" })

export const makeUsage = (calls: Calls): Usage => {
  const usage = calls.service(UsageService)
  return {
    record: (input, options) =>
      calls.run(() => Effect.map(usage.record(toRecord(input)), toRecorded), options),
    recordBatch: (records, options) =>
      calls.run(
        () => Effect.map(usage.recordBatch(toBatch(records)), (results) => results.map(toRecorded)),
        options,
      ),
    getRecord: (id, options) => calls.run(() => usage.getRecord(Ids.usageRecordId(id)), options),
    listRecords: (query, options) =>
      makeListing(query, (page) => calls.run(() => usage.listRecords(toInput(page)), options)),
    voidRecord: (id, options) => calls.run(() => usage.voidRecord(Ids.usageRecordId(id)), options),
    summary: (query, options) => calls.run(() => usage.summary(toInput(query)), options),
    series: (query, options) => calls.run(() => usage.series(toInput(query)), options),
    audit: (options) => calls.run(() => usage.audit, options),
  }
}

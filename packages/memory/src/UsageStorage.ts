/**
 * The `UsageStore` over the tables of usage in memory.
 */
import { UsageStore } from "@billwright/core"
import { Exit } from "effect"
import type { Journal } from "./Journal.ts"
import type { UsageTable } from "./UsageTable.ts"

export const usageStore = (table: UsageTable, journal: Journal): UsageStore["Service"] => {
  const verb = journal.tenantVerb

  return UsageStore.of({
    append: (records) => verb((tenant) => table.append(tenant, records)),
    find: (id) => verb((tenant) => Exit.succeed(table.find(tenant, id))),
    void: (id, at) => verb((tenant) => Exit.succeed(table.void(tenant, id, at))),
    list: (filter, page) => verb((tenant) => table.list(tenant, filter, page)),
    totals: (query) => verb((tenant) => Exit.succeed(table.totals(tenant, query))),
    countMeters: (query) => verb((tenant) => Exit.succeed(table.countMeters(tenant, query))),
    units: (customerId, limit) => verb((tenant) => Exit.succeed(table.units(tenant, customerId, limit))),
    rollup: (query) => verb((tenant) => Exit.succeed(table.rollup(tenant, query))),
    build: (rollup, { days }) => verb((tenant) => Exit.succeed(table.build(tenant, rollup, days))),
    sweep: (meterId, kept, { cells }) =>
      verb((tenant) => Exit.succeed(table.meterRollups.of(tenant).sweep(meterId, kept, cells))),
    unfinished: (after, limit) =>
      journal.verb(() => Exit.succeed(table.meterRollups.unfinished(after, limit))),
    audit: verb((tenant) => Exit.succeed(table.audit(tenant))),
  })
}

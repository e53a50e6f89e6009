/**
 * The `UsageStore` over the tables of usage in memory.
 */
import { CurrentTenant, type Tenant, UsageStore } from "@billwright/core"
import { Effect, Exit } from "effect"
import type { Journal } from "./Journal.ts"
import type { UsageTable } from "./UsageTable.ts"

export const usageStore = (table: UsageTable, journal: Journal): UsageStore["Service"] => {
  const verb = <A, E = never>(run: (tenant: Tenant.Tenant) => Exit.Exit<A, E>) =>
    Effect.flatMap(CurrentTenant, (tenant) => journal.verb(() => run(tenant)))

  return UsageStore.of({
    append: (records) => verb((tenant) => table.append(tenant, records)),
    find: (id) => verb((tenant) => Exit.succeed(table.find(tenant, id))),
    void: (id, at) => verb((tenant) => Exit.succeed(table.void(tenant, id, at))),
    list: (filter, page) => verb((tenant) => table.list(tenant, filter, page)),
    totals: (query) => verb((tenant) => Exit.succeed(table.totals(tenant, query))),
    countMeters: (query) => verb((tenant) => Exit.succeed(table.countMeters(tenant, query))),
    units: (customerId, limit) => verb((tenant) => Exit.succeed(table.units(tenant, customerId, limit))),
    audit: verb((tenant) => Exit.succeed(table.audit(tenant))),
  })
}

/**
 * The `EventStore` and the `DeliveryStore` over the tables in memory.
 */
import { DeliveryStore, EventStore } from "@billwright/core"
import { Effect, Exit } from "effect"
import type { DeliveryTable } from "./DeliveryTable.ts"
import type { EventTable } from "./EventTable.ts"
import type { Journal } from "./Journal.ts"
import type { Outbox } from "./Outbox.ts"

export const eventStore = (table: EventTable, outbox: Outbox, journal: Journal): EventStore["Service"] => {
  const verb = journal.tenantVerb
  return EventStore.of({
    publish: (event) => verb((tenant) => outbox.publish(tenant, event)),
    find: (id) => verb((tenant) => Exit.succeed(table.find(tenant, id))),
    list: (filter, page) => verb((tenant) => table.list(tenant, filter, page)),
    tailPosition: (after) => verb((tenant) => Exit.succeed(table.position(tenant, after))),
    tail: (position, types, limit) =>
      verb((tenant) => Exit.succeed(table.tail(tenant, position, types, limit))),
    redact: (step, redacted) => verb((tenant) => Exit.succeed(outbox.redact(tenant, step, redacted))),
    committed: outbox.committed,
  })
}

export const deliveryStore = (
  table: DeliveryTable,
  events: EventTable,
  outbox: Outbox,
  journal: Journal,
): DeliveryStore["Service"] => {
  const verb = journal.tenantVerb
  return DeliveryStore.of({
    find: (id) => verb((tenant) => Exit.succeed(table.find(tenant, id))),
    list: (filter, page) => verb((tenant) => table.list(tenant, filter, page)),
    countByStatus: (eventIds) =>
      verb((tenant) => Exit.succeed(eventIds.map((id) => events.countsOf(tenant, id)))),
    insert: (replay) =>
      verb((tenant) => {
        const made = table.insert(tenant, replay)
        if (Exit.isSuccess(made) && made.value.length > 0) outbox.wrote()
        return made
      }),
    replayRange: (range) =>
      verb((tenant) => {
        const count = table.replayRange(tenant, range)
        if (count > 0 && count <= range.limit && !range.isDryRun) outbox.wrote()
        return Exit.succeed(count)
      }),
    cancel: (endpointId, reason, at) =>
      verb((tenant) => Exit.succeed(table.cancel(tenant, endpointId, reason, at))),
    claimDue: (claim) => journal.verb(() => Exit.succeed(table.claimDue(claim))),
    settle: (settlements) =>
      journal.verb(() => Exit.succeed(settlements.map((settlement) => table.settle(settlement)))),
    counts: (sinceHour) => verb((tenant) => Exit.succeed(table.counts(tenant, sinceHour))),
    nextDueAt: journal.verb(() => Exit.succeed(table.nextDueAt())),
    // Claims cost little here, so nothing is handed over.
    handTo: () => Effect.void,
    due: outbox.committed,
  })
}

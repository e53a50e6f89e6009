/**
 * The `RetentionStore` over the tables in memory.
 */
import { type PrunedEvents, type PruneStep, RetentionStore } from "@billwright/core"
import { Exit } from "effect"
import type { EventRow } from "./DeliveryRow.ts"
import type { DeliveryTable } from "./DeliveryTable.ts"
import type { EventTable } from "./EventTable.ts"
import type { Journal } from "./Journal.ts"

export const retentionStore = (
  events: EventTable,
  deliveries: DeliveryTable,
  journal: Journal,
): RetentionStore["Service"] => {
  const pruneEvents = ({ after, before, isDryRun, limit }: PruneStep): PrunedEvents => {
    const { next, rows } = events.old(before.epochMilliseconds, after, limit)
    const old = rows.filter((row) => isOver(row, before.epochMilliseconds))
    const pruned = { events: old.length, ...countsOf(old), next }
    if (isDryRun) return pruned
    for (const row of old) deliveries.removeAllOf(row)
    events.removeAll(old)
    return pruned
  }

  return RetentionStore.of({
    pruneEvents: (step) => journal.verb(() => Exit.succeed(pruneEvents(step))),
    pruneCounts: (step) => journal.verb(() => Exit.succeed(deliveries.pruneCounts(step))),
  })
}

/** Whether every delivery of an event ended before an instant. */
const isOver = ({ deliveries }: EventRow, beforeMillis: number): boolean =>
  deliveries.values().every(({ content }) => {
    const finishedAt = content!.delivery.finishedAt
    return finishedAt !== null && finishedAt.epochMilliseconds < beforeMillis
  })

const countsOf = (rows: ReadonlyArray<EventRow>) => {
  const contents = rows.flatMap(({ deliveries }) =>
    Array.from(deliveries.values(), ({ content }) => content!),
  )
  return {
    deliveries: contents.length,
    attempts: contents.reduce((count, { attempts }) => count + attempts.length, 0),
  }
}

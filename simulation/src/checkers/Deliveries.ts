/**
 * I4: a change and its event exist together. I5: every event is delivered to all subscribed endpoints, or visibly
 * fails. I12: all due work gets done.
 */
import { Endpoint, Tenant } from "@billwright/core"
import { callsOf, endpointIdsByUrl, type EntryOf, type History } from "../History.ts"

/** The endpoints that should have got an event when it was published. */
export const wantedBy = (history: History): ((eventId: string) => ReadonlySet<string>) => {
  const wanted = new Map<string, ReadonlySet<string>>()
  const endpoints = new Map<string, EntryOf<"EndpointSeen">>()
  const thresholdEvents = thresholdEventsOf(history)
  const subscribed = (tenant: string, type: string) =>
    new Set(
      [...endpoints.values()]
        .filter((endpoint) => endpoint.tenant === tenant && endpoint.status === "enabled")
        .filter(({ eventTypes }) => Endpoint.matchesFilter(eventTypes, type))
        .map(({ id }) => id),
    )
  for (const entry of history.storage) {
    if (entry._tag === "EndpointSeen") endpoints.set(entry.id, entry)
    if (entry._tag === "Published") {
      const { endpointId, eventId, tenant, type } = entry
      wanted.set(eventId, endpointId === null ? subscribed(tenant, type) : new Set([endpointId]))
    }
    if (entry._tag !== "Appended") continue
    for (const { periodKey, thresholdId } of entry.crossings) {
      for (const eventId of thresholdEvents.get(`${thresholdId} ${periodKey}`) ?? []) {
        wanted.set(eventId, subscribed(entry.tenant, "usage.threshold"))
      }
    }
  }
  return (eventId) => wanted.get(eventId) ?? new Set()
}

const FIRING = /"threshold_id":"(\w+)".*"period_key":"([^"]+)"/

/** The events of each firing. */
const thresholdEventsOf = ({ stored }: History): ReadonlyMap<string, ReadonlyArray<string>> => {
  const events = new Map<string, Array<string>>()
  for (const { event } of stored.events) {
    const firing = event.type === "usage.threshold" ? FIRING.exec(event.payload) : null
    if (firing === null) continue
    const key = `${firing[1]} ${firing[2]}`
    events.set(key, [...(events.get(key) ?? []), event.id])
  }
  return events
}

/** I4. */
export const outboxIsWhole = (history: History): ReadonlyArray<string> => {
  const { stored } = history
  const isStored = (tenant: string, marker: string) => ({
    record: stored.records.some(
      (row) => row.record.idempotencyKey === marker && Tenant.tenantKey(row.tenant) === tenant,
    ),
    event: stored.events.some(
      (row) => row.event.idempotencyKey === marker && Tenant.tenantKey(row.tenant) === tenant,
    ),
  })
  const torn = callsOf(history, "RecordAndPublish").flatMap(({ ask, tenant }) => {
    const { event, record } = isStored(tenant, ask.marker)
    if (ask.isGivenUp && (event || record))
      return [`${ask.marker} was aborted, but its event or record exists`]
    return event === record ? [] : [`of ${ask.marker} there is ${event ? "the event" : "the record"} alone`]
  })
  const events = thresholdEventsOf(history)
  const firings = new Set(stored.firings.map(({ periodKey, thresholdId }) => `${thresholdId} ${periodKey}`))
  const untold = [...firings].filter((firing) => events.get(firing)?.length !== 1)
  const unfounded = [...events.keys()].filter((firing) => !firings.has(firing))
  return [
    ...torn,
    ...untold.map((firing) => `the firing ${firing} has ${events.get(firing)?.length ?? 0} events`),
    ...unfounded.map((firing) => `there is an event for ${firing}, which did not fire`),
  ]
}

/** I5. */
export const everyEventArrives = (history: History): ReadonlyArray<string> => {
  const wanted = wantedBy(history)
  const { deliveries, events } = history.stored
  const pairs = new Set(deliveries.map(({ delivery }) => `${delivery.eventId} ${delivery.endpointId}`))
  const lost = events.flatMap(({ event }) =>
    [...wanted(event.id)]
      .filter((endpointId) => !pairs.has(`${event.id} ${endpointId}`))
      .map((endpointId) => `${event.id} has no delivery to ${endpointId}`),
  )
  const byUrl = endpointIdsByUrl(history)
  const accepted = new Set(
    history.received
      .filter(({ status }) => status !== null && status >= 200 && status < 300)
      .map(({ headers, url }) => `${headers["webhook-id"]} ${byUrl.get(url)}`),
  )
  const unsent = deliveries
    .map(({ delivery }) => delivery)
    .filter(({ status }) => status === "Delivered")
    .filter(({ endpointId, eventId }) => !accepted.has(`${eventId} ${endpointId}`))
  const reasonless = deliveries.filter(
    ({ delivery }) => (delivery.status === "Failed") !== (delivery.reason !== null),
  )
  return [
    ...lost,
    ...unsent.map(({ endpointId, id }) => `${id} is Delivered, but ${endpointId} accepted no request`),
    ...reasonless.map(
      ({ delivery }) => `${delivery.id} has the status ${delivery.status} with the reason ${delivery.reason}`,
    ),
  ]
}

/** I12. */
export const dueWorkDrains = ({ stored, stuck }: History): ReadonlyArray<string> => [
  ...(stuck === undefined ? [] : [stuck]),
  ...stored.deliveries
    .filter(({ delivery }) => delivery.status === "Pending")
    .map(({ delivery }) => `${delivery.id} is pending`),
]

/**
 * I1: acknowledged changes survive. I2: everything that exists was requested.
 */
import { type Event, Tenant } from "@billwright/core"
import {
  type Call,
  callsOf,
  entriesOf,
  type CallOf,
  type History,
  endpointIdsByUrl,
  type Answer,
  type Ask,
} from "../History.ts"

type Done = Extract<Answer, { readonly _tag: "Done" }>

/** Erased or deleted data is `null`. */
const isThere = (row: unknown): boolean => row !== undefined && row !== null

const placed = (tenant: string, id: string): string => `${tenant} ${id}`

const mayHaveHappened = ({ answer }: Call): boolean => answer._tag !== "Rejected"

/** The stored data, by tenant and id. */
const placesOf = ({ stored }: History) => {
  const name = Tenant.tenantKey
  return {
    customers: new Map(stored.customers.map((row) => [placed(name(row.tenant), row.id), row.customer])),
    records: new Map(stored.records.map((row) => [placed(name(row.tenant), row.record.id), row.record])),
    thresholds: new Set(stored.thresholds.map((row) => placed(name(row.tenant), row.threshold.id))),
    events: new Map(stored.events.map((row) => [placed(name(row.tenant), row.event.id), row.event])),
    endpoints: new Map(stored.endpoints.map((row) => [placed(name(row.tenant), row.id), row.endpoint])),
    deliveries: new Set(stored.deliveries.map((row) => placed(name(row.tenant), row.delivery.id))),
  }
}

type Places = ReturnType<typeof placesOf>

/** A call whose answer contains an id for which data is missing. */
const missing = (call: Call, ids: ReadonlyArray<string>, isThere: (place: string) => boolean) => {
  const id = ids.find((one) => !isThere(placed(call.tenant, one)))
  return id === undefined ? [] : [`${call.ask._tag} was answered with ${id}, which is missing`]
}

const survivalOfUsage = (
  call: Call,
  ids: ReadonlyArray<string>,
  asked: CallOf<"RecordUsage">["ask"]["records"],
  at: Places,
) =>
  ids.flatMap((id, index) => {
    const record = at.records.get(placed(call.tenant, id))
    const { customerId, productId, quantity, unit } = asked[index]!
    const isSame =
      record?.customerId === customerId &&
      record.productId === productId &&
      record.quantity === quantity &&
      record.unit === unit
    return isSame ? [] : [`usage was answered with ${id}, which is missing or differs from the request`]
  })

const survivalOf = (call: Call, { ids }: Done, at: Places, isEnded: (id: string) => boolean) => {
  const { ask } = call
  switch (ask._tag) {
    case "CreateCustomer":
      return missing(call, ids, (place) => isThere(at.customers.get(place)) || isEnded(ids[0]!))
    case "EraseCustomer":
      return missing(call, ids, (place) => at.customers.get(place) === null)
    case "RecordUsage":
      return survivalOfUsage(call, ids, ask.records, at)
    case "VoidUsage":
      return missing(call, ids, (place) => isThere(at.records.get(place)?.voidedAt))
    case "CreateThreshold":
      return missing(call, ids, (place) => at.thresholds.has(place))
    case "PublishEvent":
    case "TestEndpoint":
      return missing(call, ids, (place) => at.events.has(place))
    case "RecordAndPublish":
      return [
        ...survivalOfUsage(call, ids.slice(0, 1), [ask.record], at),
        ...missing(call, ids.slice(1), (place) => at.events.has(place)),
      ]
    case "CreateEndpoint":
      return missing(call, ids, (place) => isThere(at.endpoints.get(place)) || isEnded(ids[0]!))
    case "DeleteEndpoint":
      return missing(call, ids, (place) => at.endpoints.get(place) === null)
    case "ReplayEvent":
    case "ReplayDelivery":
      return missing(call, ids, (place) => at.deliveries.has(place))
    default:
      return []
  }
}

/** No usage is recorded for a customer whose erasure was acknowledged. */
const erasureSurvives = (history: History): ReadonlyArray<string> => {
  const erased = new Map(
    callsOf(history, "EraseCustomer")
      .filter(({ answer }) => answer._tag === "Done")
      .map(({ ask, endOrder }) => [ask.customerId, endOrder]),
  )
  return entriesOf(history, "Appended").flatMap(({ order, records }) =>
    records
      .filter(({ customerId }) => order > (erased.get(customerId) ?? Number.POSITIVE_INFINITY))
      .map(({ customerId, id }) => `${id} was recorded for ${customerId}, which is erased`),
  )
}

/** I1. A later deletion is allowed. Deleted data must stay deleted. */
export const acknowledgedSurvives = (history: History): ReadonlyArray<string> => {
  const places = placesOf(history)
  const ended = new Set(
    history.calls.filter(mayHaveHappened).flatMap(({ ask }) => {
      if (ask._tag === "DeleteEndpoint") return [ask.endpointId]
      return ask._tag === "EraseCustomer" ? [ask.customerId] : []
    }),
  )
  const lost = history.calls.flatMap((call) =>
    call.answer._tag === "Done" ? survivalOf(call, call.answer, places, (id) => ended.has(id)) : [],
  )
  return [...lost, ...erasureSurvives(history)]
}

/** How often each text occurs. */
const counted = (texts: Iterable<string>): Map<string, number> => {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  return counts
}

/** The texts that occur more often than they were requested. */
const excess = (what: string, there: Map<string, number>, asked: Map<string, number>) =>
  [...there]
    .filter(([text, count]) => count > (asked.get(text) ?? 0))
    .map(
      ([text, count]) =>
        `${what} exists ${count} times and was requested ${asked.get(text) ?? 0} times: ${text}`,
    )

const MARKER = /"(?:invoice|payment)_id":"([^"]+)"/
/** An id that the library made, in the data of an event. No call of a client has one there. */
const OWN_ID = /"data":.*"[a-z]{2,6}_[0-9a-hjkmnp-tv-z]{26}"/

/**
 * What identifies an event: its marker, or that it is a test. Nothing for what the library publishes of its own: that there is
 * something that it is about, I4, J10 and J11 say.
 */
const subjectOf = (tenant: string, event: Event.Event): string => {
  if (event.type === "usage.threshold" || OWN_ID.test(event.payload)) return ""
  return `${tenant} ${event.type} ${MARKER.exec(event.payload)?.[1] ?? event.payload}`
}

const EXAMPLE_MARKERS: Readonly<Record<string, string>> = {
  "invoice.paid": "in_2026_0042",
  "invoice.created": "in_2026_0042",
  "payment.succeeded": "pay_7f3a",
}

const askedSubjects = (history: History): ReadonlyArray<string> =>
  history.calls.filter(mayHaveHappened).flatMap(({ ask, tenant }) => {
    if (ask._tag === "PublishEvent" || ask._tag === "RecordAndPublish") {
      return [`${tenant} ${ask.type} ${ask.marker}`]
    }
    return ask._tag === "TestEndpoint" ? [`${tenant} ${ask.type} ${EXAMPLE_MARKERS[ask.type]}`] : []
  })

/**
 * How often each event may have been replayed to each endpoint. An event for one endpoint is never replayed to
 * another.
 */
const replaysOf = (history: History) => {
  const madeFor = new Map(
    entriesOf(history, "Published").map(({ endpointId, eventId }) => [eventId, endpointId ?? undefined]),
  )
  const pairOf = new Map(
    history.stored.deliveries.map(({ delivery }) => [
      delivery.id as string,
      `${delivery.eventId} ${delivery.endpointId}`,
    ]),
  )
  const asks = history.calls.filter(mayHaveHappened).map(({ ask }: { readonly ask: Ask }) => ask)
  return (eventId: string, endpointId: string): number => {
    if ((madeFor.get(eventId) ?? endpointId) !== endpointId) return 0
    return asks.filter((ask) => {
      if (ask._tag === "ReplayRange") return ask.endpointId === endpointId
      if (ask._tag === "ReplayDelivery") return pairOf.get(ask.deliveryId) === `${eventId} ${endpointId}`
      if (ask._tag !== "ReplayEvent" || ask.eventId !== eventId) return false
      return ask.endpointId === undefined || ask.endpointId === endpointId
    }).length
  }
}

const excessDeliveries = (
  history: History,
  wasWanted: (eventId: string, endpointId: string) => boolean,
): ReadonlyArray<string> => {
  const replays = replaysOf(history)
  const pairs = counted(
    history.stored.deliveries.map(({ delivery }) => `${delivery.eventId} ${delivery.endpointId}`),
  )
  return [...pairs].flatMap(([pair, count]) => {
    const [eventId, endpointId] = pair.split(" ") as [string, string]
    const first = wasWanted(eventId, endpointId) ? 1 : 0
    if (count === first) return []
    const most = first + replays(eventId, endpointId)
    return count > most
      ? [`${eventId} has ${count} deliveries to ${endpointId}, at most ${most} were requested`]
      : []
  })
}

/** I2. `wasWanted`: whether an endpoint should have got an event when it was published. */
export const nothingUnasked = (
  history: History,
  wasWanted: (eventId: string, endpointId: string) => boolean,
): ReadonlyArray<string> => {
  const { stored } = history
  const customers = stored.customers.flatMap(({ customer, tenant }) =>
    customer === null ? [] : [placed(Tenant.tenantKey(tenant), customer.name)],
  )
  const askedCustomers = callsOf(history, "CreateCustomer")
    .filter(({ answer }) => answer._tag !== "Rejected")
    .map(({ ask, tenant }) => placed(tenant, ask.marker))
  const events = stored.events.map(({ event, tenant }) => subjectOf(Tenant.tenantKey(tenant), event))
  const urls = new Set(
    callsOf(history, "CreateEndpoint")
      .filter(({ answer }) => answer._tag !== "Rejected")
      .map(({ ask }) => ask.url),
  )
  return [
    ...excess("a customer", counted(customers), counted(askedCustomers)),
    ...excess(
      "an event",
      counted(events.filter((subject) => subject !== "")),
      counted(askedSubjects(history)),
    ),
    ...[...endpointIdsByUrl(history).keys()]
      .filter((url) => !urls.has(url))
      .map((url) => `the endpoint ${url} was never requested`),
    ...excessDeliveries(history, wasWanted),
  ]
}

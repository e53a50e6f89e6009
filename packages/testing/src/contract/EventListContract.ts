/**
 * The contract of `EventStore.list`: newest first, with pages and filters.
 */
import { Event, EventStore } from "@billwright/core"
import { DateTime, Effect } from "effect"
import * as Sample from "../Sample.ts"
import { type ContractTest, same, times } from "./ContractTest.ts"
import { endOfTail, follow } from "./EventTailContract.ts"
import { pagingContract } from "./PagingContract.ts"
import { newCustomer } from "./UsageProbe.ts"
import {
  claim,
  emptyQueue,
  eventIds,
  idsOf,
  listEvents,
  minute,
  newEndpoint,
  publish,
  settle,
  settlementOf,
} from "./WebhookProbe.ts"

const newestFirst = (events: ReadonlyArray<Event.Event | undefined>) =>
  events.map((event) => event!.id).reverse()

const filters = (test: ContractTest): void => {
  test(
    "ends a page early when its payloads would be too large, in both directions and in a step of the tail",
    Effect.gen(function* () {
      const start = yield* endOfTail
      // A quarter of a megabyte each, with two bytes a character, so that the limit must count bytes.
      const large = "é".repeat(125_000)
      const events = yield* Effect.all(times(20, () => publish({ data: large })))
      const ids = newestFirst(events)
      const size = new TextEncoder().encode(events[0]!.payload).length
      const room = Math.floor(Event.MAX_PAGE_PAYLOAD_BYTES / size)
      const first = yield* listEvents()
      same([idsOf(first.data), first.hasMore], [ids.slice(0, room), true])
      const rest = yield* listEvents({}, { limit: 100, cursor: { direction: "older", id: ids[room - 1]! } })
      same([idsOf(rest.data), rest.hasMore], [ids.slice(room), false])
      const newer = yield* listEvents({}, { limit: 100, cursor: { direction: "newer", id: ids[19]! } })
      same([idsOf(newer.data), newer.hasMore], [ids.slice(19 - room, 19), true])
      const limited = yield* listEvents({}, { limit: room, cursor: undefined })
      same([limited.data.length, limited.hasMore], [room, true])
      same(yield* follow(start, 20, { limit: 100 }), [...ids].reverse())
      const step = yield* (yield* EventStore).tail(start, [], 100)
      same(idsOf(step.events), [...ids].reverse().slice(0, room))
    }),
  )

  test(
    "lists by type and by customer",
    Effect.gen(function* () {
      const [ada, grace] = [yield* newCustomer, yield* newCustomer]
      const events = yield* Effect.all([
        publish({ customerId: ada }),
        publish({ customerId: grace }),
        publish({ customerId: ada, type: "invoice.created" }),
        publish(),
        publish({ type: "invoice.created" }),
      ])
      const [a, b, c, d, e] = events
      same(yield* eventIds(), newestFirst(events))
      same(yield* eventIds({ type: "invoice.paid" }), newestFirst([a, b, d]))
      same(yield* eventIds({ type: "invoice.created" }), newestFirst([c, e]))
      same(yield* eventIds({ type: "invoice" }), [])
      same(yield* eventIds({ type: "invoice.%" }), [])
      same(yield* eventIds({ customerId: ada }), newestFirst([a, c]))
      same(yield* eventIds({ customerId: ada, type: "invoice.paid" }), newestFirst([a]))
      same(yield* eventIds({ customerId: yield* Sample.customerId }), [])
      same((yield* listEvents({ customerId: grace })).data, [b])
    }),
  )

  test(
    "lists by the time of publication: at or after an instant, and before an instant",
    Effect.gen(function* () {
      // A list is ordered by ids, even when clocks disagree.
      const events = yield* Effect.forEach([5, 1, 3, 3, 9], (minutes) =>
        publish({ timestamp: minute(minutes) }),
      )
      const [a, b, c, d, e] = events
      same(yield* eventIds({ createdAfter: minute(3) }), newestFirst([a, c, d, e]))
      same(yield* eventIds({ createdBefore: minute(3) }), newestFirst([b]))
      same(yield* eventIds({ createdAfter: minute(3), createdBefore: minute(5) }), newestFirst([c, d]))
      const justAfter = DateTime.add(minute(3), { milliseconds: 1 })
      same(yield* eventIds({ createdAfter: justAfter }), newestFirst([a, e]))
      same(yield* eventIds({ createdBefore: justAfter }), newestFirst([b, c, d]))
      same(yield* eventIds({ createdAfter: minute(5), createdBefore: minute(5) }), [])
    }),
  )

  test(
    "lists events with at least one delivery of a status",
    Effect.gen(function* () {
      yield* emptyQueue
      yield* Effect.all([newEndpoint(), newEndpoint()])
      const [a, b, c] = [yield* publish(), yield* publish(), yield* publish()]
      const undelivered = yield* publish({ type: "payment.failed" })
      const { deliveries } = yield* claim(minute(1))
      const of = (event: Event.Event) => deliveries.filter(({ eventId }) => eventId === event.id)
      yield* settle([
        ...of(a).map((claimed) => settlementOf(claimed)),
        settlementOf(of(b)[0]!),
        settlementOf(of(b)[1]!, { state: { status: "Failed", attemptCount: 1, reason: "exhausted" } }),
      ])
      same(yield* eventIds({ deliveryStatus: "Delivered" }), newestFirst([a, b]))
      same(yield* eventIds({ deliveryStatus: "Failed" }), newestFirst([b]))
      same(yield* eventIds({ deliveryStatus: "Pending" }), newestFirst([c, undelivered]))
      same(yield* eventIds({ deliveryStatus: "Pending", type: "invoice.paid" }), newestFirst([c]))
      same(yield* eventIds({ deliveryStatus: "Failed", createdBefore: b.timestamp }), [])
      yield* settle(of(c).map((claimed) => settlementOf(claimed)))
      same(yield* eventIds({ deliveryStatus: "Pending" }), newestFirst([undelivered]))
    }),
  )

  test(
    "pages through the events that match a filter",
    Effect.gen(function* () {
      const events = yield* Effect.forEach(
        times(12, (index) => index),
        (index) =>
          publish({ type: index % 3 === 0 ? "invoice.created" : "invoice.paid", timestamp: minute(index) }),
      )
      const chosen = newestFirst(events.filter(({ type }) => type === "invoice.paid"))
      const filter = { type: "invoice.paid", createdAfter: minute(0) }
      const first = yield* listEvents(filter, { limit: 3, cursor: undefined })
      same([idsOf(first.data), first.hasMore], [chosen.slice(0, 3), true])
      const older = { direction: "older", id: first.data[2]!.id } as const
      const second = yield* listEvents(filter, { limit: 5, cursor: older })
      same([idsOf(second.data), second.hasMore], [chosen.slice(3), false])
      // A cursor may be an event that doesn't match the filter.
      const newer = { direction: "newer", id: events[6]!.id } as const
      const back = yield* listEvents(filter, { limit: 2, cursor: newer })
      same([idsOf(back.data), back.hasMore], [chosen.slice(2, 4), true])
    }),
  )
}

export const eventListContract = (test: ContractTest): void => {
  test.section("list", () => {
    pagingContract(
      test,
      Effect.gen(function* () {
        const store = yield* EventStore
        const filter = {
          type: undefined,
          customerId: undefined,
          createdAfter: undefined,
          createdBefore: undefined,
          deliveryStatus: undefined,
        }
        return {
          add: (count) => Effect.all(times(count, () => Effect.map(publish(), ({ id }) => id))),
          list: (page) =>
            Effect.map(store.list(filter, page), ({ data, hasMore }) => ({ data: idsOf(data), hasMore })),
          unknownId: Sample.eventId,
        }
      }),
    )
    filters(test)
  })
}

/**
 * Runs commands for events, endpoints and deliveries on a world.
 */
import {
  type ClaimedDelivery,
  DeliveryStore,
  type Endpoint,
  EndpointStore,
  EventStore,
  type Settlement,
} from "@billwright/core"
import { DateTime, Effect, Option } from "effect"
import { same } from "../contract/ContractTest.ts"
import { follow } from "../contract/EventTailContract.ts"
import * as Sample from "../Sample.ts"
import { judge, type PendingOfTenant } from "./ClaimJudge.ts"
import type { Claim, SettleOutcome, WebhookVerb } from "./WebhookCommand.ts"
import { both, dayOf, orUndefined, pageQuery, pick, type World, type WorldTenant } from "./World.ts"

type CommandOf<Name extends WebhookVerb["command"]> = Extract<WebhookVerb, { readonly command: Name }>

const withStatus = (status: Endpoint.EndpointStatus): Partial<Endpoint.Endpoint> =>
  status === "enabled" ? { status, disabledReason: null, disabledAt: null } : Sample.disabled

const endpointCommand = Effect.fnUntraced(function* (
  { things }: World,
  { webhooks }: WorldTenant,
  command: CommandOf<"createEndpoint" | "modifyEndpoint" | "deleteEndpoint" | "listEndpoints">,
) {
  const store = yield* EndpointStore
  const { endpoints } = things
  switch (command.command) {
    case "createEndpoint": {
      const stored = yield* Sample.endpoint({
        eventTypes: command.types,
        ...withStatus(command.status),
      })
      endpoints.push(stored.endpoint.id)
      return yield* both("insert an endpoint", store.insert(stored), () => webhooks.insertEndpoint(stored))
    }
    case "modifyEndpoint": {
      const id = yield* pick(endpoints, command.endpoint, Sample.endpointId)
      const change = ({ endpoint, secrets }: Endpoint.StoredEndpoint): Endpoint.StoredEndpoint => ({
        endpoint: { ...endpoint, eventTypes: command.types, ...withStatus(command.status) },
        secrets,
      })
      const real = store.modify(id, (stored) =>
        command.fails ? Effect.fail("no") : Effect.succeed(change(stored)),
      )
      yield* both("modify an endpoint", real, () => {
        const stored = webhooks.stored(id)
        if (stored === undefined) return Option.none()
        if (command.fails) return "no"
        webhooks.setEndpoint(id, change(stored))
        return Option.some(change(stored))
      })
      return yield* both("find an endpoint", store.find(id), () =>
        Option.fromUndefinedOr(webhooks.stored(id)?.endpoint),
      )
    }
    case "deleteEndpoint": {
      const id = yield* pick(endpoints, command.endpoint, Sample.endpointId)
      return yield* both("delete an endpoint", store.delete(id, dayOf(command.day)), () => {
        const isThere = webhooks.stored(id) !== undefined
        webhooks.setEndpoint(id, undefined)
        return isThere
      })
    }
    case "listEndpoints": {
      const status = orUndefined(command.status)
      const page = yield* pageQuery(command.page, endpoints, Sample.endpointId)
      return yield* both("list endpoints", store.list({ status }, page), () =>
        webhooks.listEndpoints(status, page),
      )
    }
  }
})

/** The events of a list whose deliveries are counted. */
const COUNTED_EVENTS = 5

const eventCommand = Effect.fnUntraced(function* (
  { things }: World,
  { webhooks }: WorldTenant,
  command: CommandOf<"publish" | "listEvents">,
) {
  const store = yield* EventStore
  const customerId =
    command.customer === null ? null : yield* pick(things.customers, command.customer, Sample.customerId)
  switch (command.command) {
    case "publish": {
      const endpointId =
        command.endpoint === null ? null : yield* pick(things.endpoints, command.endpoint, Sample.endpointId)
      const { key, n, type } = command
      // Unspecified: which rule an event for one endpoint breaks first. So it has no key.
      const idempotencyKey = key === null || endpointId !== null ? null : `key ${key}`
      const event = yield* Sample.event({
        type,
        timestamp: dayOf(command.day),
        customerId: endpointId === null ? customerId : null,
        idempotencyKey,
        endpointId,
        data: { n },
      })
      things.events.push(event.id)
      yield* both("publish", store.publish(event), () => webhooks.publish(event))
      return yield* both("find an event", store.find(event.id), () =>
        Option.fromUndefinedOr(webhooks.state.events.find(({ id }) => id === event.id)),
      )
    }
    case "listEvents": {
      const { before, from, status, type } = command
      const filter = {
        type: orUndefined(type),
        customerId: orUndefined(customerId),
        createdAfter: from === null ? undefined : dayOf(from),
        createdBefore: before === null ? undefined : dayOf(before),
        deliveryStatus: orUndefined(status),
      }
      const page = yield* pageQuery(command.page, things.events, Sample.eventId)
      const some = things.events.slice(-COUNTED_EVENTS)
      const deliveries = yield* DeliveryStore
      yield* both("count deliveries", deliveries.countByStatus(some), () => webhooks.countByStatus(some))
      return yield* both("list events", store.list(filter, page), () => webhooks.listEvents(filter, page))
    }
  }
})

const settlementOf = (claimed: ClaimedDelivery, outcome: SettleOutcome, at: DateTime.Utc): Settlement => {
  const attemptCount = claimed.attemptCount + (outcome === "released" ? 0 : 1)
  const dueAt = DateTime.add(at, { hours: 36 }).epochMilliseconds
  const isAnswered = outcome === "delivered"
  const attempt = Sample.attempt({
    number: attemptCount,
    startedAt: at,
    responseStatus: isAnswered ? 200 : outcome === "failed" ? 500 : null,
    error: outcome === "exhausted" ? "timeout" : null,
  })
  return {
    tenant: claimed.tenant,
    id: claimed.id,
    endpointId: claimed.endpoint.id,
    token: claimed.token,
    at,
    attempt: outcome === "released" ? undefined : attempt,
    state:
      outcome === "delivered"
        ? { status: "Delivered", attemptCount }
        : outcome === "exhausted"
          ? { status: "Failed", attemptCount, reason: "exhausted" }
          : { status: "Pending", attemptCount, dueAt },
  }
}

const settle = Effect.fnUntraced(function* (world: World, { day, leases, outcome }: CommandOf<"settle">) {
  const store = yield* DeliveryStore
  // The newest claims first, because most of them still have their lease.
  const newest = [...world.leases].reverse()
  const claims = leases.flatMap((index) => newest[index % Math.max(newest.length, 1)] ?? [])
  const settlements = claims.map((claimed) => settlementOf(claimed, outcome, dayOf(day)))
  yield* both("settle", store.settle(settlements), () =>
    settlements.map((settlement) => {
      const { accountId, mode } = settlement.tenant
      const owner = world.tenants.find(({ tenant }) => tenant.accountId === accountId && tenant.mode === mode)
      return owner?.webhooks.settle(settlement) ?? false
    }),
  )
})

const deliveryCommand = Effect.fnUntraced(function* (
  { things }: World,
  { webhooks }: WorldTenant,
  command: CommandOf<"listDeliveries" | "cancel" | "replay" | "replayRange">,
) {
  const store = yield* DeliveryStore
  const endpointId =
    command.endpoint === null ? null : yield* pick(things.endpoints, command.endpoint, Sample.endpointId)
  switch (command.command) {
    case "listDeliveries": {
      const eventId =
        command.event === null ? undefined : yield* pick(things.events, command.event, Sample.eventId)
      const filter = { status: orUndefined(command.status), endpointId: orUndefined(endpointId), eventId }
      const known = webhooks.state.deliveries.map(({ delivery }) => delivery.id)
      const page = yield* pageQuery(command.page, known, Sample.deliveryId)
      return yield* both("list deliveries", store.list(filter, page), () =>
        webhooks.listDeliveries(filter, page),
      )
    }
    case "cancel": {
      const id = endpointId!
      const at = dayOf(command.day)
      return yield* both("cancel", store.cancel(id, "endpoint_disabled", at), () =>
        webhooks.cancel(id, "endpoint_disabled", at),
      )
    }
    case "replay": {
      const eventId = yield* pick(things.events, command.event, Sample.eventId)
      const event = webhooks.state.events.find(({ id }) => id === eventId)
      if (event === undefined || !webhooks.isEnabled(endpointId!)) return
      const endpointIds = [endpointId!]
      const now = dayOf(command.day)
      const firstDeliveryId = yield* Sample.deliveryId
      return yield* both("replay", store.insert({ eventId, endpointIds, firstDeliveryId, now }), () =>
        webhooks.insert(event, endpointIds, firstDeliveryId, now),
      )
    }
    case "replayRange": {
      if (!webhooks.isEnabled(endpointId!)) return
      const since = dayOf(command.since)
      const range = {
        endpointId: endpointId!,
        since,
        until: DateTime.add(since, { days: command.days }),
        onlyFailed: command.onlyFailed,
        types: command.type === null ? [] : [command.type],
        firstDeliveryId: yield* Sample.deliveryId,
        now: dayOf(command.day),
        limit: command.limit,
        isDryRun: command.isDryRun ?? false,
      }
      return yield* both("replay a range", store.replayRange(range), () => webhooks.replayRange(range))
    }
  }
})

const pendingOf = (world: World): ReadonlyArray<PendingOfTenant> =>
  world.tenants.map(({ tenant, webhooks }) => ({
    tenant,
    pending: webhooks.state.deliveries.filter(({ delivery }) => delivery.status === "Pending"),
  }))

const nextDueAt = (world: World): Option.Option<DateTime.Utc> => {
  const instants = pendingOf(world).flatMap(({ pending }) =>
    pending.map(({ delivery }) => delivery.nextAttemptAt!.epochMilliseconds),
  )
  return instants.length === 0 ? Option.none() : Option.some(DateTime.makeUnsafe(Math.min(...instants)))
}

/** Claims, checks the result, and applies it to the reference. */
export const claim = Effect.fnUntraced(function* (world: World, command: Claim) {
  const limits = yield* Effect.forEach(command.limits, ({ endpoint, limit }) =>
    Effect.map(pick(world.things.endpoints, endpoint, Sample.endpointId), (id) => [id, limit] as const),
  )
  const now = dayOf(command.day)
  const asked = {
    now,
    leaseUntil: DateTime.add(now, { days: command.leaseDays }),
    limit: command.limit,
    limitPerEndpoint: command.limitPerEndpoint,
    limits: new Map(limits),
    tenantLimits: command.tenantLimits.flatMap((limit, index) => {
      const tenant = world.tenants[index]?.tenant
      return limit === null || tenant === undefined ? [] : [{ tenant, limit }]
    }),
  }
  const { deliveries } = yield* (yield* DeliveryStore).claimDue(asked)
  judge(asked, pendingOf(world), deliveries)
  for (const claimed of deliveries) {
    const { webhooks } = world.tenants.find(({ webhooks: other }) => Option.isSome(other.find(claimed.id)))!
    const wasLost = webhooks.state.deliveries.find(({ id }) => id === claimed.id)?.lease !== undefined
    webhooks.lease(claimed.id, claimed.token, now, asked.leaseUntil)
    const { delivery } = Option.getOrThrow(webhooks.find(claimed.id))
    const event = webhooks.state.events.find(({ id }) => id === delivery.eventId)!
    const stored = webhooks.stored(delivery.endpointId)
    same(
      [claimed.attemptCount, claimed.wasLost, claimed.payload, claimed.endpoint.status],
      [delivery.attemptCount, wasLost, event.payload, stored?.endpoint.status ?? "deleted"],
      "the claimed deliveries",
    )
    same(claimed.endpoint.secrets, stored?.secrets ?? [], "the secrets of the claimed deliveries")
  }
  world.leases.push(...deliveries)
})

/** Reads every delivery with its attempts, and the tail from the start of the run. */
export const lookAtDeliveries = Effect.fnUntraced(function* ({ start, webhooks }: WorldTenant) {
  const store = yield* DeliveryStore
  for (const { delivery } of webhooks.state.deliveries) {
    const { id } = delivery
    yield* both("look at a delivery", store.find(id), () => webhooks.find(id))
  }
  const published = webhooks.state.events.map(({ id }) => id)
  const followed = yield* follow(start, published.length)
  same([...followed].sort(), [...published].sort(), "follow the tail")
})

/** Runs a command that calls one method. */
export const webhookCommand = Effect.fnUntraced(function* (
  world: World,
  own: WorldTenant,
  command: WebhookVerb,
) {
  switch (command.command) {
    case "createEndpoint":
    case "modifyEndpoint":
    case "deleteEndpoint":
    case "listEndpoints":
      return yield* endpointCommand(world, own, command)
    case "publish":
    case "listEvents":
      return yield* eventCommand(world, own, command)
    case "settle":
      return yield* settle(world, command)
    case "listDeliveries":
    case "cancel":
    case "replay":
    case "replayRange":
      return yield* deliveryCommand(world, own, command)
    case "nextDueAt": {
      const store = yield* DeliveryStore
      return yield* both("when the next is due", store.nextDueAt, () => nextDueAt(world))
    }
  }
})

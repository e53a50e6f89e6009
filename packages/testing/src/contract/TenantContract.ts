/**
 * The contract of tenants: by no method of any port does a tenant see or change the data of another.
 *
 * Every method is tried. For a tenant without data the expected result is that of an empty storage, even if the most
 * similar tenants have data: the same account in the other mode, and another account in the same mode.
 */
import {
  ApiKeyStore,
  type Billing,
  type Collection,
  Collections,
  DeliveryStore,
  EndpointStore,
  EventStore,
  IdempotencyStore,
  Meter,
  PlanStore,
  Resource,
  type Resources,
  RetentionStore,
  Rollup,
  UsageStore,
} from "@billwright/core"
import { assert } from "@effect/vitest"
import { DateTime, Effect, Predicate } from "effect"
import { plain } from "../PlainValue.ts"
import * as Sample from "../Sample.ts"
import { collected, make, opened } from "./Collected.ts"
import {
  asTenant,
  type ContractServices,
  type ContractTest,
  otherTenants,
  pause,
  same,
} from "./ContractTest.ts"
import { endOfTail, follow, LOOKS } from "./EventTailContract.ts"
import { insertCustomer } from "./Everything.ts"
import {
  claimNew,
  emptyQueue,
  firstPage,
  listDeliveries,
  listEvents,
  minute,
  newEndpoint,
  publish,
  settle,
  settlementOf,
} from "./WebhookProbe.ts"

type Ask = Effect.Effect<unknown, unknown, ContractServices>

/** How a method is tried. A method that acts for all tenants says so in its contract, and has tests of its own. */
type Try =
  /** The owner asks something else where its answer can come a moment later. */
  | { readonly _tag: "Reads"; readonly ask: Ask; readonly owner: Ask }
  | { readonly _tag: "Writes"; readonly ask: Ask }
  | { readonly _tag: "OfAllTenants" }

const reads = (ask: Ask, owner: Ask = ask): Try => ({ _tag: "Reads", ask, owner })
const writes = (ask: Ask): Try => ({ _tag: "Writes", ask })
const ofAllTenants: Try = { _tag: "OfAllTenants" }

/** A try for each method. A new method of a port without a try does not compile. */
type TriesOf<Port> = { readonly [Verb in keyof Port]: Try }

/** How many events a tenant has that is filled. */
const EVENTS = 2
const isWhole = (tails: ReadonlyArray<ReadonlyArray<unknown>>) =>
  tails.every((events) => events.length === EVENTS)

/** The data of a tenant, in every port. */
const fill = Effect.gen(function* () {
  yield* emptyQueue
  const usage = yield* UsageStore
  const position = yield* endOfTail
  const customer = yield* insertCustomer()
  const endpoint = yield* newEndpoint()
  const values = yield* Effect.forEach(collected, (resource) =>
    Effect.gen(function* () {
      const value = yield* Sample.of(resource, customer.id)
      yield* (yield* opened(resource)).insert(value)
      return { resource, value }
    }),
  )
  const meter = yield* Sample.of(Meter.meters, undefined, { productId: "api", unit: "call" })
  yield* (yield* Collections).of(Meter.meters).insert(meter)
  const record = yield* Sample.record(customer.id, { quantity: 3, idempotencyKey: "ours" })
  yield* usage.append([record])
  const { claimed } = yield* claimNew
  yield* settle([settlementOf(claimed)])
  const event = yield* publish({ customerId: customer.id, idempotencyKey: "ours" })
  // Transactions of other tests may delay the tail.
  assert.lengthOf(yield* follow(position, EVENTS), EVENTS)
  const [delivery] = (yield* listDeliveries({ eventId: event.id })).data
  const key = yield* Sample.apiKey()
  yield* (yield* ApiKeyStore).insert(key)
  const plan = yield* Sample.plan()
  yield* (yield* PlanStore).publish(plan)
  return {
    customer,
    endpoint,
    values,
    meter,
    record,
    claimed,
    event,
    delivery: delivery!,
    key,
    plan,
    position,
  }
})
type Own = Effect.Success<typeof fill>

const lifetime = { now: Sample.CREATED_AT, expiresAt: DateTime.add(Sample.CREATED_AT, { days: 7 }) }
const NEVER_CALLED = Effect.die(new Error("a change got another tenant's data"))

const usageTries = ({ customer, meter, record }: Own): TriesOf<UsageStore["Service"]> => {
  const store = <A, E, R>(use: (port: UsageStore["Service"]) => Effect.Effect<A, E, R>) =>
    Effect.flatMap(UsageStore, use)
  const of = { customerId: customer.id, productId: undefined, unit: undefined }
  return {
    find: reads(store(({ find }) => find(record.id))),
    list: reads(
      store(({ list }) =>
        Effect.all([list(of, firstPage), list({ ...of, productId: "api", unit: "call" }, firstPage)]),
      ),
    ),
    totals: reads(
      store(({ totals }) =>
        Effect.all([
          totals({ ...of, boundaries: [undefined, undefined], by: "unit" }),
          totals({ ...of, productId: "api", boundaries: [undefined, undefined], by: "meter" }),
        ]),
      ),
    ),
    countMeters: reads(store(({ countMeters }) => countMeters({ ...of, from: 0, to: 100_000, most: 10 }))),
    units: reads(store(({ units }) => units(customer.id, 10))),
    rollup: reads(
      store(({ rollup }) =>
        rollup({
          customerId: customer.id,
          meterId: meter.id,
          generation: meter.generation,
          boundaries: [undefined, undefined],
          where: [],
          groupBy: [],
          most: 10,
        }),
      ),
    ),
    build: writes(store(({ build }) => build(Rollup.answering(meter)!, { days: 10 }))),
    sweep: writes(store(({ sweep }) => sweep(meter.id, [], { cells: 10 }))),
    unfinished: ofAllTenants,
    // The audit's result only says that no roll-ups are wrong.
    audit: writes(store(({ audit }) => audit)),
    append: writes(
      Effect.gen(function* () {
        const another = yield* Sample.record(customer.id, { idempotencyKey: "ours" })
        const { outcomes } = yield* (yield* UsageStore).append([another])
        return outcomes
      }),
    ),
    void: writes(store((port) => port.void(record.id, minute(1)))),
  }
}

type Collected = Own["values"][number]

const collectionTries = ({ resource, value }: Collected): TriesOf<Collection<Resources.Value>> => {
  const store = <A, E, R>(use: (port: Collection<Resources.Value>) => Effect.Effect<A, E, R>) =>
    Effect.flatMap(opened(resource), use)
  const indexed = Object.fromEntries(
    Object.entries(value).filter(([name]) => resource.indexed.includes(name)),
  )
  const search = Resource.searchText(resource, value)
  const filters = [{}, indexed, ...(search === undefined ? [] : [{ search }])]
  return {
    find: reads(store(({ find }) => find(value.id))),
    status: reads(store(({ status }) => status(value.id))),
    list: reads(store(({ list }) => Effect.all(filters.map((filter) => list(filter, firstPage))))),
    insert: writes(Effect.flatMap(make(resource), (own) => store(({ insert }) => insert(own)))),
    // A resource with a unique field has no such verb.
    insertAll: writes(
      Effect.flatMap(make(resource), (own) => store(({ insertAll }) => insertAll?.([own]) ?? Effect.void)),
    ),
    modify: writes(store(({ modify }) => modify(value.id, () => NEVER_CALLED))),
    remove: writes(store(({ remove }) => remove(value.id))),
  }
}

const collectionName = (resource: Resource.Definition): string => `${Collections.key}/${resource.type}`

const eventTries = ({ customer, event, position }: Own): TriesOf<EventStore["Service"]> => {
  const store = <A, E, R>(use: (port: EventStore["Service"]) => Effect.Effect<A, E, R>) =>
    Effect.flatMap(EventStore, use)
  const tails = store(({ tail }) =>
    Effect.map(Effect.all([tail(position, [], 10), tail(position, [event.type], 10)]), (both) =>
      both.map(({ events }) => events),
    ),
  )
  // Transactions of other tests may delay the tail.
  const wholeTails = Effect.gen(function* () {
    for (let look = 0; look < LOOKS && !isWhole(yield* tails); look++) yield* pause
    return yield* tails
  })
  return {
    find: reads(store(({ find }) => find(event.id))),
    list: reads(
      Effect.all([
        listEvents(),
        listEvents({ type: event.type }),
        listEvents({ customerId: customer.id }),
        listEvents({ deliveryStatus: "Pending" }),
        listEvents({ deliveryStatus: "Delivered" }),
        listEvents({ createdAfter: minute(-1), createdBefore: minute(100) }),
      ]),
    ),
    tailPosition: reads(store(({ tailPosition }) => tailPosition(event.id))),
    tail: reads(tails, wholeTails),
    committed: ofAllTenants,
    // The customer is not erased, so the contract of `redact` tries one who is.
    redact: writes(
      store(({ redact }) => redact({ customerId: customer.id, at: minute(1), after: undefined }, () => "{}")),
    ),
    publish: writes(
      Effect.gen(function* () {
        const another = yield* Sample.event({ idempotencyKey: "ours" })
        const about = yield* Sample.event({ customerId: customer.id })
        const outcomes = yield* Effect.forEach([another, about], (made) =>
          store(({ publish: put }) => put(made)),
        )
        return outcomes.map(({ _tag }) => _tag)
      }),
    ),
  }
}

const endpointTries = ({ endpoint }: Own): TriesOf<EndpointStore["Service"]> => {
  const store = <A, E, R>(use: (port: EndpointStore["Service"]) => Effect.Effect<A, E, R>) =>
    Effect.flatMap(EndpointStore, use)
  return {
    find: reads(store(({ find }) => find(endpoint.id))),
    list: reads(
      store(({ list }) =>
        Effect.all([list({ status: undefined }, firstPage), list({ status: "enabled" }, firstPage)]),
      ),
    ),
    listSealedByOtherKeys: ofAllTenants,
    insert: writes(Effect.asVoid(newEndpoint(Sample.disabled))),
    modify: writes(store(({ modify }) => modify(endpoint.id, () => NEVER_CALLED))),
    delete: writes(store((port) => port.delete(endpoint.id, minute(1)))),
  }
}

const deliveryTries = ({ delivery, endpoint, event }: Own): TriesOf<DeliveryStore["Service"]> => {
  const store = <A, E, R>(use: (port: DeliveryStore["Service"]) => Effect.Effect<A, E, R>) =>
    Effect.flatMap(DeliveryStore, use)
  return {
    find: reads(store(({ find }) => find(delivery.id))),
    list: reads(
      Effect.all([
        listDeliveries(),
        listDeliveries({ endpointId: endpoint.id }),
        listDeliveries({ eventId: event.id }),
        listDeliveries({ status: "Pending" }),
        listDeliveries({ status: "Delivered" }),
      ]),
    ),
    countByStatus: reads(store(({ countByStatus }) => countByStatus([event.id]))),
    counts: reads(store(({ counts }) => counts(DateTime.subtract(minute(0), { days: 7 })))),
    claimDue: ofAllTenants,
    settle: ofAllTenants,
    nextDueAt: ofAllTenants,
    handTo: ofAllTenants,
    due: ofAllTenants,
    insert: writes(
      Effect.gen(function* () {
        const replay = { eventId: event.id, endpointIds: [endpoint.id], now: minute(1) }
        return yield* (yield* DeliveryStore).insert({ ...replay, firstDeliveryId: yield* Sample.deliveryId })
      }),
    ),
    replayRange: writes(
      Effect.gen(function* () {
        return yield* (yield* DeliveryStore).replayRange({
          endpointId: endpoint.id,
          since: minute(-100),
          until: minute(100),
          onlyFailed: false,
          types: [],
          firstDeliveryId: yield* Sample.deliveryId,
          now: minute(1),
          limit: 100,
          isDryRun: false,
        })
      }),
    ),
    cancel: writes(store(({ cancel }) => cancel(endpoint.id, "endpoint_disabled", minute(1)))),
  }
}

const keyTries = ({ key }: Own): TriesOf<ApiKeyStore["Service"]> => {
  const store = <A, E, R>(use: (port: ApiKeyStore["Service"]) => Effect.Effect<A, E, R>) =>
    Effect.flatMap(ApiKeyStore, use)
  return {
    find: reads(store(({ find }) => find(key.key.id))),
    list: reads(store(({ list }) => list(firstPage))),
    findByDigest: ofAllTenants,
    touch: ofAllTenants,
    insert: writes(Effect.flatMap(Sample.apiKey(), (own) => store(({ insert }) => insert(own)))),
    revoke: writes(store(({ revoke }) => revoke(key.key.id, minute(1)))),
    expire: writes(store(({ expire }) => expire(key.key.id, minute(1)))),
  }
}

const planTries = ({ plan }: Own): TriesOf<PlanStore["Service"]> => {
  const store = <A, E, R>(use: (port: PlanStore["Service"]) => Effect.Effect<A, E, R>) =>
    Effect.flatMap(PlanStore, use)
  return {
    lock: writes(store(({ lock }) => lock)),
    findAll: reads(store(({ findAll }) => findAll([plan.key]))),
    list: reads(store(({ list }) => list(firstPage))),
    findVersion: reads(store(({ findVersion }) => findVersion(plan.key, 1))),
    listVersions: reads(store(({ listVersions }) => listVersions(plan.key, firstPage))),
    // A successor of a version that is another tenant's is the successor of none.
    publish: writes(
      Effect.gen(function* () {
        const versionId = yield* Sample.planVersionId
        yield* store(({ publish: put }) => put({ ...plan, version: 2, versionId }))
      }),
    ),
    rename: writes(
      store(({ rename }) =>
        rename({ key: plan.key, name: "Theirs", description: null, updatedAt: minute(1) }),
      ),
    ),
  }
}

const idempotencyTries = ({ customer }: Own): TriesOf<IdempotencyStore["Service"]> => {
  const store = <A, E, R>(use: (port: IdempotencyStore["Service"]) => Effect.Effect<A, E, R>) =>
    Effect.flatMap(IdempotencyStore, use)
  const answer = Effect.succeed({ status: 201, body: "{}", subject: customer.id })
  return {
    once: writes(store(({ once }) => once(Sample.request(), lifetime, answer))),
    forget: writes(store(({ forget }) => forget(customer.id))),
    redact: writes(store(({ redact }) => redact(customer.id))),
    sweep: ofAllTenants,
  }
}

const retentionTries: TriesOf<RetentionStore["Service"]> = {
  pruneEvents: ofAllTenants,
  pruneCounts: ofAllTenants,
}

/** By the key of the port. */
const triesOf = (own: Own): Readonly<Record<string, Readonly<Record<string, Try>>>> => ({
  [UsageStore.key]: usageTries(own),
  [EventStore.key]: eventTries(own),
  [EndpointStore.key]: endpointTries(own),
  [DeliveryStore.key]: deliveryTries(own),
  [ApiKeyStore.key]: keyTries(own),
  [PlanStore.key]: planTries(own),
  [IdempotencyStore.key]: idempotencyTries(own),
  [RetentionStore.key]: retentionTries,
  ...Object.fromEntries(
    own.values.map((each) => [collectionName(each.resource), collectionTries(each)] as const),
  ),
})

/** Ports of credits, entitlements, subscriptions and invoices are tried by `invoicingContract`, because a storage may lack them. */
const PORT =
  /^@billwright\/core\/(?!(?:credits|entitlements|invoices|payments|subscriptions|time)\/).*(Store|Collections\/.*)$/

/** Every method of every port that the storage has, with its try. */
const verbs = (own: Own) =>
  Effect.map(Effect.context<Billing.Storage>(), ({ mapUnsafe }) => {
    const tries = triesOf(own)
    const ports = [...mapUnsafe].flatMap(
      ([port, service]: readonly [string, object]): ReadonlyArray<readonly [string, object]> =>
        port === Collections.key
          ? collected.map((resource) => [
              collectionName(resource),
              (service as Collections["Service"]).of(resource),
            ])
          : [[port, service]],
    )
    return ports.flatMap(([port, service]: readonly [string, object]) =>
      PORT.test(port)
        ? Object.keys(service).map((verb) => {
            const tried = tries[port]?.[verb]
            assert.isDefined(tried, `${port}.${verb} has no try: add it to TenantContract`)
            return { name: `${port}.${verb}`, tried: tried! }
          })
        : [],
    )
  })

/** The outcome of a write. Which error it is depends on the storage, but it must fail. */
const outcome = (write: Ask) =>
  Effect.match(write, {
    onSuccess: (value) => ({ value }),
    onFailure: (error) => ({ failed: Predicate.hasProperty(error, "_tag") ? error._tag : error }),
  })

export const tenantContract = (test: ContractTest): void => {
  test.section("tenants", () => {
    test(
      "see and change no data of another tenant, by no method of any port",
      Effect.gen(function* () {
        const own = yield* fill
        const all = yield* verbs(own)
        assert.isAtLeast(all.length, 40)
        const request = idempotencyTries(own).once
        if (request._tag === "Writes") yield* request.ask
        const nobody = asTenant(yield* Sample.tenant)
        const readers = all.flatMap(({ name, tried }) =>
          tried._tag === "Reads" ? [{ name, ask: tried.ask, owner: tried.owner }] : [],
        )
        const writers = all.flatMap(({ name, tried }) =>
          tried._tag === "Writes" ? [{ name, ask: tried.ask }] : [],
        )

        const look = Effect.forEach(readers, ({ owner }) => owner)
        const before = yield* look
        const others = yield* otherTenants
        for (const [index, { ask, name }] of readers.entries()) {
          const nothing = yield* nobody(ask)
          assert.notDeepEqual(plain(before[index]), plain(nothing), `${name} shows its owner something`)
          for (const other of others) same(yield* asTenant(other)(ask), nothing, name)
        }
        for (const { ask, name } of writers) {
          const expected = yield* nobody(outcome(ask))
          for (const other of others) same(yield* asTenant(other)(outcome(ask)), expected, name)
          same(yield* look, before, `after ${name}`)
        }
        if (request._tag === "Writes") {
          assert.propertyVal(yield* request.ask, "_tag", "Replayed", "its own answer is still remembered")
        }
      }),
    )
  })
}

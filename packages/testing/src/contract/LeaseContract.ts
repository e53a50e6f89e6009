/**
 * The contract of `DeliveryStore.claimDue`: its limits and its leases.
 */
import {
  type Claim,
  type Claimed,
  type ClaimedDelivery,
  CurrentTenant,
  DeliveryStore,
  type Endpoint,
  MAX_CLAIM,
  Tenant,
} from "@billwright/core"
import { assert } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { asTenant, type ContractTest, otherTenants, same, times, together } from "./ContractTest.ts"
import {
  claim,
  claimOne,
  deliveriesOf,
  delivery,
  emptyQueue,
  eventIdsOf,
  failedUntil,
  idsOf,
  minute,
  newEndpoint,
  publish,
  publishAt,
  refused,
  settle,
  settlementOf,
  unknownAttempt,
} from "./WebhookProbe.ts"

/** So many due deliveries to a busy endpoint, and a last one to a quiet one. */
const backlog = Effect.fnUntraced(function* (count: number) {
  const busy = yield* newEndpoint({ eventTypes: ["invoice.paid"] })
  const quiet = yield* newEndpoint({ eventTypes: ["invoice.created"] })
  // Not in one transaction, which would have to end within its deadline.
  yield* Effect.all(
    times(count, () => publish()),
    { discard: true },
  )
  return { busy, quiet, last: yield* publish({ type: "invoice.created", timestamp: minute(5) }) }
})

const limits = (test: ContractTest): void => {
  test(
    "respects its limit, the limit of each endpoint, and the limits of single endpoints",
    Effect.gen(function* () {
      yield* emptyQueue
      const endpoints = yield* Effect.all(times(4, () => newEndpoint()))
      const [a, b, c, d] = endpoints.map(({ id }) => id)
      yield* publishAt(times(5, (index) => index))
      // The lease ends at once, so the delivery is due again and the queue stays the same.
      const counts = (options: Partial<Claim>) =>
        Effect.gen(function* () {
          const { deliveries } = yield* claim(minute(10), options)
          yield* settle(
            deliveries.map((claimed) =>
              settlementOf(claimed, {
                attempt: undefined,
                state: { status: "Pending", attemptCount: 0, dueAt: minute(5).epochMilliseconds },
              }),
            ),
          )
          return endpoints.map(({ id }) => deliveries.filter(({ endpoint }) => endpoint.id === id).length)
        })
      same(yield* counts({}), [5, 5, 5, 5])
      same(yield* counts({ limitPerEndpoint: 3 }), [3, 3, 3, 3])
      const some = new Map([
        [a!, 0],
        [b!, 5],
        [c!, 1],
      ])
      same(yield* counts({ limitPerEndpoint: 3, limits: some }), [0, 5, 1, 3])
      same(yield* counts({ limitPerEndpoint: 0, limits: new Map([[d!, 2]]) }), [0, 0, 0, 2])
      same(yield* counts({ limitPerEndpoint: 0 }), [0, 0, 0, 0])
      const limited = yield* counts({ limit: 7, limitPerEndpoint: 3, limits: some })
      same(
        limited.reduce((sum, count) => sum + count, 0),
        7,
      )
      limited.forEach((count, index) => assert.isAtMost(count, [0, 5, 1, 3][index]!))
      const one = yield* counts({ limit: 1 })
      same(
        one.reduce((sum, count) => sum + count, 0),
        1,
      )
    }),
  )

  test(
    "takes the deliveries of each endpoint that are due longest, with any limits",
    Effect.gen(function* () {
      yield* emptyQueue
      const [a, b] = [yield* newEndpoint(), yield* newEndpoint()]
      const events = idsOf(yield* publishAt([0, 1, 2, 3]))
      const options = { limitPerEndpoint: 2, limits: new Map([[b.id, 1]]) }
      const claimed = yield* claim(minute(10), options)
      const of = ({ deliveries }: Claimed, endpoint: Endpoint.Endpoint) =>
        deliveries.filter((one) => one.endpoint.id === endpoint.id).map(({ eventId }) => eventId)
      same(of(claimed, a), events.slice(0, 2))
      same(of(claimed, b), events.slice(0, 1))
      const next = yield* claim(minute(10), options)
      same(of(next, a), events.slice(2))
      same(of(next, b), events.slice(1, 2))
    }),
  )

  test(
    "finds deliveries behind a long backlog of an endpoint that has reached its limit",
    Effect.gen(function* () {
      yield* emptyQueue
      const store = yield* DeliveryStore
      const { busy, last, quiet } = yield* backlog(1_200)
      const none = { limits: new Map([[busy.id, 0]]), limitPerEndpoint: 8 }
      same(eventIdsOf(yield* claim(minute(5), { ...none, limit: 10 })), [last.id])
      const found = yield* claim(minute(6), { limit: 64, limitPerEndpoint: 8 })
      same(
        found.deliveries.map(({ endpoint, wasLost }) => [endpoint.id, wasLost]).sort(),
        [...times(8, () => [busy.id, false]), [quiet.id, true]].sort(),
      )
      // The most that one claim may take.
      same((yield* claim(minute(6))).deliveries.length, MAX_CLAIM)
      assert.isAbove(yield* store.cancel(busy.id, "endpoint_disabled", minute(9)), 1_199)
    }),
  )

  test(
    "finds deliveries behind a long backlog of their tenant while another tenant has some, too",
    Effect.gen(function* () {
      yield* emptyQueue
      const { busy, last } = yield* backlog(600)
      const tenant = yield* CurrentTenant
      const [other] = yield* otherTenants
      yield* Effect.andThen(newEndpoint(), publishAt([5, 6])).pipe(asTenant(other!))
      const counts = (options: Partial<Claim>) =>
        Effect.gen(function* () {
          const claimed = yield* claim(minute(7), { limit: 64, limitPerEndpoint: 8, ...options })
          yield* settle(claimed.deliveries.map(released))
          const own = ofTenant(claimed.deliveries, tenant)
          return [own.length, own.some(({ eventId }) => eventId === last.id), claimed.deliveries.length]
        })
      const full = { limits: new Map([[busy.id, 0]]) }
      const noTurn = { tenantLimits: [{ tenant, limit: 0 }] }
      // Also what a claim finds that knows of the backlog from the one before.
      for (const _ of times(2, () => undefined)) {
        same(yield* counts(full), [1, true, 3])
        same(yield* counts({ ...full, ...noTurn }), [0, false, 2])
        same(yield* counts(noTurn), [0, false, 2])
        same(yield* counts({}), [9, true, 11])
        same(yield* counts({ tenantLimits: [{ tenant, limit: 3 }] }), [3, false, 5])
      }
    }),
  )

  test(
    "respects the limits of tenants",
    Effect.gen(function* () {
      yield* emptyQueue
      const tenants = [yield* CurrentTenant, ...(yield* otherTenants)]
      for (const tenant of tenants) {
        yield* Effect.andThen(newEndpoint(), publishAt([0, 1, 2, 3, 4])).pipe(asTenant(tenant))
      }
      const counts = (options: Partial<Claim>) =>
        Effect.gen(function* () {
          const { deliveries } = yield* claim(minute(10), options)
          yield* settle(deliveries.map(released))
          return tenants.map((tenant) => ofTenant(deliveries, tenant).length)
        })
      const limitsOf = (...most: ReadonlyArray<number>) => ({
        tenantLimits: most.map((limit, index) => ({ tenant: tenants[index]!, limit })),
      })
      same(yield* counts(limitsOf(0, 2, 9)), [0, 2, 5])
      same(yield* counts({ ...limitsOf(4, 0), limitPerEndpoint: 3 }), [3, 0, 3])
      same(yield* counts({ ...limitsOf(1, 1, 9), limit: 6 }), [1, 1, 4])
      same(yield* counts(limitsOf(0, 0, 0)), [0, 0, 0])
      same(yield* counts({}), [5, 5, 5])
    }),
  )

  test(
    "gives a tenant its turn although another has many older deliveries, at any number of endpoints",
    Effect.gen(function* () {
      yield* emptyQueue
      const busy = yield* CurrentTenant
      const [other, third] = yield* otherTenants
      yield* Effect.all(times(5, () => newEndpoint()))
      yield* Effect.all(
        times(300, () => publish()),
        { discard: true },
      )
      yield* Effect.andThen(newEndpoint(), publishAt([5])).pipe(asTenant(other!))
      yield* Effect.andThen(newEndpoint(), publishAt([6, 7, 8])).pipe(asTenant(third!))
      const counts = (options: Partial<Claim>) =>
        Effect.gen(function* () {
          const { deliveries } = yield* claim(minute(9), options)
          yield* settle(deliveries.map(released))
          return [busy, other!, third!].map((tenant) => ofTenant(deliveries, tenant).length)
        })
      same(yield* counts({ limit: 64, limitPerEndpoint: 8 }), [40, 1, 3])
      same(yield* counts({ limit: 10, limitPerEndpoint: 8 }), [6, 1, 3])
      same(yield* counts({ limit: 5 }), [2, 1, 2])
      same(yield* counts({ limit: 10, tenantLimits: [{ tenant: busy, limit: 0 }] }), [0, 1, 3])
    }),
  )

  test(
    "gives a tenant its turn before and after another one in the order of their names",
    Effect.gen(function* () {
      const own = yield* CurrentTenant
      const [other] = yield* otherTenants
      for (const tenant of [own, other!]) yield* newEndpoint().pipe(asTenant(tenant))
      for (const [busy, idle] of [
        [own, other!],
        [other!, own],
      ] as const) {
        yield* emptyQueue
        yield* publishAt(times(20, (minutes) => minutes)).pipe(asTenant(busy))
        yield* publishAt([30]).pipe(asTenant(idle))
        const { deliveries } = yield* claim(minute(40), { limit: 4 })
        same([ofTenant(deliveries, busy).length, ofTenant(deliveries, idle).length], [3, 1])
      }
    }),
  )
}

const ofTenant = (deliveries: ReadonlyArray<ClaimedDelivery>, tenant: Tenant.Tenant) =>
  deliveries.filter((one) => Tenant.tenantKey(one.tenant) === Tenant.tenantKey(tenant))

/** Releases the claimed deliveries: they are due again at the same instant as before. */
const released = (claimed: ClaimedDelivery) =>
  settlementOf(claimed, {
    attempt: undefined,
    state: { status: "Pending", attemptCount: 0, dueAt: minute(5).epochMilliseconds },
  })

const leases = (test: ContractTest): void => {
  test(
    "gives each delivery to only one of many concurrent claims",
    Effect.gen(function* () {
      yield* emptyQueue
      yield* Effect.all(times(5, () => newEndpoint()))
      yield* publishAt(times(20, (index) => index))
      const claims = yield* together(
        times(10, (index) => claim(minute(60), { limit: index % 2 === 0 ? 7 : 30, leaseUntil: minute(900) })),
      )
      const claimed = claims.flatMap(({ deliveries }) => deliveries)
      assert.strictEqual(new Set(idsOf(claimed)).size, claimed.length)
      assert.strictEqual(new Set(claimed.map(({ token }) => token)).size, claimed.length)
      const rest = yield* claim(minute(60), { leaseUntil: minute(900) })
      assert.strictEqual(claimed.length + rest.deliveries.length, 100)
      same((yield* claim(minute(60))).deliveries, [])
    }),
  )

  test(
    "claims a lost delivery again when its lease ends, and records and counts the lost attempt",
    Effect.gen(function* () {
      yield* emptyQueue
      yield* newEndpoint()
      const event = yield* publish()
      const [made] = yield* deliveriesOf(event)
      const lease = { leaseUntil: minute(3) }
      const first = yield* claimOne(minute(2), lease)
      same((yield* claim(DateTime.subtract(minute(3), { milliseconds: 1 }))).deliveries, [])
      same((yield* delivery(first.id)).attempts, [])
      const second = yield* claimOne(minute(3), { leaseUntil: minute(4) })
      assert.notStrictEqual(second.token, first.token)
      same(second, { ...first, token: second.token, attemptCount: 1, wasLost: true })
      const lost = {
        ...made,
        attemptCount: 1,
        lastError: "unknown",
        nextAttemptAt: minute(4),
      }
      same(yield* delivery(first.id), {
        delivery: lost,
        attemptStartedAt: minute(3),
        attempts: [unknownAttempt(1, minute(2))],
      })
      const third = yield* claimOne(minute(9), { leaseUntil: minute(10) })
      same(third, { ...first, token: third.token, attemptCount: 2, wasLost: true })
      same((yield* delivery(first.id)).attempts, [unknownAttempt(1, minute(2)), unknownAttempt(2, minute(3))])
    }),
  )

  test(
    "shows the start of the running attempt, from the claim to the settlement",
    Effect.gen(function* () {
      yield* emptyQueue
      yield* newEndpoint()
      yield* publish()
      const first = yield* claimOne(minute(1), { leaseUntil: minute(2) })
      same((yield* delivery(first.id)).attemptStartedAt, minute(1))
      const second = yield* claimOne(minute(4), { leaseUntil: minute(5) })
      same((yield* delivery(first.id)).attemptStartedAt, minute(4))
      yield* settle([settlementOf(second, failedUntil(second, minute(6)))])
      same((yield* delivery(first.id)).attemptStartedAt, null)
      same((yield* delivery(first.id)).delivery.nextAttemptAt, minute(6))
    }),
  )

  test(
    "loses nothing of a delivery that is settled before its lease ends",
    Effect.gen(function* () {
      yield* emptyQueue
      yield* newEndpoint()
      yield* publish()
      const first = yield* claimOne(minute(1))
      yield* settle([settlementOf(first, failedUntil(first, minute(30)), refused)])
      same((yield* claim(minute(29))).deliveries, [])
      const second = yield* claimOne(minute(30))
      same([second.attemptCount, second.wasLost], [1, false])
      same((yield* delivery(first.id)).attempts.length, 1)
    }),
  )

  test(
    "records a lost attempt once when there are many concurrent claims",
    Effect.gen(function* () {
      yield* emptyQueue
      yield* newEndpoint()
      yield* publish()
      const { id } = yield* claimOne(minute(0), { leaseUntil: minute(1) })
      const claims = yield* together(times(10, () => claim(minute(1), { leaseUntil: minute(9) })))
      const claimed = claims.flatMap(({ deliveries }) => deliveries)
      same(
        claimed.map(({ attemptCount, wasLost }) => [attemptCount, wasLost]),
        [[1, true]],
      )
      same((yield* delivery(id)).attempts, [unknownAttempt(1, minute(0))])
    }),
  )

  test(
    "ends every due delivery once, with concurrent claims, results and lost leases",
    Effect.gen(function* () {
      yield* emptyQueue
      yield* Effect.all(times(4, () => newEndpoint()))
      const events = yield* publishAt(times(10, () => 0))
      const work = (worker: number) =>
        Effect.gen(function* () {
          let settled = 0
          for (let round = 0; round < 12; round++) {
            const now = minute(round * 2)
            const { deliveries } = yield* claim(now, { limit: 9, leaseUntil: minute(round * 2 + 1) })
            yield* Effect.yieldNow
            // Every fifth is left unsettled, for a later claim to find.
            const kept = deliveries.filter((_, index) => (index + worker + round) % 5 !== 0)
            const results = yield* settle(kept.map((claimed) => settlementOf(claimed)))
            settled += results.filter((isWritten) => isWritten).length
          }
          return settled
        })
      const settled = (yield* together(times(4, work))).reduce((sum, count) => sum + count, 0)
      let rest = 0
      for (let round = 0; round < 40; round++) {
        const { deliveries } = yield* claim(minute(1_000 + round))
        rest += deliveries.length
        yield* settle(deliveries.map((claimed) => settlementOf(claimed)))
      }
      assert.strictEqual(settled + rest, 40)
      for (const event of events) {
        for (const one of yield* deliveriesOf(event)) {
          assert.strictEqual(one.status, "Delivered")
          const { attempts } = yield* delivery(one.id)
          same(
            attempts.map(({ number }) => number),
            times(one.attemptCount, (index) => index + 1),
          )
          same(
            attempts.filter(({ error }) => error === null).map(({ number }) => number),
            [one.attemptCount],
          )
        }
      }
    }),
  )
}

export const leaseContract = (test: ContractTest): void => {
  test.section("limits of claims", () => limits(test))
  test.section("leases", () => leases(test))
}

import {
  Actor,
  AuditRecords,
  AuditTrail,
  Collections,
  Coupons,
  CurrentActor,
  Customers,
  type Resource,
  Resources,
  Transactor,
} from "@billwright/core"
import { Sample } from "@billwright/testing"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Exit } from "effect"
import { TestClock } from "effect/testing"
import { acmeTest, as, inWorld, newCustomer, NOON } from "../world.ts"

const actor: Actor.Actor = {
  type: "key",
  id: "key_01kb2r5xq3e0mvxj5b9n9d6r3w",
  role: "support",
  ip: "203.0.113.7",
  userAgent: "curl/8",
  requestId: "req_1",
}

const records = Effect.fnUntraced(function* (query: Parameters<AuditRecords["Service"]["list"]>[0] = {}) {
  return (yield* (yield* AuditRecords).list({ limit: 100, ...query })).data
})
const actions = Effect.map(records(), (all) => all.map(({ action }) => action).toReversed())

const coupon = { code: "SPRING", name: "Spring", percent: "20", duration: "once" } as const

/** Everything that can be changed by a call. */
const changed: ReadonlyArray<Resource.Resource> = Object.values(Resources.all)
  .map(({ definition }) => definition as object as Resource.Resource)
  .filter(({ isAppendOnly }) => isAppendOnly !== true)

describe("the audit log", () => {
  for (const resource of changed) {
    it.effect(`has every change of ${resource.title.toLowerCase()}`, () =>
      Effect.gen(function* () {
        const collection = (yield* Collections).of(resource)
        const owner = resource.customer === undefined ? undefined : (yield* newCustomer()).id
        const value = (yield* Sample.of(resource, owner)) as { readonly id: string }
        const of = Effect.map(records({ objectId: value.id }), (all) => all.map(({ action }) => action))
        yield* collection.insert(value as never)
        // Held, and not changed.
        yield* collection.modify(value.id as never, Effect.succeed)
        yield* collection.modify(value.id as never, (found) =>
          Effect.succeed({ ...(found as object) } as never),
        )
        yield* collection.remove(value.id as never)
        yield* collection.remove(value.id as never)
        const { object } = AuditTrail.auditedOf(resource)
        const created = resource.isLedger === true ? [] : [`${object}.created`]
        assert.deepStrictEqual(yield* of, [`${object}.deleted`, ...created])
      }).pipe(inWorld()),
    )
  }

  it.effect("says who, when, from where, and what was before and after", () =>
    Effect.gen(function* () {
      const customers = yield* Customers
      const { id } = yield* newCustomer({ country: "DE" })
      yield* TestClock.adjust("1 second")
      const change = customers.update(id, { country: "AT", email: "ada@example.org", netDays: 14 })
      yield* Effect.provideService(change, CurrentActor, actor)
      const [updated, created] = yield* records()
      assert.deepInclude(created, {
        action: "customer.created",
        objectId: id,
        actorType: "host",
        actorId: "host",
        before: null,
        after: { country: "DE", tax_status: "taxable", collection_method: "charge_automatically" },
        leftOut: ["name", "email", "metadata"],
        ip: null,
        createdAt: NOON,
      })
      assert.deepStrictEqual(
        { ...updated, id: "" },
        {
          id: "" as never,
          action: "customer.updated",
          objectId: id,
          actorType: "key",
          actorId: actor.id,
          actorRole: "support",
          before: { country: "DE", net_days: null },
          after: { country: "AT", net_days: 14 },
          leftOut: ["email"],
          ip: "203.0.113.7",
          userAgent: "curl/8",
          requestId: "req_1",
          createdAt: DateTime.add(NOON, { seconds: 1 }),
        },
      )
      assert.deepStrictEqual(yield* (yield* AuditRecords).get(updated!.id), updated)
    }).pipe(inWorld()),
  )

  it.effect("has nothing personal of a customer, also after erasure", () =>
    Effect.gen(function* () {
      const customers = yield* Customers
      const { id } = yield* newCustomer({ name: "Lovelace", address: { line1: "Linden 1" }, taxId: "DE1" })
      yield* customers.update(id, { name: "King", metadata: { note: "Byron" } })
      yield* customers.erase(id)
      const all = yield* records({ objectId: id })
      const everything = ["address", "email", "metadata", "name", "tax_id"]
      assert.deepStrictEqual(
        all.map(({ action, leftOut }) => [action, leftOut.toSorted()]),
        [
          ["customer.deleted", everything],
          ["customer.updated", ["metadata", "name"]],
          ["customer.created", everything],
        ],
      )
      assert.notMatch(JSON.stringify(all), /Lovelace|King|Byron|Linden|DE1|example\.com/)
    }).pipe(inWorld()),
  )

  for (const [name, field] of [
    ["invoiceProofs", "document"],
    ["invoiceItems", "metadata"],
  ] as const) {
    const resource = Resources.all[name].definition as object as Resource.Resource
    it.effect(`names and doesn't show ${field} of ${resource.title.toLowerCase()}`, () =>
      Effect.gen(function* () {
        const owner = resource.customer === undefined ? undefined : (yield* newCustomer()).id
        const value = (yield* Sample.of(resource, owner)) as { readonly id: string }
        yield* (yield* Collections).of(resource).insert(value as never)
        const [created] = yield* records({ objectId: value.id })
        assert.include(created!.leftOut, field)
        assert.notProperty(created?.after, field)
      }).pipe(inWorld()),
    )
  }

  it.effect("is written with the change, or not at all", () =>
    Effect.gen(function* () {
      const { atomically } = yield* Transactor
      const undone = atomically(Effect.andThen(newCustomer(), Effect.fail("undone")))
      assert.deepStrictEqual(yield* Effect.exit(undone), Exit.fail("undone"))
      assert.deepStrictEqual(yield* records(), [])
      const { id } = yield* newCustomer()
      const collection = (yield* Collections).of(Resources.all.customers.definition)
      yield* Effect.exit(collection.modify(id, () => Effect.fail("no")))
      assert.deepStrictEqual(yield* actions, ["customer.created"])
    }).pipe(inWorld()),
  )

  it.effect("is filtered by object, actor, action and time, and each tenant has its own", () =>
    Effect.gen(function* () {
      const { id } = yield* newCustomer()
      yield* TestClock.adjust("1 hour")
      const made = yield* Effect.provideService((yield* Coupons).create(coupon), CurrentActor, actor)
      yield* as(acmeTest)(newCustomer())
      const ids = (query: Parameters<typeof records>[0]) =>
        Effect.map(records(query), (all) => all.map(({ objectId }) => objectId))
      const [later, start] = [DateTime.add(NOON, { hours: 1 }), NOON]
      assert.deepStrictEqual(yield* ids({}), [made.id, id])
      assert.deepStrictEqual(yield* ids({ objectId: id }), [id])
      assert.deepStrictEqual(yield* ids({ actorId: actor.id }), [made.id])
      assert.deepStrictEqual(yield* ids({ action: "customer.created" }), [id])
      assert.deepStrictEqual(yield* ids({ createdAfter: later }), [made.id])
      assert.deepStrictEqual(yield* ids({ createdBefore: later }), [id])
      assert.deepStrictEqual(yield* ids({ createdAfter: start, createdBefore: start }), [])
      const wrong = yield* Effect.flip((yield* AuditRecords).list({ action: "customer.read" }))
      assert.include(wrong.message, "action must be an object and created, updated or deleted")
    }).pipe(inWorld()),
  )

  it.effect("calls work in the background the runner, whoever asked for it", () =>
    Effect.gen(function* () {
      yield* Actor.asRunner((yield* Coupons).create(coupon)).pipe(Effect.provideService(CurrentActor, actor))
      const [record] = yield* records()
      assert.deepInclude(record, { actorType: "runner", actorId: "runner", ip: null, requestId: null })
    }).pipe(inWorld()),
  )
})

/**
 * The audit log of objects that are no resources: who changed them, and that nothing secret is shown.
 */
import {
  ApiKeys,
  ApiKeyStore,
  AuditedStores,
  AuditRecords,
  AuditReplay,
  BillingRuns,
  CreditNotes,
  Credits,
  CurrentActor,
  Endpoints,
  FakeProvider,
  fieldsOf,
  Invoices,
  Payments,
  PaymentStore,
  Plans,
  RateCards,
  Subscriptions,
  TokenUsages,
  type Actor,
} from "@billwright/core"
import type { PlanDefinition } from "@billwright/engine"
import { Memory } from "@billwright/memory"
import { assert, describe, it } from "@effect/vitest"
import { Context, DateTime, Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { advanceTo, declined, inHours, outcomes, subscribe, withProvider } from "../payments/collecting.ts"
import { inWorld, newCustomer, NOON } from "../world.ts"

const ada: Actor.Actor = {
  type: "operator",
  id: "ada",
  role: "finance",
  ip: "203.0.113.7",
  userAgent: "browser",
  requestId: "req_1",
}
const byAda = Effect.provideService(CurrentActor, ada)

const basic: PlanDefinition = {
  key: "basic",
  name: "Basic",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [{ key: "base", model: "flat", price: { EUR: "20.00" } }],
}

/** The records of an object, oldest first. */
const recordsOf = Effect.fnUntraced(function* (objectId: string) {
  const log = yield* AuditRecords
  return (yield* log.list({ objectId, limit: 100 })).data.toReversed()
})
const told = (objectId: string) =>
  Effect.map(recordsOf(objectId), (all) => all.map(({ action, actorId }) => `${action} by ${actorId}`))

/** A storage in which somebody else revokes a key right after it was read. Their record is not written. */
const overtaken = (isOvertaken: () => boolean) =>
  Layer.effectContext(
    Effect.map(Effect.context<Layer.Success<typeof Memory.layer>>(), (context) => {
      const store = Context.get(context, ApiKeyStore)
      const revoke = (id: Parameters<typeof store.find>[0]) =>
        isOvertaken() ? store.revoke(id, DateTime.subtract(NOON, { seconds: 1 })) : Effect.void
      return Context.add(context, ApiKeyStore, {
        ...store,
        find: (id) => Effect.tap(store.find(id), () => revoke(id)),
      })
    }),
  ).pipe(Layer.provide(Memory.layer))

describe("the audit log", () => {
  it.effect("has what became of plans", () =>
    Effect.gen(function* () {
      const { push } = yield* Plans
      yield* push({ plans: [basic] }).pipe(byAda)
      yield* push({ plans: [basic] })
      yield* push({ plans: [{ ...basic, name: "Start" }] })
      yield* push({
        plans: [{ ...basic, name: "Start", charges: [{ ...basic.charges[0]!, price: { EUR: "25.00" } }] }],
      } as never)
      assert.deepStrictEqual(yield* told("basic"), [
        "plan.created by ada",
        "plan.updated by host",
        "plan.updated by host",
      ])
      const [created, renamed, changed] = yield* recordsOf("basic")
      assert.deepInclude(created, { before: null, leftOut: ["terms"] })
      assert.deepInclude(renamed, { before: { name: "Basic" }, after: { name: "Start" }, leftOut: [] })
      assert.deepInclude(changed?.before, { version: 1 })
      assert.deepInclude(changed?.after, { version: 2 })
    }).pipe(inWorld()),
  )

  it.effect("has what became of subscriptions, invoices, payments and credit notes, and by whom", () =>
    Effect.gen(function* () {
      yield* (yield* Plans).push({ plans: [basic] })
      const { id: customerId } = yield* newCustomer()
      const { create, cancel } = yield* Subscriptions
      const subscription = yield* create({ customerId, plan: "basic" })
      const invoices = yield* Invoices
      const [first] = (yield* invoices.list({ customerId })).data
      yield* invoices.finalize(first!.id)
      const payment = yield* byAda(
        (yield* Payments).record({ invoiceId: first!.id, reference: "Ada Lovelace" }),
      )
      const note = yield* byAda(
        (yield* CreditNotes).create({ invoiceId: first!.id, amount: 500n, reason: "order_change" }),
      )
      yield* byAda(cancel(subscription.id, { at: "period_end" } as never))
      yield* TestClock.setTime(DateTime.add(NOON, { months: 1, days: 2 }).epochMilliseconds)
      yield* byAda((yield* BillingRuns).runDue())

      const [created, canceled, ended] = yield* recordsOf(subscription.id)
      assert.deepInclude(created, { action: "subscription.created", actorId: "host", before: null })
      assert.deepInclude(created?.after, { customer_id: customerId, currency: "EUR" })
      assert.deepInclude(canceled, {
        actorId: "ada",
        actorRole: "finance",
        ip: "203.0.113.7",
        requestId: "req_1",
      })
      assert.deepInclude(canceled?.before, { canceled_at: null })
      assert.deepInclude(canceled?.after, { canceled_at: DateTime.formatIso(NOON) })
      assert.deepInclude(ended, { actorType: "runner", actorId: "runner", requestId: null })
      assert.deepInclude(ended?.after, { phase: "ended" })

      const ofInvoice = yield* recordsOf(first!.id)
      assert.strictEqual(ofInvoice[0]?.action, "invoice.created")
      assert.deepInclude(ofInvoice[0]?.after, { total: 2_000, currency: "EUR" })
      assert.include(ofInvoice[0]!.leftOut, "lines")
      const paid = ofInvoice.find(({ after }) => after?.["status"] === "paid")
      assert.deepInclude(paid, { actorId: "ada" })
      assert.deepInclude(paid?.before, { status: "open", amount_paid: 0 })
      assert.deepStrictEqual(yield* told(payment.id), ["payment.created by ada"])
      const [recorded] = yield* recordsOf(payment.id)
      assert.include(recorded!.leftOut, "reference")
      assert.notInclude(JSON.stringify(recorded), "Lovelace")
      assert.deepStrictEqual(yield* told(note.id), ["credit_note.created by ada"])
    }).pipe(inWorld()),
  )

  it.effect("has each change of a payment that a provider collects", () => {
    const provider = new FakeProvider({ outcomeOf: outcomes(declined("insufficient_funds")) })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(inHours(48))
      const { data } = yield* (yield* PaymentStore).list({}, { limit: 9, cursor: undefined })
      assert.lengthOf(data, 1)
      const { payment } = AuditedStores
      const records = yield* recordsOf(data[0]!.id)
      assert.isAbove(records.length, 1)
      const statuses = records.map(({ after }) => after?.["status"]).filter((status) => status !== undefined)
      assert.deepStrictEqual([statuses[0], statuses.at(-1)], ["open", "succeeded"])
      assert.deepStrictEqual([...new Set(records.map(({ actorId }) => actorId))], ["runner"])
      const problems = AuditReplay.contradictions(
        records,
        fieldsOf(payment, data[0]!),
        payment.view(data[0]!),
      )
      assert.deepStrictEqual(problems, [])
    }).pipe(withProvider(provider))
  })

  it.effect("has grants that somebody makes and voids, and nothing of how credits are used", () =>
    Effect.gen(function* () {
      const { id: customerId } = yield* newCustomer()
      const { consume, grant, voidGrant } = yield* Credits
      const made = yield* byAda(
        grant({ customerId, unit: "token", kind: "promotional", amount: 100n, idempotencyKey: "a" }),
      )
      yield* grant({ customerId, unit: "token", kind: "promotional", amount: 100n, idempotencyKey: "a" })
      yield* consume({ customerId, unit: "token", amount: 30n })
      yield* byAda(voidGrant(made.id))
      yield* voidGrant(made.id)
      const [granted, voided, ...others] = yield* recordsOf(made.id)
      assert.deepStrictEqual(others, [])
      assert.deepInclude(granted, { action: "credit_grant.created", actorId: "ada" })
      assert.deepInclude(granted?.after, { amount: 100, unit: "token", kind: "promotional" })
      assert.deepInclude(voided, { action: "credit_grant.updated", actorId: "ada" })
      assert.deepInclude(voided?.after, { status: "voided" })
    }).pipe(inWorld()),
  )

  it.effect("has who waived tokens, and nothing of those that were used", () =>
    Effect.gen(function* () {
      const { id: customerId } = yield* newCustomer()
      const { push } = yield* RateCards
      yield* push({ rateCards: [{ key: "llm", unit: "credit", models: { large: { input: "2" } } }] })
      const usages = yield* TokenUsages
      const used = { customerId, rateCard: "llm", tokens: { input: 1_000_000 } }
      const rated = yield* usages.create({ ...used, model: "large" })
      const unrated = yield* usages.create({ ...used, model: "larger" })
      assert.deepStrictEqual([rated.status, unrated.status], ["rated", "unrated"])
      for (const { id } of [rated, unrated]) assert.deepStrictEqual(yield* told(id), [])
      yield* byAda(usages.waive(unrated.id, { by: "Ada", reason: "A trial" }))
      assert.deepStrictEqual(yield* told(unrated.id), ["token_usage.updated by ada"])
    }).pipe(inWorld()),
  )

  it.effect("has one revocation of a key that two revoke at once", () =>
    Effect.gen(function* () {
      const { issue, revoke } = yield* ApiKeys
      const { key } = yield* issue({ name: "app" })
      assert.isNotNull((yield* revoke(key.id)).revokedAt)
      assert.deepStrictEqual(yield* told(key.id), ["api_key.created by host"])
    }).pipe(inWorld({}, overtaken(() => true) as typeof Memory.layer)),
  )

  it.effect("doesn't take the revocation of a key for a change by those who roll it", () => {
    // The first read asks whether the key can be rolled.
    let reads = 0
    return Effect.gen(function* () {
      const { issue, roll } = yield* ApiKeys
      const { key } = yield* issue({ name: "app" })
      yield* roll(key.id)
      const [, rolled, ...others] = yield* recordsOf(key.id)
      assert.deepStrictEqual(others, [])
      assert.hasAllKeys(rolled?.after, ["expires_at"])
    }).pipe(inWorld({}, overtaken(() => ++reads === 2) as typeof Memory.layer))
  })

  it.effect("has what became of endpoints, without their secrets", () =>
    Effect.gen(function* () {
      const endpoints = yield* Endpoints
      const url = "https://hooks.example.com/T0/B0/XXXXSECRET"
      const { endpoint, secret } = yield* byAda(
        endpoints.create({ url, eventTypes: ["*"], headers: { "x-token": "hush" } }),
      )
      yield* endpoints.update(endpoint.id, { status: "disabled" })
      yield* endpoints.rotateSecret(endpoint.id)
      yield* endpoints.delete(endpoint.id)
      assert.deepStrictEqual(yield* told(endpoint.id), [
        "webhook_endpoint.created by ada",
        "webhook_endpoint.updated by host",
        "webhook_endpoint.updated by host",
        "webhook_endpoint.deleted by host",
      ])
      const all = yield* recordsOf(endpoint.id)
      assert.deepInclude(all[0]?.after, { origin: "https://hooks.example.com", status: "enabled" })
      assert.includeMembers([...all[0]!.leftOut], ["url", "headers", "secrets"])
      assert.deepInclude(all[1]?.after, { status: "disabled", disabled_reason: "manual" })
      assert.deepStrictEqual(all[2]?.leftOut, ["secrets"])
      const text = JSON.stringify(all)
      for (const hidden of ["XXXXSECRET", "hush", Redacted.value(secret!), "sealed"])
        assert.notInclude(text, hidden)
    }).pipe(inWorld({ encryption: "none" })),
  )

  it.effect("has what became of API keys, without their secrets", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const { key, secret } = yield* byAda(keys.issue({ name: "shop", role: "viewer" }))
      yield* keys.verify(secret)
      const rolled = yield* keys.roll(key.id)
      yield* keys.revoke(rolled.key.id)
      yield* keys.revoke(rolled.key.id)
      assert.deepStrictEqual(yield* told(key.id), ["api_key.created by ada", "api_key.updated by host"])
      assert.deepStrictEqual(yield* told(rolled.key.id), [
        "api_key.created by host",
        "api_key.updated by host",
      ])
      const [issued, expired] = yield* recordsOf(key.id)
      assert.deepInclude(issued?.after, { name: "shop", scopes: key.scopes, hint: key.hint })
      assert.deepStrictEqual(expired?.after, { expires_at: DateTime.formatIso(NOON) })
      const text = JSON.stringify([...(yield* recordsOf(key.id)), ...(yield* recordsOf(rolled.key.id))])
      for (const one of [secret, rolled.secret]) assert.notInclude(text, Redacted.value(one))
      assert.notInclude(text, "digest")
    }).pipe(inWorld()),
  )
})

/** Subscriptions and invoices by promises, and over the client. */
import {
  ActionUnavailableError,
  type Billing,
  createBilling,
  CustomerHasSubscriptionError,
  CustomerNotFoundError,
  InvalidInputError,
  InvoiceNotFoundError,
  PlanMigrationNotFoundError,
  PlanNotFoundError,
  SubscriptionNotFoundError,
} from "billwright"
import { ApiError, type BillingClient, createClient } from "billwright/client"
import { memory } from "billwright/memory"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { rejection } from "./Rejection.ts"

const pro = {
  key: "pro",
  name: "Pro",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [
    { key: "base", model: "flat", price: { EUR: "20.00" } },
    { key: "seats", model: "unit", quantity: "user_seats", price: { EUR: "5.00" } },
    { key: "calls", model: "unit", meter: "calls", price: { EUR: "0.01" } },
  ],
} as const

let billing: Billing
let client: BillingClient
let customerId: string

beforeEach(async () => {
  billing = await createBilling({ store: memory(), mode: "test", dispatcher: false, log: false })
  const apiKey = (await billing.keys.create({ name: "app", scopes: ["subscriptions:*", "invoices:*"] }))
    .secret
  const fetch = (url: string, init: RequestInit) =>
    billing.fetch(new Request(url, init), { basePath: "/billing" })
  client = createClient({ url: "http://localhost/billing", apiKey, fetch })
  await billing.meters.create({ key: "calls", productId: "api", unit: "call" })
  await billing.plans.push(pro)
  customerId = (await billing.customers.create({ name: "Ada", email: "ada@example.com" })).id
})
afterEach(() => billing.close())

/** The same calls with `createBilling` and with the client. */
const both = [
  ["createBilling", () => billing],
  ["the client", () => client],
] as const

describe.each(both)("subscriptions of %s", (_, caller) => {
  it("are created, read, listed and commanded, and both give the same values", async () => {
    const { subscriptions } = caller()
    const created = await subscriptions.create({
      customerId,
      plan: "pro",
      quantities: { user_seats: 3 },
      metadata: { order_no: "4711" },
    })
    assert.deepInclude(created, { phase: "active", customerId, quantities: { user_seats: "3" } })
    assert.instanceOf(created.currentPeriodEnd, Date)
    assert.deepStrictEqual(created.metadata, { order_no: "4711" })
    for (const [, other] of both) {
      assert.deepStrictEqual(await other().subscriptions.get(created.id), created)
      assert.deepStrictEqual((await other().subscriptions.list({ customerId }).page()).data, [created])
      assert.deepStrictEqual((await other().subscriptions.list({ phase: "paused" }).page()).data, [])
      const onPlan = async (version: number) =>
        (await other().subscriptions.list({ customerId, plan: "pro", version }).page()).data
      assert.deepStrictEqual(await onPlan(created.plan.version), [created])
      assert.deepStrictEqual(await onPlan(created.plan.version + 1), [])
      assert.deepStrictEqual((await other().subscriptions.list({ customerId, plan: "no" }).page()).data, [])
    }

    const { id } = created
    const fewer = await subscriptions.change(id, { quantities: { user_seats: 2n } })
    assert.deepStrictEqual(fewer.pending, {
      plan: null,
      quantities: { user_seats: "2" },
      at: "period_end",
      bill: "now",
    })
    const later = new Date(Date.now() + 86_400_000)
    const onDate = await subscriptions.change(id, { quantities: { user_seats: "4" }, at: later })
    assert.deepStrictEqual(onDate.pending?.at, later)
    assert.deepStrictEqual(await billing.subscriptions.get(id), onDate)
    const ending = await subscriptions.cancel(id, { at: "period_end" })
    assert.deepStrictEqual(ending.endsAt, created.currentPeriodEnd)
    assert.isNull((await subscriptions.uncancel(id)).endsAt)
    const paused = await subscriptions.pause(id, { resumeAt: later.toISOString(), credit: "none" })
    assert.deepStrictEqual([paused.phase, paused.resumesAt], ["paused", later])
    assert.strictEqual((await subscriptions.resume(id)).phase, "active")
    await subscriptions.pause(id)
    await subscriptions.resume(id, { anchor: "keep" })
    assert.isNull(await subscriptions.reconcile(id))
    assert.strictEqual((await subscriptions.cancel(id, { at: "now" })).phase, "ended")
    const drafts = await billing.invoices.list({ status: "draft" }).page()
    for (const draft of drafts.data.toReversed()) await billing.invoices.finalize(draft.id)
    await billing.usage.record({
      customerId,
      productId: "api",
      unit: "call",
      quantity: 700,
      timestamp: new Date(created.createdAt.getTime() + 1),
    })
    const reconciled = await subscriptions.reconcile(id)
    assert.deepInclude(reconciled, { status: "draft", total: 700n, subscriptionId: id })
    assert.deepStrictEqual(await billing.invoices.get(reconciled!.id), reconciled)
    const trial = { days: 14 }
    const trying = await subscriptions.create({
      customerId,
      plan: "pro",
      quantities: { user_seats: "1" },
      trial,
    })
    assert.strictEqual(trying.phase, "trialing")
    const until = await subscriptions.create({
      customerId,
      plan: "pro",
      quantities: { user_seats: "1" },
      trial: { endAt: later },
      startAt: new Date(),
      timezone: "Europe/Berlin",
    })
    assert.deepStrictEqual(until.trialEndAt, later)
  })

  it("are previewed: what a command then bills, and nothing is stored", async () => {
    const { subscriptions } = caller()
    const input = { customerId, plan: "pro", quantities: { user_seats: 3 } }
    const first = await subscriptions.preview({ action: "create", ...input })
    assert.deepStrictEqual(
      first.invoices.map(({ total }) => total),
      [3500n],
    )
    assert.strictEqual(first.nextInvoice?.total, 3500n)
    assert.deepStrictEqual((await billing.subscriptions.list().page()).data, [])
    const { id: subscriptionId } = await subscriptions.create(input)
    const later = new Date(Date.now() + 86_400_000)
    const paused = await subscriptions.preview({ action: "pause", subscriptionId, resumeAt: later })
    assert.deepStrictEqual(paused.subscription.resumesAt, later)
    const ended = await subscriptions.preview({ action: "cancel", subscriptionId, at: "now" })
    assert.deepStrictEqual([ended.subscription.phase, ended.nextInvoice], ["ended", null])
    assert.strictEqual((await billing.subscriptions.get(subscriptionId)).phase, "active")
  })

  it("keep their customer from being erased", async () => {
    const { id } = await caller().subscriptions.create({
      customerId,
      plan: "pro",
      quantities: { user_seats: 1 },
    })
    const refused = await rejection(billing.customers.erase(customerId))
    assert.instanceOf(refused, CustomerHasSubscriptionError)
    assert.match(refused.message, /has a subscription that has not ended: cancel it first/)
    await billing.subscriptions.cancel(id, { at: "now" })
    await billing.customers.erase(customerId)
  })

  it("move to another version by a migration of their plan", async () => {
    const { planMigrations, subscriptions } = caller()
    const { id } = await subscriptions.create({ customerId, plan: "pro", quantities: { user_seats: 3 } })
    await billing.plans.push({ ...pro, trial: { days: 30 } })
    const migration = await planMigrations.create({ plan: "pro", at: "period_end", dryRun: false })
    assert.deepInclude(migration, { fromVersion: null, toVersion: 2, at: "period_end", status: "running" })
    await billing.runDue()
    const done = await planMigrations.get(migration.id)
    assert.deepStrictEqual(done.counts, { migrated: 1, unchanged: 0, failed: 0 })
    assert.instanceOf(done.completedAt, Date)
    assert.deepStrictEqual((await subscriptions.get(id)).pending?.plan, { key: "pro", version: 2 })
    assert.deepStrictEqual((await planMigrations.list({ status: "completed" }).page()).data, [done])
    await planMigrations.delete(migration.id)
    assert.instanceOf(await rejection(billing.planMigrations.get(migration.id)), PlanMigrationNotFoundError)
  })

  it("are in the books that a check looks at, which needs no input", async () => {
    const { bookChecks } = caller()
    const check = await bookChecks.create()
    assert.deepInclude(check, { status: "running", night: null, found: [], completedAt: null })
    await billing.runDue()
    const done = await bookChecks.get(check.id)
    assert.deepInclude(done, { status: "completed", differences: 0 })
    assert.instanceOf(done.completedAt, Date)
    assert.deepStrictEqual((await bookChecks.list({ status: "completed" }).page()).data, [done])
  })

  it("make drafts, whose amounts are bigints", async () => {
    const { invoices, subscriptions } = caller()
    const { id: subscriptionId } = await subscriptions.create({
      customerId,
      plan: "pro",
      quantities: { user_seats: "3" },
    })
    const [draft, ...others] = (await invoices.list({ subscriptionId, status: "draft" }).page()).data
    assert.lengthOf(others, 0)
    assert.isDefined(draft)
    assert.deepInclude(draft, { total: 3500n, amountDue: 3500n, number: null, customerId })
    assert.deepStrictEqual(draft.taxes[0], {
      category: "O",
      rate: "0",
      country: null,
      reason: "Not subject to tax",
      taxable: 3500n,
      amount: 0n,
    })
    const seats = draft.lines.find(({ charge }) => charge === "seats")
    assert.deepInclude(seats, { amount: 1500n, net: 1500n, quantity: "3", kind: "advance" })
    assert.instanceOf(seats?.periodStart, Date)
    assert.deepStrictEqual(seats?.steps.at(-1), { type: "round", digits: 2, amount: "15" })
    for (const [, other] of both) assert.deepStrictEqual(await other().invoices.get(draft.id), draft)
  })
})

describe("billing.subscriptions", () => {
  const order = () => ({ customerId, plan: "pro", quantities: { user_seats: "3" } })

  it("rejects wrong input with all problems, and unknown ids with errors of their own", async () => {
    const { create } = billing.subscriptions
    const wrong = await rejection(create({ ...order(), quantities: { seats: "x" }, timezone: "Mars" }))
    assert.instanceOf(wrong, InvalidInputError)
    assert.deepStrictEqual(
      wrong.problems.map(({ field }) => field),
      ["quantities.seats", "quantities.seats", "quantities.user_seats", "timezone"],
    )
    for (const [input, field] of [
      [undefined, "input"],
      [{ ...order(), startAt: "today" }, "startAt"],
      [{ ...order(), trial: { endAt: "today" } }, "trial.endAt"],
      [{ ...order(), trial: 5 }, "trial"],
      [{ ...order(), trial: {} }, "trial.days"],
      [{ ...order(), start_at: new Date() }, "start_at"],
    ] as const) {
      const error = await rejection(create(input as never))
      assert.instanceOf(error, InvalidInputError)
      assert.strictEqual(error.field, field)
    }
    const { id } = await create(order())
    const time = await rejection(billing.subscriptions.cancel(id, { at: "tomorrow" }))
    assert.instanceOf(time, InvalidInputError)
    assert.strictEqual(
      time.message,
      "at must be now, period_end, a Date or an RFC 3339 instant with an offset, such as 2026-11-21T09:30:00Z",
    )
    assert.instanceOf(
      await rejection(billing.subscriptions.cancel(id, undefined as never)),
      InvalidInputError,
    )
    assert.instanceOf(await rejection(billing.subscriptions.get(5 as never)), InvalidInputError)
    assert.instanceOf(await rejection(create({ ...order(), plan: "gold" })), PlanNotFoundError)
    const nobody = `cus_${"0".repeat(26)}`
    assert.instanceOf(await rejection(create({ ...order(), customerId: nobody })), CustomerNotFoundError)
    const unknown = await rejection(billing.subscriptions.get(`sub_${"0".repeat(26)}`))
    assert.instanceOf(unknown, SubscriptionNotFoundError)
    assert.strictEqual(unknown.code, "subscription_not_found")
    assert.instanceOf(await rejection(billing.live.subscriptions.get(id)), SubscriptionNotFoundError)
    assert.instanceOf(await rejection(billing.invoices.get("inv_1")), InvoiceNotFoundError)
  })

  it("rejects commands and actions that are not available", async () => {
    const { id } = await billing.subscriptions.create(order())
    const refused = await rejection(billing.subscriptions.resume(id))
    assert.instanceOf(refused, ActionUnavailableError)
    assert.deepInclude({ ...refused } as object, { code: "action_unavailable", object: "subscription", id })
    const [draft] = (await billing.invoices.list().page()).data
    const error = await rejection(billing.invoices.void(draft!.id))
    assert.instanceOf(error, ActionUnavailableError)
    assert.strictEqual(error.message, `${draft!.id}: void is not possible: the invoice is draft`)
    const overRest = await rejection(client.invoices.markUncollectible(draft!.id))
    assert.instanceOf(overRest, ApiError)
    assert.strictEqual(overRest.code, "conflict")
  })

  it("is part of a transaction: the customer, its subscription and its invoice, or nothing", async () => {
    const order = async (tx: Pick<Billing, "customers" | "subscriptions" | "invoices">) => {
      const customer = await tx.customers.create({ name: "Grace", email: "grace@example.com" })
      const quantities = { user_seats: "1" }
      const { id } = await tx.subscriptions.create({ customerId: customer.id, plan: "pro", quantities })
      const [draft] = (await tx.invoices.list({ subscriptionId: id }).page()).data
      assert.strictEqual(draft?.total, 2500n)
      return id
    }
    const failed = new Error("no")
    const error = await rejection(
      billing.transaction(async (tx) => {
        await order(tx)
        throw failed
      }),
    )
    assert.strictEqual(error, failed)
    assert.deepStrictEqual((await billing.subscriptions.list().page()).data, [])
    assert.deepStrictEqual((await billing.invoices.list().page()).data, [])
    const id = await billing.transaction(order)
    assert.strictEqual((await billing.subscriptions.get(id)).phase, "active")
  })
})

/** Plans by promises, over the client, and as code. */
import {
  type Billing,
  type ChargeKeyOf,
  createBilling,
  definePlan,
  type FeatureKeyOf,
  InvalidInputError,
  type PlanDefinition,
  PlanNotFoundError,
} from "billwright"
import { ApiError, type BillingClient, createClient } from "billwright/client"
import { memory } from "billwright/memory"
import { rate } from "billwright/rating"
import { afterEach, assert, beforeEach, describe, expectTypeOf, it } from "vitest"
import { rejection } from "./Rejection.ts"

const pro = definePlan("pro", {
  name: "Pro",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  meters: ["api_calls", "exports"],
  quantities: ["seats"],
  charges: [
    { key: "base", model: "flat", price: { EUR: "20.00" } },
    { key: "seats", model: "unit", quantity: "seats", price: { EUR: "5.00" } },
    {
      key: "calls",
      model: "graduated",
      meter: "api_calls",
      tiers: [{ up_to: "1000", price: { EUR: "0.01" } }, { price: { EUR: "0.002" } }],
    },
  ],
  features: {
    sso: { type: "boolean" },
    exports: { type: "metered", meter: "exports", included: "50", limit: "hard" },
  },
})

const all = async <A>(items: AsyncIterable<A>): Promise<Array<A>> => {
  const found: Array<A> = []
  for await (const item of items) found.push(item)
  return found
}

let billing: Billing
let client: BillingClient

beforeEach(async () => {
  billing = await createBilling({ store: memory(), mode: "test", dispatcher: false, log: false })
  const apiKey = (await billing.keys.create({ name: "deploys", scopes: ["catalog:*"] })).secret
  const fetch = (url: string, init: RequestInit) =>
    billing.fetch(new Request(url, init), { basePath: "/billing" })
  client = createClient({ url: "http://localhost/billing", apiKey, fetch })
})
afterEach(() => billing.close())

describe("billing.plans", () => {
  it("pushes, compares, reads and previews; the client gives the same values", async () => {
    const created = {
      key: "pro",
      status: "created",
      version: 1,
      previousVersion: null,
      changes: [],
    }
    assert.deepStrictEqual(await client.plans.diff(pro), [created] as never)
    assert.deepStrictEqual(await billing.plans.push(pro), [created] as never)
    const dearer: PlanDefinition = {
      ...pro,
      charges: pro.charges.with(0, { ...pro.charges[0]!, free: "1" } as never),
    }
    assert.instanceOf(await rejection(billing.plans.push(dearer)), InvalidInputError)
    const longer = { ...pro, trial: { days: 14 } }
    const changed = await client.plans.push([longer])
    assert.deepStrictEqual(changed, [
      {
        key: "pro",
        status: "changed",
        version: 2,
        previousVersion: 1,
        changes: [{ path: "trial", from: null, to: { days: 14 } }],
      },
    ])
    assert.deepStrictEqual(await billing.plans.diff(longer), await client.plans.diff(longer))

    const plan = await billing.plans.get("pro")
    assert.instanceOf(plan.createdAt, Date)
    assert.deepStrictEqual(await client.plans.get("pro"), plan)
    assert.deepStrictEqual(plan.terms.charges[2], pro.charges[2])
    const versions = await all(billing.plans.listVersions("pro", { limit: 1 }))
    assert.deepStrictEqual(
      versions.map(({ version }) => version),
      [2, 1],
    )
    assert.deepStrictEqual(await all(client.plans.listVersions("pro")), versions)
    assert.deepStrictEqual(await client.plans.getVersion("pro", 1), versions[1]!)
    assert.deepStrictEqual((await billing.plans.list().page()).data, [plan])
    assert.deepStrictEqual((await client.plans.list({ limit: 5 }).page()).data, [plan])

    // 20.00 + 3 × 5.00 + 1,000 × 0.01 + 1,000 × 0.002
    const input = { plan: pro, quantities: { seats: 3, calls: 2_000n } }
    const preview = await billing.plans.preview(input)
    assert.strictEqual(preview.total, 4700n)
    assert.deepStrictEqual(await client.plans.preview(input), preview)
    const { charge: _, name: __, ...line } = preview.lines[2]!
    assert.deepStrictEqual(line, rate(pro.charges[2]!, 2_000, { currency: "EUR" }))
    const stored = await client.plans.preview({ plan: "pro", version: 1, quantities: { calls: 2_000 } })
    assert.deepInclude(stored, { version: 1, total: 3200n })
  })

  it("rejects wrong plans with all their problems", async () => {
    const wrong = { ...pro, name: "", interval: { unit: "month", count: 0 } } as const
    const problems = [
      { field: "plans.pro.name", problem: "must be a text of 1 to 200 characters" },
      { field: "plans.pro.interval.count", problem: "must be an integer from 1 to 36" },
    ]
    const error = await rejection(billing.plans.push([wrong]))
    assert.instanceOf(error, InvalidInputError)
    assert.deepStrictEqual(error.problems, problems)
    assert.strictEqual(error.message, "plans.pro.name must be a text of 1 to 200 characters (and 1 more)")
    const refused = await rejection(client.plans.push([wrong]))
    assert.instanceOf(refused, ApiError)
    assert.deepStrictEqual(refused.problems, problems)
    assert.strictEqual(refused.message, error.message)
    for (const nothing of [undefined, null, 5, "pro", {}]) {
      assert.instanceOf(await rejection(billing.plans.push(nothing as never)), InvalidInputError)
    }
  })

  it("rejects with PlanNotFoundError for what does not exist", async () => {
    await billing.plans.push(pro)
    const unknown = await rejection(billing.plans.get("free"))
    assert.instanceOf(unknown, PlanNotFoundError)
    assert.deepInclude({ ...unknown } as object, { code: "plan_not_found", id: "free" })
    const version = await rejection(billing.plans.getVersion("pro", 7))
    assert.instanceOf(version, PlanNotFoundError)
    assert.strictEqual(version.message, "the plan pro has no version 7")
    assert.instanceOf(await rejection(billing.plans.preview({ plan: "free" })), PlanNotFoundError)
    assert.instanceOf(await rejection(billing.plans.get(5 as never)), InvalidInputError)
  })

  it("is part of a transaction", async () => {
    await rejection(
      billing.transaction(async (tx) => {
        await tx.plans.push(pro)
        assert.strictEqual((await tx.plans.get("pro")).version, 1)
        throw new Error("no")
      }),
    )
    assert.instanceOf(await rejection(billing.plans.get("pro")), PlanNotFoundError)
    await billing.plans.push(pro)
    assert.instanceOf(await rejection(billing.live.plans.get("pro")), PlanNotFoundError)
    assert.instanceOf(await rejection(billing.forAccount("other").plans.get("pro")), PlanNotFoundError)
  })
})

describe("definePlan", () => {
  it("says what it needs when the key is written into the plan", () => {
    const inOne = definePlan as unknown as (plan: object) => unknown
    assert.throws(() => inOne({ key: "pro", charges: [] }), TypeError, "the key of a plan and the plan")
  })

  it("gives plain data, without what is for the compiler alone", () => {
    assert.deepStrictEqual(Object.keys(pro), ["key", "name", "currencies", "interval", "charges", "features"])
    assert.deepStrictEqual(JSON.parse(JSON.stringify(pro)), pro)
  })

  it("makes keys types", () => {
    expectTypeOf<ChargeKeyOf<typeof pro>>().toEqualTypeOf<"base" | "seats" | "calls">()
    expectTypeOf<FeatureKeyOf<typeof pro>>().toEqualTypeOf<"sso" | "exports">()
    expectTypeOf<ChargeKeyOf<string>>().toEqualTypeOf<string>()
    expectTypeOf<ChargeKeyOf<PlanDefinition>>().toEqualTypeOf<string>()
    const check = (feature: FeatureKeyOf<typeof pro>) => feature
    check("sso")
    // @ts-expect-error -- a misspelt key of a feature
    check("ssso")
    void (() => billing.plans.preview({ plan: pro, quantities: { calls: 1 } }))
    void (() => billing.plans.preview({ plan: "pro", quantities: { anything: 1 } }))
    // @ts-expect-error -- a misspelt key of a charge
    void (() => billing.plans.preview({ plan: pro, quantities: { callz: 1 } }))
    // @ts-expect-error -- the same over the client
    void (() => client.plans.preview({ plan: pro, quantities: { callz: 1 } }))
  })

  it("refuses keys that are not declared", () => {
    const common = { name: "A", currencies: ["EUR"], interval: { unit: "month", count: 1 } } as const
    const price = { EUR: "1" }
    definePlan("a", {
      ...common,
      meters: ["calls"],
      charges: [{ key: "c", model: "unit", meter: "calls", price }],
    })
    definePlan("a", {
      ...common,
      meters: ["calls"],
      // @ts-expect-error -- a meter that is not declared
      charges: [{ key: "c", model: "unit", meter: "callz", price }],
    })
    // @ts-expect-error -- no meters are declared
    definePlan("a", { ...common, charges: [{ key: "c", model: "unit", meter: "calls", price }] })
    definePlan("a", {
      ...common,
      quantities: ["seats"],
      // @ts-expect-error -- a quantity that is not declared
      charges: [{ key: "c", model: "unit", quantity: "seat", price }],
    })
    definePlan("a", {
      ...common,
      meters: ["calls"],
      charges: [],
      // @ts-expect-error -- a feature of a meter that is not declared
      features: { calls: { type: "metered", meter: "callz", included: "1", limit: "hard" } },
    })
    // @ts-expect-error -- a field that the model does not have
    definePlan("a", { ...common, charges: [{ key: "c", model: "flat", price, size: "5" }] })
    // @ts-expect-error -- a model that there is not
    definePlan("a", { ...common, charges: [{ key: "c", model: "flatt", price }] })
  })
})

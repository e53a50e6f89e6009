import { InvalidInput, Plan, Plans, PlanStore, Transactor } from "@billwright/core"
import { canonicalJson, type PlanDefinition } from "@billwright/engine"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { TestClock } from "effect/testing"
import { acmeTest, as, globex, inWorld, NOON } from "../world.ts"

const base: PlanDefinition["charges"][number] = { key: "base", model: "flat", price: { EUR: "20.00" } }
const calls: PlanDefinition["charges"][number] = {
  key: "calls",
  model: "graduated",
  meter: "api_calls",
  free: "100",
  tiers: [
    { up_to: "1000", price: { EUR: "0.01" } },
    { up_to: "5000", price: { EUR: "0.005" } },
    { price: { EUR: "0.002" } },
  ],
}
const pro: PlanDefinition = {
  key: "pro",
  name: "Pro",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [base, calls],
}
const free: PlanDefinition = { ...pro, key: "free", name: "Free", charges: [] }

const push = (...plans: ReadonlyArray<unknown>) =>
  Effect.flatMap(Plans, (service) => service.push({ plans: plans as ReadonlyArray<PlanDefinition> }))
const diff = (...plans: ReadonlyArray<PlanDefinition>) =>
  Effect.flatMap(Plans, (service) => service.diff({ plans }))
const get = (key: string) => Effect.flatMap(Plans, (service) => service.get(key))
const numbers = Effect.fnUntraced(function* (key: string) {
  const { data } = yield* (yield* Plans).listVersions(key)
  return data.map(({ version }) => version)
})

const problems = (...plans: ReadonlyArray<unknown>) =>
  Effect.map(Effect.flip(push(...plans)), (error) => {
    assert.instanceOf(error, InvalidInput)
    return (error.problems ?? []).map(({ field, problem }) => `${field} ${problem}`)
  })

describe("Plans.push", () => {
  it.effect("stores a plan with version 1", () =>
    Effect.gen(function* () {
      const { name, key, ...terms } = pro
      assert.deepStrictEqual(yield* push(pro), [
        { key, status: "created", version: 1, previousVersion: null, changes: [] },
      ])
      const plan = yield* get("pro")
      assert.match(plan.id, /^pln_/)
      assert.match(plan.versionId, /^plv_/)
      assert.deepStrictEqual(plan, {
        id: plan.id,
        key,
        name,
        description: null,
        version: 1,
        versionId: plan.versionId,
        hash: plan.hash,
        terms: { ...terms },
        createdAt: NOON,
        updatedAt: NOON,
      })
    }).pipe(inWorld()),
  )

  it.effect("changes nothing when the plan is equal, whatever the order of its fields", () =>
    Effect.gen(function* () {
      yield* push(pro)
      const before = yield* get("pro")
      yield* TestClock.adjust("1 hour")
      const shuffled = Object.fromEntries(Object.entries({ ...pro, trial: undefined }).reverse())
      assert.deepStrictEqual(yield* push(shuffled), [
        { key: "pro", status: "unchanged", version: 1, previousVersion: 1, changes: [] },
      ])
      assert.deepStrictEqual(yield* get("pro"), before)
      assert.deepStrictEqual(yield* numbers("pro"), [1])
    }).pipe(inWorld()),
  )

  it.effect("makes the next version of other terms, and keeps the ones before", () =>
    Effect.gen(function* () {
      const plans = yield* Plans
      yield* push(pro)
      const first = yield* plans.getVersion("pro", 1)
      yield* TestClock.adjust("1 hour")
      const dearer = { ...pro, charges: [{ ...base, price: { EUR: "25.00" } }, calls] }
      const [change] = yield* push(dearer)
      assert.deepStrictEqual(change, {
        key: "pro",
        status: "changed",
        version: 2,
        previousVersion: 1,
        changes: [{ path: "charges.base.price.EUR", from: "20.00", to: "25.00" }],
      })
      assert.strictEqual((yield* get("pro")).version, 2)
      assert.deepStrictEqual(yield* plans.getVersion("pro", 1), first)
      const second = yield* plans.getVersion("pro", 2)
      assert.notStrictEqual(second.hash, first.hash)
      assert.deepStrictEqual(second.createdAt, DateTime.add(NOON, { hours: 1 }))
      // The terms of version 1 again: a new version with the old hash.
      yield* push(pro)
      assert.strictEqual((yield* get("pro")).hash, first.hash)
      assert.deepStrictEqual(yield* numbers("pro"), [3, 2, 1])
    }).pipe(inWorld()),
  )

  it.effect("changes the name and the description without a version", () =>
    Effect.gen(function* () {
      yield* push(pro)
      yield* TestClock.adjust("1 hour")
      const [named] = yield* push({ ...pro, name: "Professional", description: "For teams" })
      assert.deepStrictEqual(named, {
        key: "pro",
        status: "changed",
        version: 1,
        previousVersion: 1,
        changes: [
          { path: "description", from: null, to: "For teams" },
          { path: "name", from: "Pro", to: "Professional" },
        ],
      })
      const plan = yield* get("pro")
      assert.deepInclude(plan, { name: "Professional", description: "For teams", version: 1 })
      assert.deepStrictEqual(plan.updatedAt, DateTime.add(NOON, { hours: 1 }))
      yield* push(pro)
      assert.deepInclude(yield* get("pro"), { name: "Pro", description: null, version: 1 })
      assert.deepStrictEqual(yield* numbers("pro"), [1])
    }).pipe(inWorld()),
  )

  it.effect("leaves plans that are not pushed as they are", () =>
    Effect.gen(function* () {
      yield* push(pro, free)
      const before = yield* get("free")
      yield* push({ ...pro, name: "Other" })
      assert.deepStrictEqual(yield* get("free"), before)
    }).pipe(inWorld()),
  )

  it.effect("refuses all plans when one is wrong, with all problems of all plans", () =>
    Effect.gen(function* () {
      const wrong = {
        ...pro,
        name: "",
        charges: [
          { ...calls, tiers: [{ up_to: "1000" }, { up_to: "1000" }, { up_to: "900" }, {}] },
          { ...base, prise: {} },
        ],
      }
      const found = yield* problems(free, wrong, { ...free, charges: undefined }, { key: "No" }, 7)
      assert.deepStrictEqual(found, [
        "plans.pro.name must be a text of 1 to 200 characters",
        "plans.pro.charges.calls.tiers[1].up_to must be greater than 1000",
        "plans.pro.charges.calls.tiers[2].up_to must be greater than 1000",
        "plans.pro.charges.base.prise is not a known field here (known: key, name, model, timing, minimum, maximum, price)",
        "plans[2].charges is required",
        "plans[3].key must be a lower-case letter, then at most 63 lower-case letters, digits and underscores",
        "plans[3].name is required",
        "plans[3].currencies is required",
        "plans[3].interval is required",
        "plans[3].charges is required",
        "plans[4] must be an object",
      ])
      assert.deepStrictEqual((yield* (yield* Plans).list()).data, [])
    }).pipe(inWorld()),
  )

  it.effect("refuses one key twice, no plan, too many plans, and terms that are too long", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* problems(pro, free, { ...pro, name: "Two" }), [
        `plans[2].key is used twice: "pro"`,
      ])
      const many = Array.from({ length: Plan.MAX_PLANS_PER_PUSH + 1 }, (_, at) => ({
        ...free,
        key: `plan_${at}`,
      }))
      for (const plans of [[], many]) {
        const error = yield* Effect.flip(push(...plans))
        assert.strictEqual(error.message, "plans must be a list of 1 to 50 plans")
      }
      assert.lengthOf(yield* push(...many.slice(1)), Plan.MAX_PLANS_PER_PUSH)
      const tiers = Array.from({ length: 100 }, (_, at) => ({
        ...(at === 99 ? {} : { up_to: String(at + 1) }),
        price: { EUR: `0.${"1".repeat(12)}` },
      }))
      const charges = Array.from({ length: 100 }, (_, at) => ({ ...calls, key: `calls_${at}`, tiers }))
      assert.deepStrictEqual(yield* problems({ ...pro, charges }), [
        `plans.pro must have at most ${Plan.MAX_TERMS_LENGTH} characters as JSON`,
      ])
      const endless = Array.from({ length: 20 }, (_, at) => ({
        ...pro,
        key: `plan_${at}`,
        charges: charges.map((charge) => ({ ...charge, model: "none" })),
      }))
      const listed = yield* problems(...endless)
      assert.lengthOf(listed, Plan.MAX_PROBLEMS + 1)
      assert.strictEqual(listed.at(-1), "plans has more problems than the 1000 that are listed")
    }).pipe(inWorld()),
  )

  it.effect("shares no objects with its caller", () =>
    Effect.gen(function* () {
      const mine = structuredClone(pro)
      yield* push(mine)
      Object.assign(mine.charges[0]!, { price: { EUR: "0" } })
      assert.deepStrictEqual((yield* get("pro")).terms.charges[0], base)
    }).pipe(inWorld()),
  )

  it.effect("at once makes versions without gaps", () =>
    Effect.gen(function* () {
      const prices = Array.from({ length: 12 }, (_, at) => String(at % 6))
      const results = yield* Effect.all(
        prices.map((EUR) => push({ ...pro, charges: [{ ...base, price: { EUR } }] }, free)),
        { concurrency: "unbounded" },
      )
      const made = results.flatMap(([change]) => (change?.status === "unchanged" ? [] : [change?.version]))
      const versions = yield* numbers("pro")
      assert.deepStrictEqual(
        versions,
        Array.from(versions, (_, at) => versions.length - at),
      )
      assert.sameMembers(made, versions)
      assert.deepStrictEqual(yield* numbers("free"), [1])
    }).pipe(inWorld()),
  )

  it.effect("is undone with its transaction", () =>
    Effect.gen(function* () {
      const transactor = yield* Transactor
      yield* push(pro)
      const before = yield* get("pro")
      yield* Effect.flip(
        transactor.atomically(Effect.andThen(push({ ...pro, charges: [] }, free), Effect.fail("no"))),
      )
      assert.deepStrictEqual(yield* get("pro"), before)
      assert.deepStrictEqual(yield* numbers("pro"), [1])
      assert.strictEqual((yield* Effect.flip(get("free"))).message, "no plan has the key free")
    }).pipe(inWorld()),
  )

  it.effect("belongs to an account and a mode", () =>
    Effect.gen(function* () {
      yield* push(pro)
      for (const tenant of [acmeTest, globex]) {
        yield* Effect.gen(function* () {
          yield* Effect.flip(get("pro"))
          assert.strictEqual((yield* push({ ...pro, charges: [] }))[0]?.status, "created")
        }).pipe(as(tenant))
      }
      assert.strictEqual((yield* get("pro")).version, 1)
    }).pipe(inWorld()),
  )
})

describe("Plans.diff", () => {
  it.effect("says what a push would do, and writes nothing", () =>
    Effect.gen(function* () {
      yield* push(pro, free)
      const store = yield* PlanStore
      const before = yield* store.list({ limit: 9, cursor: undefined })
      const next: PlanDefinition = {
        ...pro,
        name: "Professional",
        currencies: ["EUR", "USD"],
        charges: [
          { ...calls, free: "50", tiers: [{ price: { EUR: "0.01", USD: "0.011" } }] },
          { ...base, key: "fee", price: { EUR: "1", USD: "1" } },
        ],
        features: { constructor: { type: "boolean" } } as never,
      }
      const changes = yield* diff(next, free, { ...free, key: "team" })
      const [changed, unchanged, created] = changes
      assert.deepInclude(changed, { key: "pro", status: "changed", version: 2, previousVersion: 1 })
      assert.deepStrictEqual(
        changed?.changes.map(({ path }) => path),
        [
          "charges.base",
          "charges.calls.free",
          "charges.calls.tiers[0].price.USD",
          "charges.calls.tiers[0].up_to",
          "charges.calls.tiers[1]",
          "charges.calls.tiers[2]",
          "charges.fee",
          "currencies",
          "features",
          "name",
        ],
      )
      const byPath = new Map(changed?.changes.map((change) => [change.path, change]))
      assert.deepInclude(byPath.get("charges.base"), { from: base, to: null })
      assert.deepInclude(byPath.get("currencies"), { from: ["EUR"], to: ["EUR", "USD"] })
      assert.deepInclude(byPath.get("charges.calls.tiers[0].up_to"), { from: "1000", to: null })
      assert.deepInclude(unchanged, { key: "free", status: "unchanged" })
      assert.deepInclude(created, { key: "team", status: "created", version: 1 })
      assert.deepStrictEqual(yield* store.list({ limit: 9, cursor: undefined }), before)
      assert.deepStrictEqual(yield* push(next, free, { ...free, key: "team" }), changes)
    }).pipe(inWorld()),
  )

  it.effect("sees that charges have another order", () =>
    Effect.gen(function* () {
      yield* push(pro)
      const [change] = yield* diff({ ...pro, charges: [calls, base] })
      assert.deepStrictEqual(change?.changes, [
        { path: "charges", from: ["base", "calls"], to: ["calls", "base"] },
      ])
      assert.strictEqual(change?.version, 2)
    }).pipe(inWorld()),
  )
})

describe("Plans.list and listVersions", () => {
  it.effect("end a page before it has more than 4 MiB of terms, and miss nothing", () =>
    Effect.gen(function* () {
      const plans = yield* Plans
      const value = "x".repeat(500)
      const features = Object.fromEntries(
        Array.from({ length: 100 }, (_, at) => [`feature_${at}`, { type: "config", value }] as const),
      )
      const large = (at: number) => ({ ...free, key: `plan_${at}`, features })
      const keys = Array.from({ length: 100 }, (_, at) => `plan_${at}`)
      yield* push(...keys.slice(0, 50).map((_, at) => large(at)))
      yield* push(...keys.slice(50).map((_, at) => large(50 + at)))
      const bytes = (page: { readonly data: ReadonlyArray<Plan.Plan> }) =>
        page.data.reduce((sum, { terms }) => sum + JSON.stringify(terms).length, 0)
      const first = yield* plans.list({ limit: 100 })
      assert.isTrue(first.hasMore)
      assert.isAtMost(bytes(first), 4_194_304)
      const startingAfter = first.data.at(-1)!.id
      const rest = yield* plans.list({ limit: 100, startingAfter })
      assert.isFalse(rest.hasMore)
      assert.deepStrictEqual(
        [...first.data, ...rest.data].map(({ key }) => key),
        keys.toReversed(),
      )
      // Upwards the page has the plans that are next to the cursor.
      const endingBefore = rest.data.at(-1)!.id
      const upwards = yield* plans.list({ limit: 100, endingBefore })
      assert.isTrue(upwards.hasMore)
      assert.isAtMost(bytes(upwards), 4_194_304)
      assert.strictEqual(upwards.data.at(-1)?.key, "plan_1")
      assert.strictEqual((yield* plans.list({ limit: 1 })).data.length, 1)
    }).pipe(inWorld()),
  )
})

describe("Plans.get and getVersion", () => {
  it.effect("refuse what does not exist, also text that is no key", () =>
    Effect.gen(function* () {
      const plans = yield* Plans
      yield* push(pro)
      for (const key of ["free", "", "Pro", "a\0b", "x".repeat(100)]) {
        const errors = yield* Effect.all([
          Effect.flip(plans.get(key)),
          Effect.flip(plans.getVersion(key, 1)),
          Effect.flip(plans.listVersions(key)),
        ])
        for (const { message } of errors) assert.strictEqual(message, `no plan has the key ${key}`)
      }
      for (const version of [0, 2, -1, 1.5, Number.NaN, 2 ** 31]) {
        const error = yield* Effect.flip(plans.getVersion("pro", version))
        assert.strictEqual(error.message, `the plan pro has no version ${version}`)
      }
    }).pipe(inWorld()),
  )
})

describe("Plans.preview", () => {
  const preview = (input: Plan.PreviewPlan) => Effect.flatMap(Plans, (plans) => plans.preview(input))

  it.effect("rates the newest version, an older one, or a plan that is not stored", () =>
    Effect.gen(function* () {
      yield* push(pro)
      yield* push({ ...pro, charges: [base] })
      // 2,000 − 100 = 1,900: 1,000 × 0.01 + 900 × 0.005 = 10.00 + 4.50
      const first = yield* preview({ plan: "pro", version: 1, quantities: { calls: 2000 } })
      assert.deepInclude(first, { plan: "pro", version: 1, currency: "EUR", total: 3450n })
      assert.deepStrictEqual(
        first.lines.map(({ amount, charge, exact }) => [charge, amount, exact]),
        [
          ["base", 2000n, "20"],
          ["calls", 1450n, "14.5"],
        ],
      )
      assert.deepStrictEqual(first.lines[1]?.steps.at(-1), { type: "round", digits: 2, amount: "14.5" })
      const newest = yield* preview({ plan: "pro" })
      assert.deepInclude(newest, { version: 2, total: 2000n })
      const given = yield* preview({ plan: { ...pro, key: "other" }, quantities: { calls: "2000" } })
      assert.deepStrictEqual(given, { ...first, plan: "other", version: null })
    }).pipe(inWorld()),
  )

  it.effect("adds what is missing to the plan's minimum of usage", () =>
    Effect.gen(function* () {
      const plan: PlanDefinition = { ...pro, minimum: { EUR: "50.00" } }
      const low = yield* preview({ plan, quantities: { calls: 2000 } })
      // 50.00 − 14.50 of usage; the flat fee does not count.
      assert.deepInclude(low.lines.at(-1), { charge: null, name: "Minimum", amount: 3550n })
      assert.strictEqual(low.total, 7000n)
      const high = yield* preview({ plan, quantities: { calls: 100_000 } })
      // 1,000 × 0.01 + 4,000 × 0.005 + 94,900 × 0.002 = 10 + 20 + 189.80
      assert.lengthOf(high.lines, 2)
      assert.strictEqual(high.total, 2000n + 21_980n)
    }).pipe(inWorld()),
  )

  it.effect("refuses what it can't rate, with every problem", () =>
    Effect.gen(function* () {
      yield* push(pro)
      const refused = (input: unknown) =>
        Effect.map(Effect.flip(preview(input as Plan.PreviewPlan)), (error) =>
          error instanceof InvalidInput && error.problems !== undefined
            ? error.problems.map(({ field, problem }) => `${field} ${problem}`)
            : [error.message],
        )
      assert.deepStrictEqual(
        yield* refused({ plan: "pro", currency: "USD", quantities: { base: 1, callz: 1, constructor: 1 } }),
        [
          "currency must be a currency of the plan: EUR",
          "quantities.base must be left out: a flat fee has no quantity",
          "quantities.callz is not a charge of the plan",
          "quantities.constructor is not a charge of the plan",
        ],
      )
      assert.deepStrictEqual(yield* refused({ plan: "pro", quantities: { calls: "-1" } }), [
        "quantities.calls must be 0 or more",
      ])
      assert.deepStrictEqual(yield* refused({ plan: "pro", quantities: 5 }), [
        `quantities must be an object of quantities by the keys of charges, such as {"seats": 5}`,
      ])
      assert.deepStrictEqual(yield* refused({ plan: { ...pro, charges: [{ ...base, key: "B" }] } }), [
        "plan.charges.B.key must be a lower-case letter, then at most 63 lower-case letters, digits and underscores",
      ])
      assert.deepStrictEqual(yield* refused({ plan: pro, version: 1 }), [
        "version must be left out: only stored plans have versions",
      ])
      assert.deepStrictEqual(yield* refused({ plan: "free" }), ["no plan has the key free"])
      assert.deepStrictEqual(yield* refused({ plan: "pro", version: 2 }), ["the plan pro has no version 2"])
      assert.deepStrictEqual(yield* refused({ plan: "pro", versions: 2 }), ["versions is not a known field"])
      const two = { ...pro, currencies: ["EUR", "USD"], charges: [] }
      assert.deepStrictEqual(yield* refused({ plan: two }), [
        "currency is required: the plan has prices in EUR, USD",
      ])
    }).pipe(inWorld()),
  )
})

describe("the hash of terms", () => {
  it("is the SHA-256 of canonical JSON", () => {
    const { key: _key, name: _name, ...terms } = free
    assert.strictEqual(
      canonicalJson(terms),
      '{"charges":[],"currencies":["EUR"],"interval":{"count":1,"unit":"month"}}',
    )
    // printf '%s' '…' | sha256sum
    assert.strictEqual(Plan.hashOf(terms), "8fc984d883345e5d9dcc65b886ac536a72c0a59a82444553cda64d436a830ba7")
    assert.strictEqual(canonicalJson({ é: 1, z: null, a: [{ b: undefined }] }), '{"a":[{}],"z":null,"é":1}')
  })
})

/**
 * Published versions of plans and rate cards stay as they are, whoever writes to the tables; and what happens at once.
 */
import { Billing, type Plan, Plans, RateCards } from "@billwright/core"
import { Host, PostgresClient, Storage } from "@billwright/postgres"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { Pool } from "pg"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

type PlanDefinition = Plan.PushPlans["plans"][number]

const plan = (price: string, key = "pro"): PlanDefinition => ({
  key,
  name: "Pro",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [{ key: "base", model: "flat", price: { EUR: price } }],
})

/** The services of a process of its own. */
const process = (url: string) =>
  Billing.layer.pipe(
    Layer.provideMerge(Storage.layer()),
    Layer.provide(PostgresClient.layer({ url: Redacted.make(url) })),
  )

const push = (...plans: ReadonlyArray<PlanDefinition>) =>
  Effect.flatMap(Plans, (service) => service.push({ plans })).pipe(asTenant)

const versions = (key = "pro") =>
  Effect.flatMap(Plans, (service) => service.listVersions(key, { limit: 100 })).pipe(asTenant)

/** The SQLSTATE and the message of a refused statement. */
const refusal = (url: string, ...statements: ReadonlyArray<string>) =>
  Effect.promise(() =>
    TestDatabase.execute(url, ...statements).then(
      () => undefined,
      (error: Error & { readonly code?: string }) => ({ code: error.code, message: error.message }),
    ),
  )

const CHANGES: ReadonlyArray<string> = [
  `update billwright.plan_versions set terms = '{}'`,
  `update billwright.plan_versions set hash = hash where version = 1`,
  `delete from billwright.plan_versions`,
  `delete from billwright.plan_versions where version = 1`,
  `truncate billwright.plan_versions`,
  `truncate billwright.plans cascade`,
  `insert into billwright.plan_versions select * from billwright.plan_versions
on conflict (account_id, mode, plan_id, version) do update set terms = '{}'`,
  `merge into billwright.plan_versions v using (select 1) as one on true when matched then delete`,
]

describe("published versions", () => {
  it.live("are neither changed nor removed by a statement, also by one of the owner of the tables", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.make
      yield* Effect.gen(function* () {
        yield* push(plan("20.00"))
        yield* push(plan("25.00"))
        const before = yield* versions()
        for (const statement of CHANGES) {
          const refused = yield* refusal(url, statement)
          assert.strictEqual(refused?.code, "23001", statement)
          assert.include(refused?.message, "a published version of a plan can't be changed or removed")
        }
        // Not hidden behind the trigger: a plan with versions can't be deleted either.
        assert.strictEqual((yield* refusal(url, "delete from billwright.plans"))?.code, "23503")
        assert.deepStrictEqual(yield* versions(), before)
      }).pipe(Effect.provide(process(url)))
    }).pipe(Effect.scoped),
  )

  it.live("are checked by the tables: keys, hashes and numbers", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.make
      yield* Effect.gen(function* () {
        yield* push(plan("20.00"))
        const copy = (changes: Readonly<Record<string, string>>) => {
          const columns = ["account_id", "mode", "id", "plan_id", "version", "hash", "terms", "created_at"]
          return `insert into billwright.plan_versions (${columns.join(", ")})
select ${columns.map((name) => changes[name] ?? name).join(", ")} from billwright.plan_versions`
        }
        const fresh = { id: "gen_random_uuid()", version: "2" }
        const wrong: ReadonlyArray<readonly [string, string]> = [
          [copy({ ...fresh, version: "1" }), "23505"],
          [copy({ ...fresh, id: "id" }), "23505"],
          [copy({ ...fresh, plan_id: "gen_random_uuid()" }), "23503"],
          [copy({ ...fresh, mode: "'test'" }), "23503"],
          [copy({ ...fresh, hash: "'x'" }), "23514"],
          [copy({ ...fresh, terms: "'[]'" }), "23514"],
          [copy({ ...fresh, version: "0" }), "23514"],
          [`update billwright.plans set key = 'No'`, "23514"],
          [`update billwright.plans set name = ''`, "23514"],
        ]
        for (const [statement, code] of wrong) {
          assert.strictEqual((yield* refusal(url, statement))?.code, code, statement)
        }
      }).pipe(Effect.provide(process(url)))
    }).pipe(Effect.scoped),
  )
})

describe("pushes at once", () => {
  it.live("of several processes make no number twice and leave none out", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.make
      const processes = yield* Effect.forEach([1, 2, 3], () => Layer.build(Layer.fresh(process(url))))
      const results = yield* Effect.all(
        processes.flatMap((context, at) =>
          Array.from({ length: 8 }, (_, index) =>
            // In either order of the keys: pushes wait for each other, and never both.
            push(
              ...(index % 2 === 0
                ? [plan(`${at}.${index}`), plan("1", "free")]
                : [plan("1", "free"), plan(`${at}.${index}`)]),
            ).pipe(Effect.provide(context)),
          ),
        ),
        { concurrency: "unbounded" },
      )
      const made = results.map((changes) => changes.find(({ key }) => key === "pro")?.version)
      const all = Array.from({ length: 24 }, (_, index) => index + 1)
      assert.deepStrictEqual(
        made.toSorted((a, b) => Number(a) - Number(b)),
        all,
      )
      const { data } = yield* versions().pipe(Effect.provide(processes[0]!))
      assert.deepStrictEqual(
        data.map(({ version }) => version),
        all.toReversed(),
      )
      assert.lengthOf((yield* versions("free").pipe(Effect.provide(processes[0]!))).data, 1)
    }).pipe(Effect.scoped),
  )
})

describe("a push in a host's transaction", () => {
  it.live("with an older snapshot fails as retryable, and publishes nothing", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.make
      const context = yield* Layer.build(process(url))
      yield* push(plan("20.00")).pipe(Effect.provide(context))
      const pool = new Pool({ connectionString: url, max: 2 })
      const hosted = yield* Layer.build(
        Billing.layer.pipe(Layer.provideMerge(Storage.layerStorage()), Layer.provide(Host.fromPool(pool))),
      )
      const client = yield* Effect.promise(() => pool.connect())
      const query = (sql: string) => Effect.promise(() => client.query(sql))
      yield* query("begin isolation level repeatable read")
      yield* query("select count(*) from billwright.plans")
      yield* push(plan("25.00")).pipe(Effect.provide(context))
      const error = yield* Effect.flip(push(plan("30.00")).pipe(Host.joining(client), Effect.provide(hosted)))
      assert.strictEqual(error._tag, "StorageError")
      assert.isTrue(error._tag === "StorageError" && error.retryable)
      yield* query("rollback")
      client.release()
      const { data } = yield* versions().pipe(Effect.provide(context))
      assert.deepStrictEqual(
        data.map(({ terms, version }) => [version, terms.charges[0]]),
        [
          [2, plan("25.00").charges[0]],
          [1, plan("20.00").charges[0]],
        ],
      )
      yield* Effect.promise(() => pool.end())
    }).pipe(Effect.scoped),
  )
})

describe("published rate cards", () => {
  it.live(
    "keep their terms, whoever writes, and get versions without gaps from pushes of several processes",
    () =>
      Effect.gen(function* () {
        const url = yield* TestDatabase.make
        const pushCard = (input: string) =>
          Effect.flatMap(RateCards, (cards) =>
            cards.push({ rateCards: [{ key: "llm", unit: "credit", models: { large: { input } } }] }),
          ).pipe(asTenant, Effect.provide(process(url)), Effect.scoped)
        yield* Effect.all(["1", "2", "3", "4"].map(pushCard), { concurrency: "unbounded" })
        const stored = () =>
          Effect.flatMap(RateCards, (cards) => cards.list({ key: "llm" })).pipe(
            asTenant,
            Effect.provide(process(url)),
          )
        const { data } = yield* stored()
        assert.sameMembers(
          data.map(({ reference }) => reference),
          ["llm@1", "llm@2", "llm@3", "llm@4"],
        )
        assert.deepStrictEqual(
          data.filter(({ status }) => status === "current").map(({ version }) => version),
          [4],
        )
        for (const change of [
          `update billwright.rate_cards set models = '{}'`,
          `update billwright.rate_cards set unit = 'token' where reference = 'llm@1'`,
          `update billwright.rate_cards set version = '9', reference = 'llm@9' where reference = 'llm@1'`,
        ]) {
          assert.strictEqual((yield* refusal(url, change))?.code, "23001", change)
        }
        assert.isUndefined(yield* refusal(url, `update billwright.rate_cards set name = 'Models'`))
        assert.deepStrictEqual(
          (yield* stored()).data.map(({ models, reference }) => [reference, models]),
          data.map(({ models, reference }) => [reference, models]),
        )
      }).pipe(Effect.scoped),
  )
})

import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
/**
 * `billwright demo`: the year that it tells, and the store that it needs.
 */
import {
  Billing,
  Coupons,
  CreditAudit,
  CurrentTenant,
  Customers,
  Disputes,
  Invoices,
  Payments,
  Plans,
  ReceiptAudit,
  Refunds,
  Subscriptions,
  Tenant,
} from "@billwright/core"
import { Memory } from "@billwright/memory"
import { PostgresClient, Storage } from "@billwright/postgres"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { afterAll, beforeAll } from "vitest"
import * as Company from "../src/demo/Company.ts"
import { requireEmpty } from "../src/demo/Emptiness.ts"
import * as Year from "../src/demo/Year.ts"
import * as Cli from "./Cli.ts"
import { Installation, TIMEOUT } from "./Installation.ts"

const END = DateTime.makeUnsafe("2026-12-01T00:00:00Z")
const TENANT: Tenant.Tenant = { accountId: Tenant.defaultAccountId, mode: "test" }

const directory = mkdtempSync(join(tmpdir(), "billwright-demo-"))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** How many values of a list have each status. */
const countBy = <A>(values: ReadonlyArray<A>, keyOf: (value: A) => string) =>
  Object.fromEntries([...Map.groupBy(values, keyOf)].map(([key, group]) => [key, group.length]))

/** All pages of a list. */
const allOf = <A extends { readonly id: string }, E, R>(
  page: (cursor: {
    readonly startingAfter?: string
  }) => Effect.Effect<{ data: ReadonlyArray<A>; hasMore: boolean }, E, R>,
) =>
  Effect.gen(function* () {
    const all: Array<A> = []
    for (;;) {
      const last = all.at(-1)
      const { data, hasMore } = yield* page(last === undefined ? {} : { startingAfter: last.id })
      all.push(...data)
      if (!hasMore) return all
    }
  })

describe("the year", () => {
  it.live("has customers that pay, owe, grow, pause and leave, and its books are right", () =>
    Effect.gen(function* () {
      const told = yield* Year.tell(END, TENANT, () => Effect.void)
      assert.deepInclude(told, { day: 365, customers: 50 })
      yield* Effect.gen(function* () {
        const customers = yield* (yield* Customers).list({ limit: 100 })
        assert.lengthOf(customers.data, 50)
        assert.lengthOf(new Set(customers.data.map(({ email }) => email)), 50)

        const { list } = yield* Subscriptions
        const subscriptions = yield* allOf((cursor) => list({ ...cursor, limit: 100 }))
        assert.includeMembers(Object.keys(countBy(subscriptions, ({ phase }) => phase)), [
          "active",
          "ended",
          "paused",
          "trialing",
        ])
        const invoices = yield* allOf((cursor) =>
          Effect.flatMap(Invoices, (all) => all.list({ ...cursor, limit: 100 })),
        )
        const byStatus = countBy(invoices, ({ status }) => status)
        assert.isAbove(byStatus["paid"]!, 150)
        assert.isAbove(byStatus["open"]!, 3)
        assert.isTrue(invoices.some(({ pastDueSince }) => pastDueSince !== null))
        const collections = new Set(invoices.map(({ collection }) => collection))
        assert.isTrue(collections.has("retrying") || collections.has("exhausted"), [...collections].join(" "))
        const { data: transfers } = yield* (yield* Payments).list({ limit: 100 })
        assert.isTrue(transfers.some(({ reference }) => reference?.startsWith("transfer for")))
        assert.lengthOf((yield* (yield* Refunds).list()).data, 2)
        assert.lengthOf((yield* (yield* Disputes).list()).data, 0)

        const audit = yield* ReceiptAudit
        let page = yield* audit.page()
        for (;;) {
          assert.deepStrictEqual(page.discrepancies, [])
          if (page.last === null || !page.hasMore) break
          page = yield* audit.page({ startingAfter: page.last })
        }
        const credits = yield* (yield* CreditAudit).page()
        assert.deepStrictEqual(credits.discrepancies, [])
      }).pipe(Effect.provide(Billing.layer), Effect.provideService(CurrentTenant, TENANT))
    }).pipe(Effect.provide(Layer.fresh(Memory.layer))),
  )
})

describe("billwright demo", () => {
  it("fills an empty directory, and refuses it afterwards", async () => {
    const args = ["demo", "--data-dir", join(directory, "data"), "--until", "2026-12-01T00:00:00Z"]
    const first = await Cli.run(args)
    assert.strictEqual(first.code, 0, first.stderr)
    assert.include(first.stdout, "50 customers")
    assert.include(first.stdout, `billwright serve --data-dir ${join(directory, "data")}`)
    const again = await Cli.run(args)
    assert.strictEqual(again.code, 1)
    assert.include(again.stderr, "the demo needs an empty one")
  }, 300_000)
})

describe("billwright demo on a Postgres that is in use", () => {
  const installation = new Installation()
  beforeAll(() => installation.start(), TIMEOUT)
  afterAll(() => installation.stop(), TIMEOUT)

  const client = (url = installation.env["DATABASE_URL"]!) =>
    PostgresClient.layer({ url: Redacted.make(url) })
  /** Migrates a schema, and does something there as another tenant than that of the demo. */
  const used = <E>(schema: string, effect: Effect.Effect<unknown, E, Coupons | Plans | CurrentTenant>) =>
    effect.pipe(
      Effect.provideService(CurrentTenant, { accountId: Tenant.AccountId.make("shop"), mode: "live" }),
      Effect.provide(Billing.layer.pipe(Layer.provide(Storage.layer({ schema })))),
      Effect.provide(client()),
      Effect.runPromise,
    )
  const refused = async (schema: string, tables: string, env: Readonly<Record<string, string>> = {}) => {
    // The store comes from the environment, as on a machine that serves.
    const { code, stderr, stdout } = await Cli.runHere(["demo", "--schema", schema], {
      env: { ...installation.env, BILLWRIGHT_STORE: "postgres", ...env },
    })
    const sentence = `the schema ${schema} has ${tables} already, and the demo needs an empty one: `
    assert.deepStrictEqual([code, stdout], [1, ""])
    assert.include(stderr, `billwright: ${sentence}`)
  }

  it("changes nothing in it, not even a schema of another release", { timeout: TIMEOUT }, async () => {
    await used(
      "older",
      Effect.flatMap(Coupons, (all) =>
        all.create({ code: "HELLO", name: "Hello", percent: "20", duration: "forever" }),
      ),
    )
    await installation.sql(
      "delete from older.schema_migrations where id = (select max(id) from older.schema_migrations)",
      "update older.schema_functions set digest = 'older', release = '0.0.1'",
    )
    const state = Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql`select (select max(id)::text from older.schema_migrations) as migration,
  (select string_agg(distinct digest, ' ') from older.schema_functions) as digests,
  (select count(*)::text from older.plans) as plans`,
    ).pipe(Effect.provide(client()))
    const before = await Effect.runPromise(state)
    await refused("older", "coupons")
    assert.deepStrictEqual(await Effect.runPromise(state), before)
  })

  it("sees plans of others, also with row-level security", { timeout: TIMEOUT }, async () => {
    await used(
      "secured",
      Effect.flatMap(Plans, (plans) => plans.push({ plans: Company.PLANS })),
    )
    await installation.sql(
      "create role deployer login createrole password 'deployer'",
      "grant application to deployer",
      "grant create on database billwright to deployer",
      "create role clerk login password 'clerk'",
    )
    const as = (login: string) => {
      const url = new URL(installation.env["DATABASE_URL"]!)
      url.username = login
      url.password = login
      return { ...installation.env, DATABASE_URL: url.href }
    }
    const roles = ["--roles", "--row-level-security", "on"]
    const secured = await Cli.runHere(["migrate", "--store", "postgres", "--schema", "secured", ...roles], {
      env: as("deployer"),
    })
    assert.strictEqual(secured.code, 0, secured.stderr)
    await installation.sql("grant secured_app to clerk")
    await refused("secured", "plan_versions, plans", as("clerk"))
  })

  it("may be told where a server has started and nobody used it", { timeout: TIMEOUT }, () =>
    Effect.runPromise(Effect.provide(requireEmpty("billwright"), client())),
  )
})

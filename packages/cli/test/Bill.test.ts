import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
/**
 * `billwright bill`, and servers that bill by themselves, on a real Postgres.
 */
import {
  Billing,
  BillingRuns,
  Credits,
  CurrentTenant,
  Customers,
  InvoiceProofs,
  Invoices,
  Meters,
  Plans,
  readSnapshot,
  Subscriptions,
  Tenant,
  Usage,
} from "@billwright/core"
import { PostgresClient, Storage } from "@billwright/postgres"
import { EmbeddedPostgres } from "@billwright/postgres/embedded"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Exit, Layer, ManagedRuntime, Redacted, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { afterAll, beforeAll } from "vitest"
import * as Cli from "./Cli.ts"
import { until } from "./Until.ts"

const TIMEOUT = 60_000

const directory = mkdtempSync(join(tmpdir(), "billwright-bill-"))
const scope = Scope.makeUnsafe()
let env: Record<string, string> = {}
let superuserUrl: Redacted.Redacted

const makeRuntime = (url: Redacted.Redacted<string>) =>
  ManagedRuntime.make(
    Billing.layer.pipe(
      Layer.provideMerge(Storage.layer()),
      Layer.provide(PostgresClient.layer({ url })),
      Layer.merge(Layer.succeed(CurrentTenant, { accountId: Tenant.defaultAccountId, mode: "test" })),
    ),
  )
let runtime: ReturnType<typeof makeRuntime>

beforeAll(async () => {
  chmodSync(directory, 0o755)
  const start = EmbeddedPostgres.start({ directory: join(directory, "data") })
  const server = await Effect.runPromise(Scope.provide(start, scope))
  const { url } = server
  superuserUrl = server.superuserUrl
  env = { DATABASE_URL: Redacted.value(url), ...Cli.ENCRYPTION }
  runtime = makeRuntime(url)
}, TIMEOUT)

afterAll(async () => {
  await runtime.dispose()
  await Effect.runPromise(Scope.close(scope, Exit.void))
  rmSync(directory, { recursive: true, force: true })
}, TIMEOUT)

/** A weekly subscription that began three weeks and a bit ago: an invoice is due, and in some days the next one. */
const subscribe = Effect.gen(function* () {
  yield* (yield* Plans).push({
    plans: [
      {
        key: "weekly",
        name: "Weekly",
        currencies: ["EUR"],
        interval: { unit: "week", count: 1 },
        charges: [{ key: "base", model: "flat", price: { EUR: "5.00" } }],
      },
    ],
  })
  const { id } = yield* (yield* Customers).create({ name: "Ada", email: "ada@example.com" })
  return yield* (yield* Subscriptions).create({
    customerId: id,
    plan: "weekly",
    startAt: DateTime.subtract(yield* DateTime.now, { days: 22 }),
  })
})

const statuses = (subscriptionId: string) =>
  runtime.runPromise(
    Effect.gen(function* () {
      const { data } = yield* (yield* Invoices).list({ limit: 100 })
      return data.filter((invoice) => invoice.subscriptionId === subscriptionId).map(({ status }) => status)
    }),
  )

const bill = (...args: ReadonlyArray<string>) =>
  Cli.runHere(["bill", "--store", "postgres", ...args], { env })

describe("billwright bill", () => {
  it("counts what is due, and then does it", { timeout: TIMEOUT }, async () => {
    const { id } = await runtime.runPromise(subscribe)
    const counted = await bill("--dry-run", "--until", "2100-01-01T00:00:00Z")
    assert.strictEqual(counted.code, 0, counted.stderr)
    assert.strictEqual(
      counted.stdout,
      "Due by 2100-01-01T00:00:00.000Z: 1 subscription and 1 draft invoice. 0 more are set aside, because they failed again and again.\n",
    )
    assert.deepStrictEqual(await statuses(id), ["draft"])
    const early = await bill("--until", "400d", "--json")
    const nothing = { dry_run: false, subscriptions: 0, invoices: 0, failed: 0, has_more: false }
    assert.deepStrictEqual(JSON.parse(early.stdout), nothing)
    const done = await bill("--limit", "10", "--pace", "background")
    assert.strictEqual(done.code, 0, done.stderr)
    assert.strictEqual(done.stdout, "Done: moved 0 subscriptions on, finalized 1 invoice, 0 failed.\n")
    assert.deepStrictEqual(await statuses(id), ["open"])
    const after = await bill("--dry-run", "--json")
    assert.deepInclude(JSON.parse(after.stdout), {
      dry_run: true,
      subscriptions: 0,
      invoices: 0,
      set_aside: 0,
    })
  })

  it("signs proofs of the invoices that it issues, as servers do", { timeout: TIMEOUT }, async () => {
    const { id } = await runtime.runPromise(subscribe)
    const key = (await Cli.runHere(["proofs", "new-key"])).stdout.trim()
    const done = await Cli.runHere(["bill", "--store", "postgres"], {
      env: { ...env, BILLWRIGHT_PROOF_KEYS: key },
    })
    assert.strictEqual(done.code, 0, done.stderr)
    const [proofs, issued] = await runtime.runPromise(
      Effect.all([
        Effect.flatMap(InvoiceProofs, (service) => service.list()),
        Effect.flatMap(Invoices, (service) => service.list({ subscriptionId: id })),
      ]),
    )
    assert.deepStrictEqual(
      proofs.data.map(({ invoiceId }) => invoiceId),
      issued.data.map((invoice) => invoice.id),
    )
    const wrong = await Cli.runHere(["bill", "--store", "postgres"], {
      env: { ...env, BILLWRIGHT_PROOF_KEYS: "prfk_secret" },
    })
    assert.include(wrong.stderr, "BILLWRIGHT_PROOF_KEYS: a key that signs proofs must be")
  })

  it("refuses what makes no sense", { timeout: TIMEOUT }, async () => {
    const [future, both, slow] = await Promise.all([
      bill("--until", "2100-01-01T00:00:00Z"),
      bill("--dry-run", "--limit", "5"),
      bill("--pace", "slow"),
    ])
    assert.strictEqual(future.code, 1)
    assert.include(future.stderr, "billwright: until must not be in the future")
    assert.strictEqual(both.code, 1)
    assert.include(both.stderr, "billwright: --limit and --dry-run can't be used together")
    assert.strictEqual(slow.code, 1)
    assert.include(slow.stderr, "pace")
  })
})

describe("a server", () => {
  it("bills by itself, and with --no-dispatch it does not", { timeout: TIMEOUT }, async () => {
    const { id } = await runtime.runPromise(subscribe)
    const idle = await Cli.serve(["--store", "postgres", "--no-dispatch"], { env })
    assert.strictEqual(await idle.stop(), 0)
    assert.deepStrictEqual(await statuses(id), ["draft"])
    const server = await Cli.serve(["--store", "postgres"], { env })
    await until("the invoice is issued", async () => (await statuses(id))[0] === "open")
    assert.strictEqual(await server.stop(), 0)
  })
})

/** A weekly subscription with usage in its first week, which is billed. */
const billUsage = Effect.gen(function* () {
  yield* (yield* Meters).create({ key: "calls", productId: "api", unit: "call" })
  yield* (yield* Plans).push({
    plans: [
      {
        key: "calls",
        name: "Calls",
        currencies: ["EUR"],
        interval: { unit: "week", count: 1 },
        charges: [{ key: "calls", model: "unit", meter: "calls", price: { EUR: "0.05" } }],
      },
    ],
  })
  const { id: customerId } = yield* (yield* Customers).create({ name: "Ada", email: "ada@example.com" })
  const startAt = DateTime.subtract(yield* DateTime.now, { days: 22 })
  const timestamp = DateTime.add(startAt, { days: 2 })
  yield* (yield* Usage).record({ customerId, productId: "api", unit: "call", quantity: 7, timestamp })
  const { id } = yield* (yield* Subscriptions).create({ customerId, plan: "calls", startAt })
  yield* (yield* BillingRuns).runDue()
  return id
})

describe("billwright audit invoices", () => {
  const audit = (...args: ReadonlyArray<string>) =>
    Cli.runHere(["audit", "invoices", "--store", "postgres", "--mode", "test", ...args], { env })

  it("compares receipts with the usage, and finds what nothing explains", { timeout: TIMEOUT }, async () => {
    const subscriptionId = await runtime.runPromise(billUsage)
    const fine = await audit()
    assert.strictEqual(fine.code, 0, fine.stderr)
    assert.match(fine.stdout, /compared 3 receipts: 0 differ by usage .* later, and 0 by nothing known/)

    const planted = Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql`update billwright.usage_daily set quantity = 8 where quantity = 7`,
    )
    const url = Redacted.make(env["DATABASE_URL"]!)
    await Effect.runPromise(Effect.provide(planted, PostgresClient.layer({ url })))
    const found = await audit("--json")
    assert.strictEqual(found.code, 1)
    const report = JSON.parse(found.stdout) as {
      readonly discrepancies: ReadonlyArray<object>
      readonly last: string
    }
    assert.lengthOf(report.discrepancies, 1)
    assert.deepInclude(report.discrepancies[0], {
      problem: "has another total",
      meter: "calls",
      receipt_total: "7",
      receipt_count: 1,
      records_total: "8",
      records_count: 1,
    })
    assert.include(found.stderr, "1 receipts differ from the records")
    const text = await audit()
    assert.include(text.stdout, "it says 7 in 1 of the meter calls, records 8 in 1")
    // After the last invoice there is nothing left.
    const rest = await audit("--after", report.last)
    assert.strictEqual(rest.code, 0, rest.stderr)
    assert.include(rest.stdout, "read 0 invoices")
    assert.isNotEmpty(await statuses(subscriptionId))
  })
})

describe("billwright catalog diff --months", () => {
  const file = join(directory, "weekly.json")
  const diff = (...args: ReadonlyArray<string>) =>
    Cli.runHere(["catalog", "diff", file, "--store", "postgres", "--months", "1", ...args], { env })

  it("rates the past by the plans of a file, and fails beyond a limit", { timeout: TIMEOUT }, async () => {
    await runtime.runPromise(
      subscribe.pipe(Effect.andThen(Effect.flatMap(BillingRuns, (runs) => runs.runDue()))),
    )
    const plan = {
      key: "weekly",
      name: "Weekly",
      currencies: ["EUR"],
      interval: { unit: "week", count: 1 },
      charges: [{ key: "base", model: "flat", price: { EUR: "5.50" } }],
    }
    writeFileSync(file, JSON.stringify([plan]))
    const text = await diff("--mode", "test")
    assert.match(text.stdout, /^EUR: \d+ before, \d+ after, .*\n  cus_\w+: 1500 before, 1650 after$/m)
    const found = await diff("--mode", "test", "--max-rise", "10%", "--json")
    assert.deepStrictEqual([found.code, found.stderr], [0, ""])
    const compared = JSON.parse(found.stdout) as {
      plans: ReadonlyArray<string>
      unrated: number
      currencies: ReadonlyArray<{
        before: string
        after: string
        customers: number
        rises: number
        largest_rises: ReadonlyArray<{ before: string; after: string }>
      }>
    }
    assert.deepInclude(compared, { plans: ["weekly"], unrated: 0 })
    const [euros] = compared.currencies
    assert.isAbove(Number(euros!.before), 0)
    assert.strictEqual(Number(euros!.after) * 10, Number(euros!.before) * 11)
    assert.strictEqual(euros!.rises, euros!.customers)
    assert.deepInclude(euros!.largest_rises[0], { before: "1500", after: "1650" })

    const over = await diff("--mode", "test", "--max-rise", "9.9%", "--json")
    assert.strictEqual(over.code, 2)
    assert.include(over.stdout, `"after": "${euros!.after}"`)
    assert.strictEqual(over.stderr, "billwright: the total of EUR rises by more than 9.9%\n")
    const without = await diff()
    assert.deepStrictEqual([without.code, without.stdout], [1, ""])
    assert.include(without.stderr, "--months needs --mode")
    const wrong = await diff("--mode", "test", "--max-rise", "5")
    assert.notStrictEqual(wrong.code, 0)
    writeFileSync(file, JSON.stringify([{ ...plan, charges: [{ key: "base", model: "flat" }] }]))
    const invalid = await diff("--mode", "test")
    assert.strictEqual(invalid.code, 1)
    assert.match(invalid.stderr, /plans\.weekly\.charges\.base/)
  })
})

describe("billwright export", () => {
  const run = (...args: ReadonlyArray<string>) =>
    Cli.runHere(["export", "--store", "postgres", "--mode", "test", ...args], { env })

  it("prints a customer for a test, without personal data on request", { timeout: TIMEOUT }, async () => {
    const { id } = await runtime.runPromise(
      Effect.flatMap(Customers, (customers) =>
        customers.create({ name: "Grace Hopper", email: "grace@example.com" }),
      ),
    )
    const all = await run("--customer", id)
    assert.deepStrictEqual([all.code, all.stderr], [0, ""])
    assert.include(all.stdout, "Grace Hopper")
    assert.strictEqual(readSnapshot(all.stdout).customerId, id)
    const without = await run("--customer", id, "--no-personal-data")
    assert.notMatch(without.stdout, /Grace|grace@/)
    assert.strictEqual(readSnapshot(without.stdout).customerId, id)
    const unknown = await run("--customer", `${id.slice(0, -4)}0000`)
    assert.deepStrictEqual([unknown.code, unknown.stdout], [1, ""])
    assert.match(unknown.stderr, /^billwright: .*customer/)
  })
})

describe("billwright audit credits", () => {
  const audit = (...args: ReadonlyArray<string>) =>
    Cli.runHere(["audit", "credits", "--store", "postgres", "--mode", "test", ...args], { env })

  it("compares balances with their entries, and finds a damaged one", { timeout: TIMEOUT }, async () => {
    const { id: customerId } = await runtime.runPromise(
      Effect.flatMap(Customers, ({ create }) => create({ name: "Ada", email: "ada@example.com" })),
    )
    const account = { customerId, unit: "token" }
    await runtime.runPromise(
      Effect.flatMap(Credits, ({ grant }) => grant({ ...account, kind: "paid", amount: 10n })),
    )
    const fine = await audit()
    assert.strictEqual(fine.code, 0, fine.stderr)
    const name = `${customerId}/token`
    assert.include(fine.stdout, `read 1 accounts, the last one is ${name}; 0 differences.`)

    const planted = Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql`with off as materialized (select set_config('session_replication_role', 'replica', true))
update billwright.billing_credit_accounts set available = available + 1 from off`,
    )
    await Effect.runPromise(Effect.provide(planted, PostgresClient.layer({ url: superuserUrl })))
    const found = await audit("--json")
    assert.strictEqual(found.code, 1)
    assert.deepStrictEqual(JSON.parse(found.stdout), {
      accounts: 1,
      discrepancies: [
        {
          customer_id: customerId,
          unit: "token",
          grant_id: null,
          problem: "is not the sum of its entries",
          stated: { available: "11", held: "0", debt: "0" },
          entries: { available: "10", held: "0", debt: "0" },
        },
      ],
      last: name,
      has_more: false,
    })
    assert.include(found.stderr, "1 differences between balances and entries")
    assert.include(
      (await audit()).stdout,
      `${name}: the account is not the sum of its entries: it has 11 available`,
    )
    assert.include((await audit("--after", name)).stdout, "read 0 accounts")
    assert.strictEqual((await audit("--after", "token")).code, 1)
  })
})

describe("billwright books export", () => {
  const books = (...args: ReadonlyArray<string>) =>
    Cli.runHere(["books", "export", "--store", "postgres", "--mode", "test", ...args], { env })

  it("prints the journal, which balances", { timeout: TIMEOUT }, async () => {
    const csv = await books()
    assert.strictEqual(csv.code, 0)
    const [head, ...rows] = csv.stdout.trimEnd().split("\n")
    assert.strictEqual(head, "day,kind,document_id,invoice_id,customer_id,account,currency,amount")
    const cents = rows.map((row) => BigInt(row.slice(row.lastIndexOf(",") + 1).replace(".", "")))
    assert.isNotEmpty(cents)
    assert.strictEqual(
      cents.reduce((sum, amount) => sum + amount, 0n),
      0n,
    )
    const json = await books("--format", "json", "--from", "2026-01-01", "--until", "2099-12-31")
    assert.strictEqual(json.code, 0)
    assert.isNotEmpty(JSON.parse(json.stdout.split("\n")[0]!).postings)
    assert.include((await books("--from", "yesterday")).stderr, "YYYY-MM-DD")
  })
})

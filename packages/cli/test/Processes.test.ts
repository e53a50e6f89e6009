import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
/**
 * Several servers on one Postgres: what is sent to all of them at once counts once, and totals stay exact.
 */
import { EmbeddedPostgres } from "@billwright/postgres/embedded"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Redacted, Scope } from "effect"
import { afterAll, beforeAll } from "vitest"
import * as Cli from "./Cli.ts"

const PROCESSES = 4
const TIMEOUT = 120_000

const directory = mkdtempSync(join(tmpdir(), "billwright-processes-"))
const scope = Scope.makeUnsafe()
let env: Record<string, string> = {}
let servers: ReadonlyArray<Cli.Serving> = []
let key = ""

beforeAll(async () => {
  chmodSync(directory, 0o755)
  const start = EmbeddedPostgres.start({ directory: join(directory, "data") })
  const { url } = await Effect.runPromise(Scope.provide(start, scope))
  env = { DATABASE_URL: Redacted.value(url), ...Cli.ENCRYPTION }
  // All at once on an empty database: one migrates it, all serve.
  servers = await Promise.all(
    Array.from({ length: PROCESSES }, () => Cli.serve(["--store", "postgres"], { env })),
  )
  key = servers.map(({ keys }) => keys.test).find((secret) => secret !== "") ?? ""
}, TIMEOUT)

afterAll(async () => {
  const codes = await Promise.all(servers.map((server) => server.stop()))
  await Effect.runPromise(Scope.close(scope, Exit.void))
  rmSync(directory, { recursive: true, force: true })
  assert.deepStrictEqual(
    codes,
    Array.from({ length: PROCESSES }, () => 0),
  )
}, TIMEOUT)

const serverFor = (n: number): string => servers[n % PROCESSES]!.url

const createCustomer = async (): Promise<string> => {
  const body = { name: "Ada", email: "ada@example.com" }
  return String((await Cli.call(serverFor(0), key, "POST", "/v1/customers", body)).body["id"])
}

const summaryOf = async (customer: string): Promise<string> =>
  (await Cli.call(serverFor(1), key, "GET", `/v1/usage?customer_id=${customer}`)).text

describe(`${PROCESSES} servers on one Postgres`, () => {
  it("make one record of 50 identical posts at once", { timeout: TIMEOUT }, async () => {
    const customer = await createCustomer()
    const record = {
      customer_id: customer,
      product_id: "api",
      quantity: 7,
      unit: "call",
      idempotency_key: "the same",
    }
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => Cli.call(serverFor(n), key, "POST", "/v1/usage", record)),
    )
    const statuses = answers.map(({ status }) => status).sort()
    assert.deepStrictEqual(statuses, [...Array.from({ length: 49 }, () => 200), 201])
    assert.strictEqual(new Set(answers.map(({ body }) => body["id"])).size, 1)
    assert.include(await summaryOf(customer), '"total_quantity":7,')
  })

  it("make one customer of 50 posts with one Idempotency-Key", { timeout: TIMEOUT }, async () => {
    const post = async (n: number): Promise<{ status: number; text: string }> => {
      const response = await fetch(`${serverFor(n)}/v1/customers`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${key}`,
          "content-type": "application/json",
          "idempotency-key": "one-customer",
        },
        body: JSON.stringify({ name: "Grace", email: "grace@example.com" }),
      })
      const text = await response.text()
      // Another is running: the answer says to come back, and the client does.
      return response.status === 409 ? post(n + 1) : { status: response.status, text }
    }
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => post(n)))
    assert.deepStrictEqual([...new Set(answers.map(({ status }) => status))], [201])
    assert.strictEqual(new Set(answers.map(({ text }) => text)).size, 1)
    const found = await Cli.call(serverFor(2), key, "GET", "/v1/customers?email=grace@example.com")
    assert.lengthOf(found.body["data"] as ReadonlyArray<unknown>, 1)
  })

  it("sum 40,000 records of 4 concurrent clients exactly", { timeout: TIMEOUT }, async () => {
    const customer = await createCustomer()
    const batches = 10
    const client = async (n: number) => {
      for (let batch = 0; batch < batches; batch++) {
        const records = Array.from({ length: 1000 }, (_, index) => ({
          customer_id: customer,
          product_id: "api",
          quantity: Number.MAX_SAFE_INTEGER - index,
          unit: "call",
          // Each client repeats the other half of what another one sends.
          idempotency_key: `${Math.floor(n / 2)}-${batch}-${index}`,
        }))
        const { status } = await Cli.call(serverFor(n), key, "POST", "/v1/usage/batch", { records })
        assert.strictEqual(status, 200)
      }
    }
    await Promise.all(Array.from({ length: PROCESSES }, (_, n) => client(n)))
    const each = 1000n * BigInt(Number.MAX_SAFE_INTEGER) - (999n * 1000n) / 2n
    const summary = await summaryOf(customer)
    assert.include(summary, `"total_quantity":${each * BigInt(2 * batches)},`)
    assert.include(summary, `"record_count":${2 * batches * 1000},`)
    const audit = await Cli.run(["audit", "usage", "--store", "postgres"], { env })
    assert.include(audit.stdout, "test: every roll-up equals its records.")
    assert.strictEqual(audit.code, 0)
  })
})

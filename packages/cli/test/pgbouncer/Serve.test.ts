/**
 * The commands with a real PgBouncer in transaction pooling mode.
 */
import { randomBytes } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll, inject } from "vitest"
import * as Cli from "../Cli.ts"
import { isVerified, Receiver } from "../Receiver.ts"
import { Tenant } from "../Tenant.ts"

declare module "vitest" {
  export interface ProvidedContext {
    /** The URL of a database behind PgBouncer. */
    readonly pooledUrl: string
  }
}

const TIMEOUT = 60_000
const unpooled = { DATABASE_URL: inject("pooledUrl"), ...Cli.ENCRYPTION }
const env = { ...unpooled, DATABASE_POOLED: "true" }
const flags = ["--store", "postgres", "--schema", `test_${randomBytes(8).toString("hex")}`]

const receiver = new Receiver()
let servers: ReadonlyArray<Cli.Serving> = []

beforeAll(async () => {
  await receiver.start()
  // They start at the same time without a schema. One of them creates it.
  servers = await Promise.all([1, 2].map(() => Cli.serve(flags, { env })))
}, TIMEOUT)

afterAll(async () => {
  const codes = await Promise.all(servers.map((server) => server.stop()))
  await receiver.stop()
  assert.deepStrictEqual(codes, [0, 0])
}, TIMEOUT)

describe("servers behind PgBouncer", () => {
  it("record usage, total it and deliver events", { timeout: TIMEOUT }, async () => {
    const key = servers.map(({ keys }) => keys.test).find((secret) => secret !== "") ?? ""
    const tenants = servers.map(({ url }) => new Tenant(url, key))
    const [first, second] = [tenants[0]!, tenants[1]!]
    const customer = await first.request("POST", "/customers", { name: "Ada", email: "ada@example.com" })
    const { secret } = await first.endpoint(receiver.url("/pooled"), ["usage.threshold"])
    const meter = { product_id: "api", unit: "call" }
    await first.request("POST", "/usage/thresholds", {
      ...meter,
      customer_id: customer["id"],
      quantity: 200,
      period: "month",
    })
    const record = (n: number) =>
      tenants[n % 2]!.call("POST", "/usage", {
        ...meter,
        customer_id: customer["id"],
        quantity: 1,
        idempotency_key: `key ${n % 300}`,
      })
    const answers = await Promise.all(Array.from({ length: 400 }, (_, n) => record(n)))
    const count = (wanted: number) => answers.filter(({ status }) => status === wanted).length
    assert.deepStrictEqual([count(201), count(200)], [300, 100])
    const summary = await second.request("GET", `/usage?customer_id=${String(customer["id"])}`)
    assert.strictEqual(summary["total_quantity"], 300)
    const request = await receiver.next("/pooled", 1)
    assert.isTrue(await isVerified(request, secret))
    await second.drain()
    assert.lengthOf(receiver.received("/pooled"), 1)
  })

  it("can be used together with commands", { timeout: TIMEOUT }, async () => {
    const audit = await Cli.run(["audit", "usage", ...flags], { env })
    assert.include(audit.stdout, "test: every roll-up equals its records.")
    const migrate = await Cli.run(["migrate", ...flags], { env })
    assert.include(migrate.stdout, "is up to date")
    assert.deepStrictEqual([audit.code, migrate.code], [0, 0], audit.stderr + migrate.stderr)
  })

  it("fail without DATABASE_POOLED, and say so", { timeout: TIMEOUT }, async () => {
    for (const command of [["serve", "--port", "0"], ["migrate"], ["audit", "usage"]]) {
      const { code, stderr } = await Cli.run([...command, ...flags], { env: unpooled })
      assert.strictEqual(code, 1)
      assert.include(stderr, "set DATABASE_POOLED=true")
    }
  })
})

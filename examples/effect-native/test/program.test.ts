import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { Billing, CurrentTenant, Customers, Endpoints, Events, Tenant, Usage } from "@billwright/core"
import { PostgresClient, Storage } from "@billwright/postgres"
import { EmbeddedPostgres } from "@billwright/postgres/embedded"
import { Effect, Layer, Redacted } from "effect"
import { expect, it } from "vitest"

const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url))

const run = async (env: Record<string, string>) => {
  const child = spawn(process.execPath, [MAIN], { env, stdio: ["ignore", "pipe", "pipe"] })
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")])
  return { code: child.exitCode, lines: stdout.trimEnd().split("\n"), stderr }
}

/** Checks the output, which differs only in the id of the customer. Returns the id. */
const expectOneInvoice = ({ code, lines, stderr }: Awaited<ReturnType<typeof run>>): string => {
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  const customerId = /"customer_id":"(cus_\w+)"/.exec(lines[2] ?? "")?.[1] ?? ""
  const data = { invoice_id: `in_${customerId}_1`, customer_id: customerId, amount: 4200, currency: "EUR" }
  expect(lines).toEqual([
    "rolled back: the card was declined",
    "deliveries: 1",
    `received invoice.paid ${JSON.stringify(data)}`,
    "usage: 5 call in 1 record",
  ])
  return customerId
}

it("bills and sends a webhook, in memory", async () => {
  expectOneInvoice(await run({}))
})

it("bills and sends a webhook, on Postgres, each time that it is run", async () => {
  const folder = await mkdtemp(join(tmpdir(), "billwright-effect-native-"))
  await chmod(folder, 0o755) // for root, whose Postgres runs as another user
  const test = Effect.gen(function* () {
    const { url } = yield* EmbeddedPostgres.start({
      directory: join(folder, "data"),
      settings: { fsync: "off" },
    })
    const billed = yield* Effect.promise(async () => {
      const first = expectOneInvoice(await run({ DATABASE_URL: Redacted.value(url) }))
      return [expectOneInvoice(await run({ DATABASE_URL: Redacted.value(url) })), first]
    })
    const stored = Effect.gen(function* () {
      const customers = yield* (yield* Customers).list()
      const events = yield* (yield* Events).list()
      const endpoints = yield* (yield* Endpoints).list()
      const usage = yield* Usage
      const totals = yield* Effect.forEach(customers.data, ({ id }) => usage.summary({ customerId: id }))
      return {
        customers: customers.data.map(({ id }) => id as string),
        events: events.data.map(({ customerId }) => customerId as string | null),
        endpoints: endpoints.data.length,
        totals: totals.map(({ totalQuantity }) => totalQuantity),
      }
    }).pipe(
      Effect.provideService(CurrentTenant, { accountId: Tenant.defaultAccountId, mode: "test" }),
      Effect.provide(
        Billing.layer.pipe(Layer.provide(Storage.layer()), Layer.provide(PostgresClient.layer({ url }))),
      ),
    )
    expect(yield* stored).toEqual({ customers: billed, events: billed, endpoints: 0, totals: [5n, 5n] })
  })
  try {
    await Effect.runPromise(Effect.scoped(test))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

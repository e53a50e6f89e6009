import { type ChildProcess, spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { chmod, mkdir, mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { EmbeddedPostgres } from "@billwright/postgres/embedded"
import { PrismaPg } from "@prisma/adapter-pg"
import { createBilling } from "billwright"
import { postgres } from "billwright/postgres"
import { Effect, Exit, Redacted, Scope } from "effect"
import { Client } from "pg"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { CREATE_ORDERS } from "../src/Order.ts"
import { PrismaClient } from "../src/prisma/generated/client.ts"

const PRODUCTS = ["pg", "postgres.js", "Drizzle", "Kysely", "Prisma", "SQL"]
const POLL_MILLIS = 20

const scope = Scope.makeUnsafe()
let folder: string
let url: string
let admin: Client

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "billwright-host-transaction-"))
  await chmod(folder, 0o755) // for root, whose Postgres runs as another user
  const server = EmbeddedPostgres.start({ directory: join(folder, "data"), settings: { fsync: "off" } })
  url = Redacted.value((await Effect.runPromise(Scope.provide(server, scope))).url)
  admin = await connect()
})

afterAll(async () => {
  await admin.end()
  await Effect.runPromise(Scope.close(scope, Exit.void))
  await rm(folder, { recursive: true, force: true })
})

const connect = async (): Promise<Client> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  return client
}

const start = (
  program: URL,
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string | undefined>>,
): ChildProcess =>
  spawn(process.execPath, [fileURLToPath(program), ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  })

const runMain = async (env: Readonly<Record<string, string | undefined>>) => {
  const child = start(new URL("../src/main.ts", import.meta.url), [], env)
  let [stdout, stderr] = ["", ""]
  child.stdout!.setEncoding("utf8").on("data", (text: string) => (stdout += text))
  child.stderr!.setEncoding("utf8").on("data", (text: string) => (stderr += text))
  const [code] = (await once(child, "close")) as [number | null]
  return { code, stdout, stderr }
}

const outcomes = (stdout: string) =>
  [...stdout.matchAll(/^(\S+) +order (\S+) (committed|rolled back)$/gm)].map(([, product, id, outcome]) => ({
    product: product!,
    id: id!,
    outcome: outcome!,
  }))

const ordersOf = async (id: string) =>
  (await admin.query("select product, customer_id, credits from orders where id = $1", [id])).rows

const usageOf = async (id: string) =>
  (
    await admin.query(
      `select product_id as product, billwright.format_id('cus', customer_id) as customer_id, quantity as credits
      from billwright.usage_records where idempotency_key = $1 and voided_at is null`,
      [`order-${id}`],
    )
  ).rows

/** All recorded usage, from the records and from the roll-ups. */
const billed = async () =>
  (
    await admin.query(
      `select (select sum(quantity) from billwright.usage_records) as records,
        (select sum(quantity) from billwright.usage_daily) as daily`,
    )
  ).rows[0]

/** On a busy machine, a shop takes its time to start. */
const PATIENCE_MILLIS = 50_000

const until = async (what: string, isSo: () => Promise<boolean>): Promise<void> => {
  for (let waited = 0; !(await isSo()); waited += POLL_MILLIS) {
    if (waited > PATIENCE_MILLIS) throw new Error(`waited in vain: ${what}`)
    await wait(POLL_MILLIS)
  }
}

describe("the shops", () => {
  it("commit an order with its usage, or neither of them", async () => {
    const { code, stderr, stdout } = await runMain({ DATABASE_URL: url })
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    expect(stdout).toContain("They agree.")
    const customer = /^customer +(cus_\S+)$/m.exec(stdout)?.[1]
    const all = outcomes(stdout)
    expect(all.map(({ outcome, product }) => [product, outcome])).toEqual(
      PRODUCTS.flatMap((product) => [
        [product, "committed"],
        [product, "rolled back"],
      ]),
    )
    let total = 0n
    for (const { id, outcome, product } of all) {
      const credits = Number.MAX_SAFE_INTEGER - PRODUCTS.indexOf(product)
      const rows =
        outcome === "committed" ? [{ product, customer_id: customer, credits: String(credits) }] : []
      expect(await ordersOf(id), `${product} ${outcome}`).toEqual(rows)
      expect(await usageOf(id), `${product} ${outcome}`).toEqual(rows)
      if (outcome === "committed") total += BigInt(credits)
    }
    expect(await billed()).toEqual({ records: String(total), daily: String(total) })
    expect(stdout).toMatch(new RegExp(`^all +${total} +${total}$`, "m"))
  })

  it("start a temporary database without DATABASE_URL, and remove it", async () => {
    const temporary = join(folder, "temporary")
    await mkdir(temporary)
    const { code, stderr, stdout } = await runMain({ DATABASE_URL: undefined, TMPDIR: temporary })
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    expect(outcomes(stdout)).toHaveLength(2 * PRODUCTS.length)
    expect(stdout).toContain("They agree.")
    expect(await readdir(temporary)).toEqual([])
  })
})

describe("a shop that is killed", () => {
  let customer: string
  beforeAll(async () => {
    const { stdout } = await runMain({ DATABASE_URL: url })
    customer = /^customer +(cus_\S+)$/m.exec(stdout)![1]!
  })

  const startOrder = (product: string) => {
    const id = randomUUID()
    const child = start(new URL("./place-order.ts", import.meta.url), [url, product, id, customer], {})
    child.stderr!.pipe(process.stderr)
    const kill = async (): Promise<void> => {
      if (child.exitCode !== null) return
      const exit = once(child, "exit")
      child.kill("SIGKILL")
      await exit
    }
    return { id, child, kill }
  }

  /** When all other connections have ended, nothing more can be committed. */
  const expectNothingOf = async (id: string, before: unknown): Promise<void> => {
    const others = `select 1 from pg_stat_activity where datname = current_database()
      and backend_type = 'client backend' and pid <> pg_backend_pid()`
    await until("the killed shop's connections end", async () => (await admin.query(others)).rowCount === 0)
    expect(await ordersOf(id)).toEqual([])
    expect(await usageOf(id)).toEqual([])
    expect(await billed()).toEqual(before)
  }

  it.each(PRODUCTS)("on %s between the order and its usage stores neither", async (product) => {
    const before = await billed()
    // A lock on the customer makes usage wait, but not orders.
    const holder = await connect()
    await holder.query("begin")
    const hold = "select 1 from billwright.customers where id = billwright.parse_id('cus', $1) for update"
    await holder.query(hold, [customer])
    const { id, kill } = startOrder(product)
    try {
      // A backend with a transaction number has written its order.
      const waiting =
        "select 1 from pg_stat_activity where wait_event_type = 'Lock' and backend_xid is not null"
      await until("the shop waits to record", async () => (await admin.query(waiting)).rowCount === 1)
    } finally {
      await kill()
      await holder.end()
    }
    await expectNothingOf(id, before)
  })

  it.each(PRODUCTS)("on %s after both and before the commit stores neither", async (product) => {
    const before = await billed()
    const { child, id, kill } = startOrder(product)
    try {
      const [text] = (await Promise.race([once(child.stdout!, "data"), once(child, "exit")])) as [unknown]
      expect(String(text)).toBe("before the commit\n")
    } finally {
      await kill()
    }
    await expectNothingOf(id, before)
  })
})

describe("createBilling", () => {
  it("joins a transaction of Prisma, which commits and rolls back the writes of both", async () => {
    await admin.query(CREATE_ORDERS)
    const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: url }) })
    const billing = await createBilling({ store: postgres({ url }), dispatcher: false })
    try {
      const { id: customerId } = await billing.customers.create({ name: "Ada", email: "ada@example.com" })
      const place = (id: string, check: () => void) =>
        prisma.$transaction(async (tx) => {
          await tx.order.create({ data: { id, customerId, product: "Prisma", credits: 5n } })
          const usage = { customerId, productId: "Prisma", unit: "credit", idempotencyKey: `order-${id}` }
          await billing.transaction(tx, async (inside) => {
            await inside.usage.record({ ...usage, quantity: 5 })
          })
          check()
        })
      const [kept, undone] = [randomUUID(), randomUUID()]
      await place(kept, () => {})
      const calledOff = new Error("the customer thinks better of it")
      const placed = place(undone, () => {
        throw calledOff
      })
      await expect(placed).rejects.toBe(calledOff)

      const rows = [{ product: "Prisma", customer_id: customerId, credits: "5" }]
      expect(await ordersOf(kept)).toEqual(rows)
      expect(await usageOf(kept)).toEqual(rows)
      expect(await ordersOf(undone)).toEqual([])
      expect(await usageOf(undone)).toEqual([])
    } finally {
      await billing.close()
      await prisma.$disconnect()
    }
  })
})

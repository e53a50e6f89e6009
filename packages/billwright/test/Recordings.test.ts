/**
 * Compares the results and errors of calls for customers and usage thresholds with recorded ones, for the Promise API
 * and for the client. `npm run record` records an intended change.
 */
import { fileURLToPath } from "node:url"
import { inspect } from "node:util"
import { createClient } from "billwright/client"
import { createTestBilling } from "billwright/testing"
import { describe, expect, it } from "vitest"

const recording = (name: string): string => fileURLToPath(new URL(`recordings/${name}`, import.meta.url))

const UNKNOWN = "0".repeat(26)

type Calls = Pick<Awaited<ReturnType<typeof createTestBilling>>, "customers" | "thresholds">

/** The result or error of a promise. Ids are replaced by their order. */
const makeTell = () => {
  const ids = new Map<string, string>()
  const nameOf = (id: string): string => {
    if (id.endsWith(UNKNOWN)) return id
    const name = ids.get(id) ?? `${id.slice(0, 3)}_${ids.size + 1}`
    ids.set(id, name)
    return name
  }
  const lines: Array<string> = []
  const tell = async <A>(name: string, outcome: Promise<A>): Promise<A | undefined> => {
    let value: A | undefined
    let told: unknown
    try {
      value = await outcome
      told = value
    } catch (error) {
      const { cause: _cause, message, name: type, stack: _stack, ...fields } = error as Error
      told = { type, message, ...fields }
    }
    const text = inspect(told, { depth: 5, sorted: true, breakLength: 100 })
    lines.push(`${name}\n${text.replaceAll(/\b[a-z]{3}_[0-7][0-9a-z]{25}\b/g, nameOf)}\n`)
    return value
  }
  return { lines, tell }
}

const allOf = async <A>(items: AsyncIterable<A>): Promise<Array<A>> => {
  const all: Array<A> = []
  for await (const item of items) all.push(item)
  return all
}

const record = async ({ customers, thresholds }: Calls, use: (id: string) => Promise<unknown>) => {
  const { lines, tell } = makeTell()
  const unknown = `cus_${UNKNOWN}`
  const input = { name: "Ada", email: "ada@example.com", metadata: { plan: "pro" } }
  const ada = await tell("customers.create", customers.create(input))
  const id = ada?.id ?? ""
  await tell("customers.create, bad", customers.create({ ...input, email: "ada" }))
  await tell("customers.create, nothing", customers.create({} as never))
  await tell("customers.get", customers.get(id))
  await tell("customers.get, unknown", customers.get(unknown))
  await tell("customers.get, no id", customers.get("nobody"))
  await tell("customers.update", customers.update(id, { name: "Ada King", metadata: { plan: null } }))
  await tell("customers.update, bad", customers.update(id, { name: "" }))
  await tell("customers.update, unknown", customers.update(unknown, { name: "Nobody" }))
  await tell("customers.list", customers.list({ email: "ada@example.com" }).page())
  await tell("customers.list, bad", customers.list({ limit: 0 }).page())
  await tell("customers.list, all", allOf(customers.list()))

  const meter = { customerId: id, productId: "api", unit: "call" }
  const watched = { ...meter, quantity: 10, period: "month" } as const
  const threshold = await tell("thresholds.create", thresholds.create(watched))
  await tell(
    "thresholds.create, large",
    thresholds.create({ ...watched, unit: "byte", quantity: 10n ** 30n }),
  )
  await tell("thresholds.create, bad", thresholds.create({ ...watched, quantity: 0 }))
  await tell("thresholds.create, a fraction", thresholds.create({ ...watched, quantity: 0.5 }))
  await tell("thresholds.create, nobody's", thresholds.create({ ...watched, customerId: unknown }))
  for (let made = 0; made < 99; made++) await thresholds.create(watched)
  await tell("thresholds.create, too many", thresholds.create(watched))
  await use(id)
  await tell("thresholds.get, fired", thresholds.get(threshold?.id ?? ""))
  await tell("thresholds.get, unknown", thresholds.get(`thr_${UNKNOWN}`))
  await tell("thresholds.list", thresholds.list({ customerId: id, limit: 1 }).page())
  await tell("thresholds.list, bad", thresholds.list({ startingAfter: unknown }).page())
  await tell("thresholds.delete", thresholds.delete(threshold?.id ?? ""))
  await tell("thresholds.delete, again", thresholds.delete(threshold?.id ?? ""))
  await tell("customers.erase", customers.erase(id))
  await tell("customers.erase, again", customers.erase(id))
  await tell("customers.erase, unknown", customers.erase(unknown))
  await tell("customers.get, erased", customers.get(id))
  await tell("thresholds.create, erased", thresholds.create(watched))
  return lines.join("\n")
}

const usage = (customerId: string) => ({ customerId, productId: "api", unit: "call", quantity: 12 })

describe("customers and usage thresholds", () => {
  it("answer as recorded by the Promise API", async () => {
    await using billing = await createTestBilling()
    const told = await record(billing, (id) => billing.usage.record(usage(id)))
    await expect(told).toMatchFileSnapshot(recording("promises.txt"))
  })

  it("answer as recorded by the client", async () => {
    await using billing = await createTestBilling()
    const { secret } = await billing.keys.create({ name: "recorder" })
    const client = createClient({
      url: "http://localhost",
      apiKey: secret,
      fetch: (url, init) => billing.fetch(new Request(url, init)),
    })
    const told = await record(client, (id) => client.usage.record(usage(id)))
    const requests = told.replaceAll(/req_\d+/g, "req_…")
    await expect(requests).toMatchFileSnapshot(recording("client.txt"))
  })
})

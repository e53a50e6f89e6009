/**
 * Tests the README: the billing that it adds to an app works on a real Postgres. And docs/tour.md, which must run as
 * printed against the server of `npm start`. docs-examples.test.ts runs the TypeScript of both.
 */
import { assert, describe, it, onTestFailed, onTestFinished } from "@effect/vitest"
import { applied, blocks, freePort, read, root, startPostgres, startServer } from "./Documents.ts"
import { runExample } from "./Examples.ts"
import { Terminal } from "./Terminal.ts"

const readme = read("README.md")
const tour = read("docs/tour.md")

/** Ids differ from run to run. */
const withoutIds = (text: string): string => text.replace(/\b(cus|usg|evt|whe|dlv)_[0-9a-z]{26}\b/g, "$1_…")

/** Times differ, too, and the document has more white space. Everything else must be as printed. */
const settle = (json: string): string =>
  withoutIds(json)
    .replace(/("(?:[^"\\]|\\.)*")|\s+/g, "$1")
    .replace(/"(created_at|updated_at|finished_at)":"[^"]*"/g, '"$1":"…"')

/** Whether deliveries are still being sent. A reader of the tour looks a moment later. */
const isPending = async (url: string, key: string): Promise<boolean> => {
  const headers = { authorization: `Bearer ${key}` }
  const response = await fetch(`${url}/v1/deliveries?status=Pending`, { headers })
  return ((await response.json()) as { readonly data: ReadonlyArray<unknown> }).data.length > 0
}

const [diff = ""] = blocks(readme, "diff")

/** What the test does with the app. The first two orders are of a customer, the third is of an unknown one. */
const TRIAL = `
process.env["NODE_ENV"] = "test" // Express prints errors otherwise.
await pool.query("create table orders (id text primary key)")
const { id: customerId } = await billing.customers.create({ name: "Ada Lovelace", email: "ada@example.com" })
const { port } = server.address()
const url = "http://127.0.0.1:" + port
const order = async (id, customerId) => {
  const body = JSON.stringify({ id, customerId, cents: 1250 })
  const response = await fetch(url + "/orders", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  })
  return response.status
}
console.log(await order("one", customerId), await order("two", customerId), await order("three", "cus_none")) // 201 201 500
console.log((await pool.query("select count(*)::int as n from orders")).rows[0].n) // 2
console.log((await billing.usage.summary({ customerId })).totalQuantity) // 2n
console.log((await billing.events.list().page()).data.map(({ data }) => data.invoice_id).join()) // two,one
console.log((await fetch(url + "/billing/readyz")).status, (await fetch(url + "/billing/v1/usage")).status) // 200 401
console.log((await fetch(url + "/admin/billing")).headers.has("content-security-policy")) // true
// Only billing listens to this pool: a lost connection must not end the process.
const other = new Pool({ connectionString: process.env["DATABASE_URL"] })
const lost = new Promise((resolve) => pool.once("remove", resolve))
const end = "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and backend_type = $1"
await other.query(end, ["client backend"])
await Promise.all([lost, other.end()])
console.log((await billing.usage.summary({ customerId })).recordCount) // 2
process.emit("SIGTERM")
`

describe("docs/first-invoice.md", () => {
  it("does on Postgres what it does in memory", { timeout: 120_000 }, async () => {
    const [inMemory = "", onPostgres = ""] = blocks(read("docs/first-invoice.md"), "ts")
    const [, steps] = inMemory.split(/^const billing = .*$/m)
    const importOfPlans = 'import { definePlan } from "billwright"'
    assert.include(inMemory, importOfPlans)
    const server = await startPostgres()
    try {
      runExample([importOfPlans, onPostgres, steps].join("\n"), { DATABASE_URL: server.url })
    } finally {
      await server.stop()
    }
  })
})

describe("README.md: in your app", () => {
  it("adds fewer than 20 lines", () => {
    const added = diff.match(/^\+/gm) ?? []
    assert.isAtLeast(added.length, 5)
    assert.isBelow(added.length, 20)
  })

  it("works", { timeout: 120_000 }, async () => {
    const code = applied(diff)
    const server = await startPostgres()
    try {
      runExample(`${code.replace("listen(3000)", 'listen(0, "127.0.0.1")')}${TRIAL}`, {
        DATABASE_URL: server.url,
      })
    } finally {
      await server.stop()
    }
  })
})

describe("docs/tour.md", () => {
  it("runs as printed", { timeout: 120_000 }, async () => {
    const { key, stop, url } = await startServer()
    onTestFinished(stop)
    const terminal = new Terminal(root)
    // Also when the test takes too long: what still runs would keep the run of all tests from ending.
    onTestFinished(() => terminal.close())
    onTestFailed(() => console.error([...terminal.lines, terminal.errors].join("\n")))
    const port = String(await freePort())
    const mine = (code: string) =>
      code
        .replace("the test key that npm start printed", key)
        .replaceAll("http://127.0.0.1:4100", url)
        .replaceAll(/\b3000\b/g, port)
    // Whole numbers: the port of this run may begin with 4100, too.
    assert.notMatch(mine(tour), /:4100\b/)
    const told: Array<string> = []
    for (const [, language, code = ""] of tour.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)) {
      if (language === "sh") {
        await terminal.run(mine(code))
        if (/&$/m.test(code)) await terminal.shows(`listening on http://127.0.0.1:${port}`)
        while (await isPending(url, key));
      } else if (language === "json") {
        assert.strictEqual(
          settle(terminal.lines.findLast((line) => line.startsWith("{")) ?? ""),
          settle(code),
        )
      } else {
        told.push(code.trim())
        await terminal.shows(new RegExp(`^${code.split(" ")[0]} `))
      }
    }
    assert.strictEqual(terminal.errors, "")
    const lines = terminal.lines.filter((line) => /^(verified|repeated|refused) /.test(line))
    assert.deepStrictEqual(lines.map(withoutIds), told.map(withoutIds))
    // The output of the last one is shown.
    assert.lengthOf(
      terminal.lines.filter((line) => line.startsWith('{"error"')),
      1,
    )
  })
})

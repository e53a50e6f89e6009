/** Pages for payers of `billwright serve`, and the commands that make links to them, on a server in memory. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Cli from "./Cli.ts"

const TIMEOUT = 120_000
const ADDRESS = "http://localhost/pay"
const directory = mkdtempSync(join(tmpdir(), "billwright-payer-"))
const at = (name: string): string => join(directory, name)
let server: Cli.Serving

beforeAll(async () => {
  writeFileSync(at("theme.json"), JSON.stringify({ theme: { accent: "#7a1fa2" }, allow: { usage: false } }))
  const pages = ["--payer-pages", ADDRESS, "--payer-theme", at("theme.json")]
  const limits = ["--rate-limit", "100", "--trusted-proxies", "127.0.0.0/8"]
  server = await Cli.serve(["--store", "memory", ...pages, ...limits])
}, TIMEOUT)
afterAll(async () => {
  await server.stop()
  rmSync(directory, { recursive: true, force: true })
}, TIMEOUT)

const run = (...args: ReadonlyArray<string>) =>
  Cli.runHere(args, { env: { BILLWRIGHT_URL: server.url, BILLWRIGHT_API_KEY: server.keys.test } })
const print = async (...args: ReadonlyArray<string>): Promise<string> => {
  const { code, stderr, stdout } = await run(...args)
  assert.deepStrictEqual([code, stderr], [0, ""])
  return stdout.trim()
}
const idOf = async (...args: ReadonlyArray<string>): Promise<string> =>
  String((JSON.parse(await print(...args, "--json")) as { readonly id: string }).id)
/** Opens a link at the server, which listens on another port than the address of the test says. */
const open = async (url: string) => {
  const answer = await fetch(url.replace("http://localhost", server.url))
  return { status: answer.status, headers: answer.headers, html: await answer.text() }
}

describe("billwright serve --payer-pages", () => {
  it(
    "shows an invoice and a customer's pages by links that commands make",
    { timeout: TIMEOUT },
    async () => {
      assert.include(server.stdout(), `Payer pages:   ${ADDRESS}\n`)
      const ada = ["--name", "Ada Lovelace", "--email", "ada@example.com", "--country", "DE"]
      const customer = await idOf("customers", "create", ...ada)
      const line = ["--currency", "EUR", "--line", "90000 Workshop"]
      const invoice = await idOf("invoices", "create", "--customer", customer, ...line)
      assert.match(
        (await run("invoices", "link", invoice)).stderr,
        /the invoice is draft \(409 conflict\)\n$/,
      )
      await print("invoices", "finalize", invoice, "--yes")

      const link = await print("invoices", "link", invoice, "--language", "de", "--expires-in-seconds", "60")
      assert.isTrue(link.startsWith(`${ADDRESS}/invoices/i.`), link)
      const page = await open(link)
      assert.strictEqual(page.status, 200)
      assert.include(page.html, "--accent: #7a1fa2")
      assert.include(page.html, "900,00\u00a0€ zu zahlen")
      assert.strictEqual(page.headers.get("referrer-policy"), "no-referrer")
      assert.strictEqual((await open(`${link}x`)).status, 404)

      const portal = await open(await print("customers", "portal-link", customer))
      assert.strictEqual(portal.status, 200)
      assert.include(portal.html, "Ada Lovelace")
      const answer = JSON.parse(await print("customers", "portal-link", customer, "--json")) as object
      assert.deepInclude(answer, { object: "payer_link", livemode: false })
      // A path that only begins like that of the pages is not theirs.
      assert.notInclude((await open(`${ADDRESS}ments`)).html, "This link is not valid")
      assert.match(
        (await run("invoices", "link", invoice, "--language", "xx")).stderr,
        /^billwright: language /,
      )
      // Logs have no links in them.
      assert.notInclude(server.stdout() + server.stderr(), "/pay/invoices/")
    },
  )

  it("knows where a payer comes from, behind the proxies of --trusted-proxies", async () => {
    const call = async (path: string, body?: object) => {
      const headers = { authorization: `Bearer ${server.keys.test}`, "content-type": "application/json" }
      const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }
      return (await (await fetch(`${server.url}/v1${path}`, { headers, ...init })).json()) as {
        readonly id: string
        readonly data: ReadonlyArray<object>
      }
    }
    const plan = {
      key: "pro",
      name: "Pro",
      currencies: ["EUR"],
      interval: { unit: "month", count: 1 },
      charges: [{ key: "base", model: "flat", price: { EUR: "20.00" } }],
    }
    await call("/catalog/push", { plans: [plan] })
    const customer = await call("/customers", { name: "Ada", email: "ada@example.com" })
    const subscription = await call("/subscriptions", { customer_id: customer.id, plan: "pro" })
    const portal = await print("customers", "portal-link", customer.id)
    const canceled = await fetch(
      `${portal.replace("http://localhost", server.url)}/cancel/${subscription.id}`,
      {
        method: "POST",
        headers: { "sec-fetch-site": "same-origin", "x-forwarded-for": "203.0.113.7" },
        redirect: "manual",
      },
    )
    assert.strictEqual(canceled.status, 303)
    const { data } = await call(`/audit_log?object_id=${subscription.id}&actor_id=${customer.id}`)
    assert.lengthOf(data, 1)
    assert.deepInclude(data[0], { actor_type: "payer", ip: "203.0.113.7" })
  })

  it("says what is wrong with its flags", { timeout: TIMEOUT }, async () => {
    const refused = async (flags: ReadonlyArray<string>, sentence: RegExp, env = {}) => {
      const { code, stderr } = await Cli.runHere(["serve", "--port", "0", ...flags], { env })
      assert.match(stderr, sentence)
      assert.strictEqual(code, 1)
    }
    const memory = ["--store", "memory"]
    const pages = ["--payer-pages", ADDRESS]
    await refused([...memory, "--payer-theme", "x.json"], /--payer-theme needs --payer-pages/)
    await refused([...memory, "--payer-pages", "http://shop.example/pay"], /--payer-pages: .* with https/)
    for (const path of ["", "/", "/v1", "/invoices/x"]) {
      const flags = [...memory, "--payer-pages", `https://shop.example${path}`]
      await refused(flags, /must have a path of its own, such as \/pay/)
    }
    const keys = { BILLWRIGHT_PAYER_LINK_KEYS: "secret" }
    await refused([...memory, ...pages], /^billwright: the link keys are not valid: entry 1/, keys)
    await refused(["--store", "postgres", ...pages], /needs keys that sign links: run/, {
      ...Cli.ENCRYPTION,
      DATABASE_URL: "postgres://127.0.0.1:1/none",
    })
    writeFileSync(at("wrong.json"), JSON.stringify({ theme: { accent: "#ffff00" } }))
    await refused(
      [...memory, ...pages, "--payer-theme", at("wrong.json")],
      /^billwright: --payer-theme .*wrong\.json: payerPages\.theme\.accent must have a contrast of at least 4\.5/,
    )
    await refused([...memory, ...pages, "--payer-theme", at("none.json")], /none\.json can't be read/)
  })
})

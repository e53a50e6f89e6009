/** The shop as a process, without a browser. */
import { randomUUID } from "node:crypto"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { EmbeddedPostgres } from "@billwright/postgres/embedded"
import { Effect, Exit, Redacted, Scope } from "effect"
import { Client } from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Shop, startShop } from "./Shop.ts"

const scope = Scope.makeUnsafe()
let folder: string
let databaseUrl: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "billwright-checkout-"))
  await chmod(folder, 0o755) // for root, whose Postgres runs as another user
  const server = EmbeddedPostgres.start({ directory: join(folder, "data"), settings: { fsync: "off" } })
  const { superuserUrl: url } = await Effect.runPromise(Scope.provide(server, scope))
  const admin = new Client({ connectionString: Redacted.value(url) })
  await admin.connect()
  const password = randomUUID()
  await admin.query(`create role shop login password '${password}'`)
  await admin.query("create database shop owner shop")
  await admin.end()
  databaseUrl = Object.assign(new URL(Redacted.value(url)), {
    username: "shop",
    password,
    pathname: "/shop",
  }).href
})
afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  await rm(folder, { recursive: true, force: true })
})

/** A customer with a cookie, who follows no redirect. */
class Visitor {
  #shop: Shop
  #cookie = ""

  constructor(shop: Shop) {
    this.#shop = shop
  }

  /** The shop was started again, somewhere else. */
  goTo(shop: Shop): void {
    this.#shop = shop
  }

  async get(path: string) {
    return this.#answer(
      await fetch(new URL(path, this.#shop.url), { headers: { cookie: this.#cookie }, redirect: "manual" }),
    )
  }

  async post(path: string, form: Record<string, string> = {}) {
    return this.#answer(
      await fetch(new URL(path, this.#shop.url), {
        method: "POST",
        headers: { cookie: this.#cookie },
        body: new URLSearchParams(form),
        redirect: "manual",
      }),
    )
  }

  async signUp(email = `${randomUUID()}@example.com`) {
    return this.post("/sign-up", { name: "Ada <b>", email, next: "/account" })
  }

  /** Saves a card on the page of Stripe. Gives the way back to the shop. */
  async saveCard(card: string, from = "/checkout/reader"): Promise<string> {
    const { location: page } = await this.post(`${from}/page`)
    const { location } = await this.post(page, { card })
    return location
  }

  async #answer(response: Response) {
    const [cookie] = response.headers.getSetCookie()
    if (cookie !== undefined) this.#cookie = cookie.split(";")[0] ?? ""
    const location = response.headers.get("location") ?? ""
    return { status: response.status, location, text: await response.text() }
  }
}

const methodIn = (path: string): string => new URL(path).searchParams.get("method") ?? ""

for (const store of ["memory", "Postgres"]) {
  const start = () => startShop(store === "memory" ? {} : { DATABASE_URL: databaseUrl })

  describe(`the checkout on ${store}`, () => {
    it("sells a plan once, however often the customer clicks", async () => {
      await using shop = await start()
      const ada = new Visitor(shop)
      const first = await ada.get("/checkout/reader")
      assert.strictEqual(first.location, `/sign-up?next=${encodeURIComponent("/checkout/reader")}`)
      assert.strictEqual((await ada.signUp()).location, "/account")
      assert.include((await ada.get("/account")).text, "Ada &#60;b&#62;")
      const back = await ada.saveCard("4242424242424242")
      assert.include((await ada.get(back)).text, "Visa ending in 4242")
      const form = { method: methodIn(back) }
      const clicks = await Promise.all([1, 2, 3].map(() => ada.post("/checkout/reader", form)))
      const orders = new Set(clicks.map(({ location }) => location))
      const [order = ""] = [...orders].filter((path) => path.startsWith("/orders/"))
      assert.deepStrictEqual(
        [...orders].filter((path) => ![order, "/account"].includes(path)),
        [],
      )
      assert.include((await ada.get(order)).text, "Thank you")
      const { text } = await ada.get("/account")
      assert.strictEqual(text.split("€5.00").length - 1, 1)
      const [, invoice = ""] = /href="(\/account\/invoices\/[^"]+)"/.exec(text) ?? []
      const { location: link } = await ada.get(invoice)
      assert.isTrue(link.startsWith(`${shop.url}/billing/invoices/`), link)
      assert.include((await ada.get(link)).text, "Paid. Thank you!")
      const eve = new Visitor(shop)
      await eve.signUp()
      assert.strictEqual((await eve.get(invoice)).status, 404)
      assert.notInclude((await eve.get((await eve.get("/account/billing")).location)).text, "Reader")
      assert.strictEqual((await eve.get(order)).status, 404)
      assert.strictEqual((await eve.post(`${order}/confirmation`)).status, 404)
      const stolen = await eve.post("/checkout/reader", form)
      assert.strictEqual(stolen.status, 400)
      assert.include(stolen.text, "No card was saved")
      assert.strictEqual(await shop.stop(), 0)
      assert.deepStrictEqual(shop.complaints, [])
    })
  })
}

describe("the checkout", () => {
  it("keeps users, plans and invoices in Postgres", async () => {
    const email = `${randomUUID()}@example.com`
    let ada: Visitor
    let order: string
    {
      await using shop = await startShop({ DATABASE_URL: databaseUrl })
      ada = new Visitor(shop)
      await ada.signUp(email)
      const back = await ada.saveCard("4242424242424242")
      order = (await ada.post("/checkout/reader", { method: methodIn(back) })).location
      assert.include((await ada.get(order)).text, "Thank you")
    }
    await using shop = await startShop({ DATABASE_URL: databaseUrl })
    ada.goTo(shop)
    assert.include((await ada.get(order)).text, "Thank you")
    assert.match((await ada.get("/account")).text, /<strong>Reader<\/strong>[\s\S]+Visa ending in 4242/)
    const again = await new Visitor(shop).signUp(email)
    assert.strictEqual(again.status, 400)
    assert.include(again.text, "Somebody has signed up with this address.")
  })

  it("says what is wrong with what is typed, and goes to no other site", async () => {
    await using shop = await startShop()
    const ada = new Visitor(shop)
    assert.include((await ada.post("/sign-up", { name: " ", email: "a@b.c" })).text, "tell us your name")
    assert.include((await ada.post("/sign-up", { name: "Ada", email: "ada" })).text, "e-mail address")
    for (const next of ["https://evil.example/", "//evil.example", "/\\evil.example"]) {
      const form = { name: "Ada", email: `${randomUUID()}@example.com`, next }
      assert.strictEqual((await new Visitor(shop).post("/sign-up", form)).location, "/account")
    }
    await ada.signUp()
    assert.strictEqual((await ada.get("/checkout/nothing")).status, 404)
    assert.strictEqual((await ada.get("/nothing")).status, 404)
    const none = await ada.post("/checkout/reader", { method: "mtd_1" })
    assert.include(none.text, "No card was saved")
    assert.strictEqual((await ada.get("/checkout/reader/return")).location, "/checkout/reader?card=none")
  })

  it("starts with your account of Stripe only if all of its keys are there", async () => {
    const key = ["sk", "test", "1"].join("_")
    const failed = await startShop({ STRIPE_SECRET_KEY: key }).catch((error: Error) => error.message)
    assert.include(failed, "STRIPE_SECRET_KEY also needs STRIPE_PUBLISHABLE_KEY and STRIPE_WEBHOOK_SECRET")
  })

  it("takes no webhook that Stripe has not signed", async () => {
    await using shop = await startShop()
    const send = (headers: Record<string, string>) =>
      fetch(`${shop.url}/webhooks/stripe`, { method: "POST", headers, body: "{}" })
    assert.strictEqual((await send({})).status, 400)
    assert.strictEqual((await send({ "stripe-signature": "t=1,v1=00" })).status, 400)
  })
})

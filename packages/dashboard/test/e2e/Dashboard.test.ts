import type { Browser, Locator } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it, vi } from "vitest"
import { launch, openTab, PHONE, signIn } from "./Browser.ts"
import * as Host from "./Host.ts"
import { HOSTILE_BODY } from "./Sample.ts"

/** How long to wait for something that should happen soon. */
const SOON = { timeout: 10_000 }

let browser: Browser
let host: Host.Host
beforeAll(async () => {
  browser = await launch()
  host = await Host.start()
})
afterAll(async () => {
  await browser.close()
  await host.close()
})

const visit = async (path = "/", key = host.testKey) => {
  const tab = await openTab(browser)
  await signIn(tab.page, `${host.url}${path}`, key)
  return tab
}

const createCustomer = async (name: string) =>
  String((await host.call("POST", "/customers", { name, email: `${name.toLowerCase()}@example.com` }))["id"])

describe("signing in", () => {
  it("refuses a text that is not a key, and a key that the API doesn't know", async () => {
    const { context, page } = await openTab(browser)
    await page.goto(host.url)
    await page.getByLabel("API key").fill("secret")
    await page.keyboard.press("Enter")
    await page.getByText("This is not an API key").waitFor()
    await page.getByLabel("API key").fill(`sk_${"test"}_${"0".repeat(38)}`)
    await page.keyboard.press("Enter")
    const alert = page.getByRole("alert")
    await alert.getByText("a valid API key is required").waitFor()
    assert.match((await alert.textContent()) ?? "", /req_[0-9a-z]{26}/)
    await context.close()
  })

  it("keeps the key only in sessionStorage, and sends it only to this origin", async () => {
    const { context, page, problems, requests } = await visit()
    await page.getByRole("link", { name: "Events", exact: true }).click()
    await page.getByRole("heading", { name: "Events", exact: true }).waitFor()
    const stores = await page.evaluate(() => ({
      local: JSON.stringify({ ...localStorage }),
      session: JSON.stringify({ ...sessionStorage }),
      address: location.href,
      cookie: document.cookie,
    }))
    assert.include(stores.session, host.testKey)
    for (const store of [stores.local, stores.address, stores.cookie]) assert.notInclude(store, host.testKey)
    for (const { headers, url } of requests) {
      assert.isTrue(url.startsWith(`${host.url}/`), url)
      assert.notInclude(url, host.testKey)
      if (!url.startsWith(`${host.url}/v1/`)) assert.notInclude(JSON.stringify(headers), host.testKey)
    }
    assert.deepEqual(problems, [])
    await context.close()
  })

  it("shows the mode, and no objects of the other mode", async () => {
    await createCustomer("Testonly")
    const live = await visit("/customers", host.liveKey)
    await live.page.getByText("Live data").waitFor()
    await live.page.getByRole("heading", { name: "No customers yet" }).waitFor()
    assert.notInclude(await live.page.title(), "[Test]")
    await live.context.close()
    const test = await visit("/customers")
    await test.page.getByText("Test data").waitFor()
    await test.page.getByRole("link", { name: "Testonly" }).waitFor()
    assert.include(await test.page.title(), "[Test]")
    await test.context.close()
  })

  it("is left to a host that authenticates the operator", async () => {
    const own = await Host.start({ signIn: "host" })
    const { context, page, problems, requests } = await openTab(browser)
    await page.goto(`${own.url}/customers`)
    await page.getByRole("heading", { name: "No customers yet" }).waitFor()
    await page.getByText("Test data").waitFor()
    assert.strictEqual(await page.getByRole("button", { name: "Sign out" }).count(), 0)
    for (const { headers, url } of requests) {
      assert.notProperty(headers, "authorization")
      assert.strictEqual(headers["billwright-dashboard"], url.includes("/v1/") ? "1" : undefined, url)
    }
    assert.deepEqual(problems, [])
    // The host no longer accepts the operator.
    await own.revokeTestKey()
    await page.getByRole("heading", { name: "Signed out" }).waitFor({ timeout: 20_000 })
    assert.strictEqual(await page.getByRole("link").count(), 0)
    await context.close()
    await own.close()
  })

  it("ends with the key", async () => {
    const own = await Host.start()
    const { context, page } = await openTab(browser)
    await signIn(page, own.url, own.testKey)
    await own.revokeTestKey()
    await page.getByRole("heading", { name: "Sign in" }).waitFor({ timeout: 20_000 })
    await page.getByText("no longer accepts this key").waitFor()
    assert.strictEqual(await page.evaluate(() => JSON.stringify({ ...sessionStorage })), "{}")
    await context.close()
    await own.close()
  })
})

describe("customers", () => {
  it("are created, edited, found by a part of name or e-mail, and erased", async () => {
    const { context, page, problems } = await visit("/customers")
    await page.getByRole("button", { name: "New customer" }).click()
    await page.getByLabel("Name", { exact: true }).fill("Mary Shelley")
    await page.getByLabel("E-mail", { exact: true }).last().fill("mary@example.com")
    await page.getByLabel("Metadata").fill("plan=pro")
    await page.getByRole("button", { name: "Create customer" }).click()
    await page.getByRole("heading", { name: "Mary Shelley" }).waitFor()

    await page.getByRole("button", { name: "Edit…" }).click()
    await page.getByLabel("Name", { exact: true }).fill("Mary W. Shelley")
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByRole("heading", { name: "Mary W. Shelley" }).waitFor()

    await page.keyboard.press("/")
    await page.keyboard.type("w. SHELL")
    await page.keyboard.press("Enter")
    await page.getByText("1 in all").waitFor()
    await page.getByLabel("Name or e-mail", { exact: true }).fill("mary@exam")
    await page.keyboard.press("Enter")
    await page.getByText("1 in all").waitFor()
    assert.include(page.url(), "search=mary%40exam")
    await page.getByRole("link", { name: "Mary W. Shelley" }).click()

    await page.getByRole("button", { name: "Erase…" }).click()
    const erase = page.getByRole("button", { name: "Erase for good" })
    assert.isTrue(await erase.isDisabled())
    await page.getByLabel("Type mary@example.com to confirm").fill("mary@example.com")
    await erase.click()
    await page.getByRole("heading", { name: "Customers" }).waitFor()
    await page.getByRole("link", { name: "Mary W. Shelley" }).waitFor({ state: "detached" })
    assert.deepEqual(problems, [])
    await context.close()
  })

  it("show the API's message and the Request-Id after an error", async () => {
    const { context, page } = await visit(`/customers/cus_${"0".repeat(26)}`)
    const alert = page.getByRole("alert")
    await alert.getByText(/no customer has the id/i).waitFor()
    assert.match((await alert.textContent()) ?? "", /req_[0-9a-z]{26}/)
    await context.close()
  })
})

describe("usage", () => {
  it("is shown in a chart, exact beyond 2^53, and a void removes it", async () => {
    const customer_id = await createCustomer("Hypatia")
    const record = { customer_id, product_id: "storage", unit: "byte", quantity: Number.MAX_SAFE_INTEGER }
    await host.call("POST", "/usage/batch", { records: [record, record] })
    const { context, page, problems } = await visit(`/usage?customer=${customer_id}`)
    const chart = page.getByRole("img", { name: /storage by day/ })
    await page.getByRole("img", { name: "storage by day, in byte: 18,014,398,509,481,982 in all" }).waitFor()
    const before = await chart.screenshot()

    await host.call("POST", "/usage", { ...record, quantity: 1, product_id: "storage" })
    await page.getByRole("img", { name: "storage by day, in byte: 18,014,398,509,481,983 in all" }).waitFor()

    await page.getByRole("button", { name: "Void…" }).first().click()
    await page.getByRole("alertdialog").getByRole("button", { name: "Void the record" }).click()
    await page.getByRole("img", { name: "storage by day, in byte: 18,014,398,509,481,982 in all" }).waitFor()
    await page.getByRole("button", { name: "Void…" }).first().click()
    await page.getByRole("alertdialog").getByRole("button", { name: "Void the record" }).click()
    await page.getByRole("img", { name: "storage by day, in byte: 9,007,199,254,740,991 in all" }).waitFor()
    assert.isFalse(before.equals(await chart.screenshot()), "the chart has not changed")
    assert.deepEqual(problems, [])
    await context.close()
  })

  it("has thresholds with their progress", async () => {
    const customer_id = await createCustomer("Archimedes")
    await host.call("POST", "/usage", { customer_id, product_id: "api", unit: "call", quantity: 40 })
    const { context, page } = await visit("/usage")
    await page.getByRole("button", { name: "Choose a customer…" }).click()
    await page.getByLabel("Find").fill("archi")
    await page
      .getByRole("dialog")
      .getByRole("button", { name: /Archimedes/ })
      .click()
    await page.getByRole("button", { name: "New threshold" }).click()
    await page.getByLabel("Product and unit").selectOption({ label: "api · call" })
    await page.getByLabel("Fires at").fill("160")
    await page.getByRole("button", { name: "Create threshold" }).click()
    await page.getByText("40 of 160 · 25 %").waitFor()
    await context.close()
  })
})

describe("webhooks", () => {
  it("fail, show the receiver's answer only as text, are replayed and arrive", async () => {
    const receiver = await Host.startReceiver()
    Object.assign(receiver.answer, { status: 500, body: HOSTILE_BODY, contentType: "text/html" })
    const { context, page, problems } = await visit("/endpoints")
    await page.getByRole("button", { name: "New endpoint" }).click()
    await page.getByLabel("URL", { exact: true }).fill(`${receiver.url}/hooks`)
    await page.getByRole("button", { name: "Create endpoint" }).click()
    const secret = page.getByRole("alertdialog", { name: "Signing secret" })
    assert.match((await secret.textContent()) ?? "", /whsec_/)
    await secret.getByRole("button", { name: "I have copied it" }).click()

    await page.getByRole("link", { name: `${receiver.url}/hooks` }).click()
    await page.getByRole("button", { name: "Send test event…" }).click()
    await page.getByLabel("Type").selectOption("invoice.paid")
    await page.getByRole("button", { name: "Send test event", exact: true }).click()
    await page.getByRole("heading", { name: "invoice.paid" }).waitFor()
    await page.locator(".delivery-card .badge.failed").waitFor()
    await page.getByText("Attempt 2").waitFor()
    const body = page.getByRole("region", { name: "Body of the answer to attempt 2" })
    assert.strictEqual(await body.textContent(), HOSTILE_BODY)
    assert.strictEqual(await body.locator("*").count(), 0)
    assert.isUndefined(await page.evaluate(() => (window as { hacked?: number }).hacked))

    Object.assign(receiver.answer, { status: 200, body: "thanks" })
    const event = page.url()
    const isDelivered = page.getByText("Delivered: the receiver answered HTTP 200 to attempt 1.")
    await page.locator(".delivery-card").getByRole("button", { name: "Replay" }).click()
    await isDelivered.waitFor()
    await page.goto(event)
    await page.getByText("Test event for").waitFor()
    await page.getByRole("button", { name: "Replay…" }).click()
    await page.getByText("This is a test event. It is sent only to its own endpoint.").waitFor()
    await page.getByRole("dialog").getByRole("button", { name: "Replay", exact: true }).click()
    await isDelivered.waitFor()
    await page.goto(event)
    await page.locator(".delivery-card .badge.delivered").nth(1).waitFor()
    assert.strictEqual(await page.locator(".delivery-card").count(), 3)
    assert.deepEqual(problems, [])
    await context.close()
    await receiver.close()
  })

  it("have headers that can be replaced and are never shown", async () => {
    const receiver = await Host.startReceiver()
    const endpoint = await host.call("POST", "/webhook_endpoints", {
      url: `${receiver.url}/headers`,
      event_types: ["invoice.paid"],
      headers: { "x-tenant": "tenant-one" },
    })
    const { context, page, problems } = await visit(`/endpoints/${String(endpoint["id"])}`)
    const sendTest = async (): Promise<string | undefined> => {
      const before = receiver.headers.length
      await host.call("POST", `/webhook_endpoints/${String(endpoint["id"])}/test`, { type: "invoice.paid" })
      await vi.waitFor(() => assert.isAbove(receiver.headers.length, before), SOON)
      return receiver.headers.at(-1)?.["x-tenant"] as string | undefined
    }
    const edit = async (change: (form: Locator) => Promise<void>) => {
      await page.getByRole("button", { name: "Edit…" }).click()
      const form = page.getByRole("dialog")
      await change(form)
      await form.getByRole("button", { name: "Save" }).click()
      await form.waitFor({ state: "detached" })
    }
    assert.strictEqual(await sendTest(), "tenant-one")
    // They stay unchanged, although their values are not visible.
    await edit((form) => form.getByLabel("Description (optional)").fill("Bookkeeping"))
    await page.getByText("Bookkeeping").waitFor()
    assert.strictEqual(await sendTest(), "tenant-one")
    await edit(async (form) => {
      // Another server must not get the headers.
      await form.getByLabel("URL").fill("http://127.0.0.1:9/")
      await form.getByText("Can’t be kept for another server: x-tenant").waitFor()
      assert.isTrue(await form.getByRole("button", { name: "Save" }).isDisabled())
      await form.getByLabel("URL").fill(`${receiver.url}/headers`)
      assert.isTrue(await form.getByRole("button", { name: "Save" }).isEnabled())
    })
    assert.strictEqual(await sendTest(), "tenant-one")
    await edit(async (form) => {
      await form.getByLabel("Replace all of them").check()
      await form.getByRole("textbox", { name: "Headers" }).fill("no header")
      await form.getByRole("button", { name: "Save" }).click()
      await form.getByText("Headers must be lines such as x-tenant: 42").waitFor()
      await form.getByRole("textbox", { name: "Headers" }).fill("X-Tenant: tenant-two")
    })
    assert.strictEqual(await sendTest(), "tenant-two")
    assert.notInclude(await page.content(), "tenant-")
    await edit((form) => form.getByLabel("Replace all of them").check())
    assert.isUndefined(await sendTest())
    assert.deepEqual(problems, [])
    await context.close()
    await receiver.close()
  })

  it("are disabled with the reason, enabled, and replayed for a range with a count", async () => {
    const receiver = await Host.startReceiver()
    receiver.answer.status = 503
    const endpoint = await host.call("POST", "/webhook_endpoints", {
      url: `${receiver.url}/range`,
      event_types: ["invoice.paid"],
    })
    const id = String(endpoint["id"])
    for (let count = 0; count < 3; count++)
      await host.call("POST", `/webhook_endpoints/${id}/test`, { type: "invoice.paid" })
    const { context, page, problems } = await visit(`/endpoints/${id}`)
    await page.locator(".line .badge.failed").nth(2).waitFor()
    await page.getByRole("button", { name: "Disable…" }).click()
    await page.getByRole("button", { name: "Disable", exact: true }).click()
    await page.getByText("Somebody disabled it.").waitFor()
    await page.getByRole("button", { name: "Enable…" }).click()
    await page.getByRole("button", { name: "Enable", exact: true }).click()
    receiver.answer.status = 200
    await page.getByRole("button", { name: "Replay…" }).click()
    await page.getByText("3 events to be sent.").waitFor()
    await page.getByRole("button", { name: "Replay 3 events", exact: true }).click()
    await page.getByText("3 deliveries are on their way").waitFor()
    await page.getByRole("heading", { name: "Deliveries" }).waitFor()
    await page.locator(".row .badge.delivered").nth(2).waitFor()
    assert.deepEqual(problems, [])
    await context.close()
    await receiver.close()
  })
})

describe("events", () => {
  it("appear while the list is shown, and are filtered and found", async () => {
    const receiver = await Host.startReceiver()
    const customer_id = await createCustomer("Emmy")
    const types = (await host.call("GET", "/event_types"))["data"] as ReadonlyArray<Record<string, unknown>>
    const publish = async (name: string) => {
      const data = types.find(({ type }) => type === name)?.["example"]
      return String((await host.call("POST", "/events", { type: name, data, customer_id }))["id"])
    }
    const first = await publish("payment.succeeded")
    const { context, page, problems } = await visit(`/events?customer=${customer_id}`)
    await page.getByText("1 in all").waitFor()
    const url = `${receiver.url}/late`
    await host.call("POST", "/webhook_endpoints", { url, event_types: ["invoice.created"] })
    const second = await publish("invoice.created")
    await page.getByRole("link", { name: "invoice.created" }).waitFor()
    await page.getByText("2 in all").waitFor()
    // The results of its deliveries are visible without a click.
    await page.locator(".row", { hasText: second }).locator(".badge.delivered").waitFor()

    await page.getByLabel("Delivery").selectOption("Delivered")
    await page.getByText(second).waitFor()
    await page.getByText("1 in all").waitFor()
    await page.getByLabel("Type").selectOption("payment.succeeded")
    await page.getByRole("heading", { name: "No events match these filters" }).waitFor()
    assert.include(page.url(), "status=Delivered")
    await page.getByRole("button", { name: "Clear filters" }).click()
    await page.getByLabel("To", { exact: true }).fill("2020-01-01")
    await page.getByRole("heading", { name: "No events match these filters" }).waitFor()

    await page.getByLabel("Search by id, name or e-mail address").fill(first)
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "payment.succeeded" }).waitFor()
    await page.getByText(first).first().waitFor()
    await page.goBack()
    await page.getByRole("heading", { name: "Events", exact: true }).waitFor()
    assert.strictEqual(await page.getByLabel("To", { exact: true }).inputValue(), "2020-01-01")
    assert.deepEqual(problems, [])
    await context.close()
    await receiver.close()
  })
})

describe("getting about", () => {
  it("works by keyboard, and the back button goes back", async () => {
    const { context, page } = await visit()
    await page.keyboard.press("g")
    await page.keyboard.press("c")
    await page.getByRole("heading", { name: "Customers" }).waitFor()
    await page.locator(".row-link").nth(1).waitFor()
    await page.keyboard.press("j")
    await page.keyboard.press("j")
    const second = await page.locator(".row-link").nth(1).textContent()
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { level: 1, name: second ?? "" }).waitFor()
    await page.keyboard.press("k")
    await page.getByRole("heading", { level: 1, name: second ?? "" }).waitFor({ state: "detached" })
    await page.goBack()
    await page.getByRole("heading", { level: 1, name: second ?? "" }).waitFor()
    await page.keyboard.press("?")
    await page.getByRole("dialog", { name: "Keyboard" }).waitFor()
    await page.keyboard.press("Escape")
    await page.getByRole("dialog").waitFor({ state: "detached" })
    await context.close()
  })

  it("works below any path, also from a deep link", async () => {
    const mounted = await Host.start({ basePath: "/billing/dashboard", apiPath: "/billing" })
    const { context, page, problems } = await openTab(browser)
    await signIn(page, `${mounted.url}/customers?search=nobody%40example.com`, mounted.testKey)
    await page.getByRole("heading", { name: "No customer has “nobody@example.com”" }).waitFor()
    await page.getByRole("link", { name: "Events", exact: true }).click()
    await page.getByRole("heading", { name: "No events yet" }).waitFor()
    assert.strictEqual(page.url(), `${mounted.url}/events`)
    assert.deepEqual(problems, [])
    await context.close()
    await mounted.close()
  })

  it("keeps only few rows of a long list in the document while it is scrolled", async () => {
    const records = (customer_id: string) =>
      Array.from({ length: 1_000 }, (_, quantity) => ({
        customer_id,
        product_id: "api",
        unit: "call",
        quantity,
      }))
    const customer = await createCustomer("Euclid")
    for (let batch = 0; batch < 3; batch++)
      await host.call("POST", "/usage/batch", { records: records(customer) })
    const { context, page } = await visit(`/usage?customer=${customer}`)
    const frame = page.locator(".records .table-frame")
    await frame.waitFor()
    const foot = page.locator(".records .table-foot")
    await foot.getByText(/loaded, more below/).waitFor()
    // Scrolls to the end repeatedly, until everything is loaded.
    while (/more/i.test((await foot.textContent()) ?? ""))
      await frame.evaluate(
        (element) =>
          new Promise((drawn) => {
            element.scrollBy(0, 100_000)
            requestAnimationFrame(drawn)
          }),
      )
    await page.locator(".records").getByText("3,000 in all").waitFor()
    assert.isBelow(await frame.locator(".row").count(), 60)
    await context.close()
  })

  it("fits a phone", async () => {
    const { context, page } = await openTab(browser, { viewport: PHONE })
    await signIn(page, host.url, host.testKey)
    await createCustomer("Rosalind")
    await page.getByRole("link", { name: "Customers" }).click()
    await page.getByRole("link", { name: "Rosalind" }).waitFor()
    assert.isTrue(await page.getByRole("link", { name: "Customers" }).isVisible())
    await context.close()
  })
})

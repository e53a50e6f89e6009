/**
 * Actions on the pages lead to their results, and errors are shown at their fields.
 */
import type { Browser } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { launch, openTab, signIn } from "./Browser.ts"
import * as Host from "./Host.ts"

let browser: Browser
let host: Host.Host
let receiver: Awaited<ReturnType<typeof Host.startReceiver>>
beforeAll(async () => {
  browser = await launch()
  host = await Host.start()
  receiver = await Host.startReceiver()
})
afterAll(async () => {
  await browser.close()
  await host.close()
  await receiver.close()
})

const visit = async (path: string) => {
  const tab = await openTab(browser)
  await signIn(tab.page, `${host.url}${path}`, host.testKey)
  return tab
}

const post = async (path: string, body: unknown): Promise<string> =>
  String((await host.call("POST", path, body))["id"])

const createEndpoint = (path: string): Promise<string> =>
  post("/webhook_endpoints", { url: `${receiver.url}${path}`, event_types: ["invoice.paid"] })

/** Sends a test event to an endpoint. Returns the id of the event. */
const sendTest = (endpoint: string): Promise<string> =>
  post(`/webhook_endpoints/${endpoint}/test`, { type: "invoice.paid" })

const deliveryOf = async (event: string): Promise<string> => {
  const { data } = await host.call("GET", `/deliveries?event_id=${event}`)
  return String((data as ReadonlyArray<Record<string, unknown>>)[0]?.["id"])
}

describe("a replay", () => {
  it("opens the new delivery, and shows its result beside its payload", async () => {
    Object.assign(receiver.answer, { status: 500, body: "the warehouse is on fire" })
    const failed = await deliveryOf(await sendTest(await createEndpoint("/replayed")))
    const { context, page, problems } = await visit(`/deliveries/${failed}`)
    await page
      .getByText("Failed for good after 2 attempts: the last attempt of the schedule failed.")
      .waitFor()
    const answer = page.getByRole("region", { name: "Body of the answer to attempt 2" })
    const payload = page.getByRole("region", { name: "Payload of the event" })
    assert.strictEqual(await answer.textContent(), "the warehouse is on fire")
    assert.include((await payload.textContent()) ?? "", '"type": "invoice.paid"')
    const [left, right] = [await answer.boundingBox(), await payload.boundingBox()]
    assert.isBelow((left?.x ?? 0) + (left?.width ?? 0), right?.x ?? 0, "not beside each other")

    Object.assign(receiver.answer, { status: 202, body: "put out" })
    await page.getByRole("button", { name: "Replay" }).click()
    await page
      .getByRole("status")
      .getByText("Delivered: the receiver answered HTTP 202 to attempt 1.")
      .waitFor()
    assert.notInclude(page.url(), failed)
    assert.match(page.url(), /\/deliveries\/dlv_/)
    await page.goBack()
    await page.getByText("Failed for good after 2 attempts").waitFor()
    assert.deepEqual(problems, [])
    await context.close()
  })

  it("can't be started without events", async () => {
    receiver.answer.status = 200
    const { context, page } = await visit(`/endpoints/${await createEndpoint("/nothing-failed")}`)
    await page.getByRole("button", { name: "Replay…" }).click()
    await page.getByText("There are no events to send in this time.").waitFor()
    assert.isTrue(await page.getByRole("button", { name: "Replay", exact: true }).isDisabled())
    await context.close()
  })
})

describe("a delivery", () => {
  it("has no next attempt while one is under way", async () => {
    Object.assign(receiver.answer, { status: 200, body: "" })
    receiver.hold()
    const delivery = await deliveryOf(await sendTest(await createEndpoint("/held")))
    const { context, page } = await visit(`/deliveries/${delivery}`)
    await page.getByText("Attempt 1 is under way.").waitFor()
    assert.strictEqual(await page.getByText("Next attempt").count(), 0)
    receiver.release()
    await page.getByText("Delivered: the receiver answered HTTP 200 to attempt 1.").waitFor()
    await context.close()
  })
})

describe("an action that the operator may not do", () => {
  it("is off, and its button says why by mouse and by keyboard", async () => {
    const id = await createEndpoint("/of-support")
    const { context, page, problems } = await openTab(browser)
    await signIn(page, `${host.url}/endpoints/${id}`, await host.issueTestKey("support"))
    const button = (name: string) => page.getByRole("button", { name })
    const reason = "You may not do this: you need the permission webhooks:write."
    await button("Delete…").waitFor()
    assert.strictEqual(await button("Delete…").getAttribute("title"), reason)
    assert.isTrue(await button("Delete…").isDisabled())
    await button("Delete…").press("Enter")
    await page.getByRole("status").getByText(reason).waitFor()
    assert.strictEqual(await page.getByRole("alertdialog").count(), 0)

    // Support may send again.
    await button("Replay…").click()
    await page.getByRole("dialog").waitFor()
    assert.deepEqual(problems, [])
    await context.close()
  })
})

describe("an endpoint", () => {
  it("is not shown as failing after one failure", async () => {
    const own = await Host.start({ maxAttempts: 1 })
    const created = await own.call("POST", "/webhook_endpoints", {
      url: `${receiver.url}/once`,
      event_types: ["invoice.paid"],
    })
    const id = String(created["id"])
    receiver.answer.status = 500
    await own.call("POST", `/webhook_endpoints/${id}/test`, { type: "invoice.paid" })
    const { context, page } = await openTab(browser)
    await signIn(page, `${own.url}/endpoints/${id}`, own.testKey)
    await page.getByText("The last attempt failed. None has succeeded since").waitFor()
    await page.locator(".page-title .badge", { hasText: "Enabled" }).waitFor()
    await page.goto(`${own.url}/endpoints`)
    await page.locator(".endpoint-row .badge", { hasText: "Enabled" }).waitFor()
    assert.strictEqual(await page.getByText("Failing").count(), 0)
    await context.close()
    await own.close()
  })
})

describe("an error", () => {
  it("is shown at its field, with the name of the label, and the field has the focus", async () => {
    const { context, page, problems } = await visit("/endpoints")
    await page.getByRole("button", { name: "New endpoint" }).first().click()
    const url = page.getByLabel("URL", { exact: true })
    await url.fill("ftp://example.com/hooks")
    await page.getByRole("button", { name: "Create endpoint" }).click()
    const field = page.locator(".field", { has: url })
    await field.getByRole("alert").waitFor()
    assert.match((await field.getByRole("alert").textContent()) ?? "", /^URL .*req_[0-9a-z]{26}/)
    assert.strictEqual(await url.getAttribute("aria-invalid"), "true")
    assert.isTrue(await url.evaluate((input) => input === document.activeElement))
    assert.strictEqual(await page.getByRole("alert").count(), 1)

    // An error in a collapsed part opens the part.
    await url.fill(`${receiver.url}/folded`)
    await page.getByLabel("Only these").check()
    await page.getByLabel("payment.failed").check()
    await page.getByText("Headers and signature").click()
    const headers = page.getByLabel("Headers", { exact: true })
    await headers.fill("host: example.com")
    await page.getByText("Headers and signature").click()
    await page.getByRole("button", { name: "Create endpoint" }).click()
    await page
      .locator(".field", { has: headers })
      .getByRole("alert")
      .getByText(/^Headers/)
      .waitFor()
    await headers.fill("x-tenant: 42")
    await page.getByRole("button", { name: "Create endpoint" }).click()
    await page.getByRole("button", { name: "I have copied it" }).click()
    assert.deepEqual(problems, [])
    await context.close()
  })

  it("of the event types is shown at their checkboxes", async () => {
    const id = await createEndpoint("/undefined")
    await host.wantUndefined(id, "order.shipped")
    const { context, page, problems } = await visit(`/endpoints/${id}`)
    await page.getByRole("button", { name: "Edit" }).click()
    const group = page.getByRole("group", { name: "Events" })
    const gone = group.getByLabel("order.shipped")
    assert.isTrue(await gone.isChecked())
    await page.getByRole("button", { name: "Save" }).click()
    await group
      .getByRole("alert")
      .getByText(/^Events.*order\.shipped/)
      .waitFor()
    assert.strictEqual(await page.getByRole("alert").count(), 1)
    const chosen = group.getByLabel("Only these")
    assert.isTrue(await chosen.evaluate((input) => input === document.activeElement))
    await gone.uncheck()
    await group.getByLabel("invoice.paid").check()
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByRole("dialog").waitFor({ state: "detached" })
    assert.deepEqual((await host.call("GET", `/webhook_endpoints/${id}`))["event_types"], ["invoice.paid"])
    assert.deepEqual(problems, [])
    await context.close()
  })

  it("of a threshold's quantity has the label of the field", async () => {
    const customer = await post("/customers", { name: "Wrong Number", email: "wrong@example.com" })
    const { context, page } = await visit(`/customers/${customer}`)
    await page.getByRole("button", { name: "New threshold" }).click()
    // There is no usage yet, so there is nothing to choose from.
    await page.getByLabel("Product", { exact: true }).fill("api")
    await page.getByLabel("Unit", { exact: true }).fill("call")
    await page.getByLabel("Fires at").fill("many")
    await page.getByRole("button", { name: "Create threshold" }).click()
    await page.getByRole("alert").getByText("Fires at must be a whole number from 1").waitFor()
    await context.close()
  })
})

describe("a customer's page", () => {
  it("has usage, thresholds, events and failures", async () => {
    const customer_id = await post("/customers", { name: "Emmy Noether", email: "emmy@example.com" })
    await post("/usage", { customer_id, product_id: "api", unit: "call", quantity: 40 })
    await post("/usage/thresholds", {
      customer_id,
      product_id: "api",
      unit: "call",
      quantity: 160,
      period: "month",
    })
    const types = (await host.call("GET", "/event_types"))["data"] as ReadonlyArray<Record<string, unknown>>
    const publish = (type: string) =>
      post("/events", { type, customer_id, data: types.find((each) => each["type"] === type)?.["example"] })
    receiver.answer.status = 500
    await createEndpoint("/of-emmy")
    await publish("invoice.paid")
    await publish("invoice.created")
    const { context, page, problems } = await visit(`/customers/${customer_id}`)
    await page.getByRole("img", { name: "api by day, in call: 40 in all" }).waitFor()
    await page.getByText("40 of 160 · 25 %").waitFor()
    const section = (name: string) => page.getByRole("region", { name, exact: true })
    await section("Newest events").getByRole("link", { name: "invoice.created" }).waitFor()
    await section("Newest events").getByRole("link", { name: "invoice.paid" }).waitFor()
    await section("Failed deliveries").getByRole("link", { name: "invoice.paid" }).waitFor()
    assert.strictEqual(
      await section("Failed deliveries").getByRole("link", { name: "invoice.created" }).count(),
      0,
    )
    await section("Failed deliveries").getByRole("link", { name: "All failures" }).click()
    await page.getByRole("button", { name: "Customer Emmy Noether" }).waitFor()
    await page.getByText("1 in all").waitFor()
    assert.deepEqual(problems, [])
    await context.close()
  })

  it("offers used products and units for a threshold", async () => {
    const customer_id = await post("/customers", { name: "Sophie Germain", email: "sophie@example.com" })
    await post("/usage", { customer_id, product_id: "disk", unit: "byte", quantity: 1 })
    const { context, page } = await visit(`/customers/${customer_id}`)
    await page.getByRole("button", { name: "New threshold" }).click()
    const meter = page.getByLabel("Product and unit")
    assert.deepEqual(await meter.locator("option").allTextContents(), ["Choose…", "disk · byte", "Another…"])
    await meter.selectOption({ label: "disk · byte" })
    await page.getByLabel("Fires at").fill("4")
    await page.getByRole("button", { name: "Create threshold" }).click()
    await page.getByText("1 of 4 · 25 %").waitFor()
    await context.close()
  })
})

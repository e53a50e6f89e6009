/**
 * Lists: names instead of ids, filters that are chosen from lists, exact times, and a stable layout.
 */
import type { Browser, Locator, Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { launch, openTab, PHONE, signIn, type TabOptions } from "./Browser.ts"
import * as Host from "./Host.ts"

let browser: Browser
let host: Host.Host
let receiver: Awaited<ReturnType<typeof Host.startReceiver>>
let customer = ""
let events: ReadonlyArray<string> = []

const post = async (path: string, body: unknown): Promise<string> =>
  String((await host.call("POST", path, body))["id"])

const publish = async (type: string, customer_id: string): Promise<string> => {
  const types = (await host.call("GET", "/event_types"))["data"] as ReadonlyArray<Record<string, unknown>>
  return post("/events", {
    type,
    customer_id,
    data: types.find((each) => each["type"] === type)?.["example"],
  })
}

const PATH = "/hooks/billing/of-the-warehouse"

beforeAll(async () => {
  browser = await launch()
  host = await Host.start()
  receiver = await Host.startReceiver()
  await post("/webhook_endpoints", { url: `${receiver.url}${PATH}`, event_types: ["*"] })
  customer = await post("/customers", { name: "Sofia Kovalevskaya", email: "sofia@example.com" })
  const other = await post("/customers", { name: "Maryam Mirzakhani", email: "maryam@example.com" })
  events = [await publish("invoice.paid", customer), await publish("payment.failed", other)]
})
afterAll(async () => {
  await browser.close()
  await host.close()
  await receiver.close()
})

const visit = async (path: string, options: TabOptions = {}) => {
  const tab = await openTab(browser, options)
  await signIn(tab.page, `${host.url}${path}`, host.testKey)
  return tab
}

const widthOf = async (element: Locator): Promise<number> => (await element.boundingBox())?.width ?? 0

describe("customers", () => {
  it("are shown with their names for each of their events", async () => {
    const { context, page, problems } = await visit("/events")
    const named = page.getByRole("link", { name: "Sofia Kovalevskaya" })
    await named.waitFor()
    assert.strictEqual(await page.locator(".row", { hasText: customer }).count(), 0)
    await page.goto(`${host.url}/events/${events[0]}`)
    await named.click()
    await page.getByRole("heading", { level: 1, name: "Sofia Kovalevskaya" }).waitFor()
    assert.deepEqual(problems, [])
    await context.close()
  })

  it("are shown with the end of their id after they are erased", async () => {
    const gone = await post("/customers", { name: "Nobody Remembers", email: "nobody@example.com" })
    const event = await publish("invoice.paid", gone)
    await host.call("DELETE", `/customers/${gone}`)
    const { context, page } = await visit(`/events/${event}`)
    await page.locator(`.facts a[href="/customers/${gone}"]`, { hasText: gone.slice(-8) }).waitFor()
    await context.close()
  })
})

describe("filters", () => {
  it("by a customer are chosen by name", async () => {
    const { context, page, problems } = await visit("/events")
    await page.getByText(events[1] ?? "").waitFor()
    await page.getByRole("button", { name: "Customer Any" }).click()
    await page.getByLabel("Find").fill("koval")
    await page.getByRole("dialog").getByRole("button", { name: /Sofia/ }).click()
    await page.getByRole("button", { name: "Customer Sofia Kovalevskaya" }).waitFor()
    await page.getByText("1 in all").waitFor()
    assert.include(page.url(), `customer=${customer}`)
    await page.getByRole("button", { name: "Any Customer" }).click()
    await page.getByText(events[1] ?? "").waitFor()
    assert.deepEqual(problems, [])
    await context.close()
  })

  it("by an event are chosen by type and time, also by keyboard", async () => {
    const { context, page, problems } = await visit("/deliveries")
    await page.locator(".row-link").nth(1).waitFor()
    await page.getByRole("button", { name: "Event Any" }).focus()
    await page.keyboard.press("Enter")
    const dialog = page.getByRole("dialog", { name: "Choose an event" })
    await dialog.getByLabel("Type").selectOption("payment.failed")
    const candidate = dialog.getByRole("button", { name: /payment\.failed Maryam Mirzakhani/ })
    await candidate.focus()
    await page.keyboard.press("Enter")
    await page.getByText("1 in all").waitFor()
    assert.include(page.url(), `event=${events[1]}`)
    await page.getByRole("button", { name: /^Event payment\.failed, \d/ }).waitFor()
    assert.deepEqual(problems, [])
    await context.close()
  })

  it("by product and unit are chosen from those that were used", async () => {
    const record = { customer_id: customer, quantity: 7 }
    await post("/usage", { ...record, product_id: "api", unit: "call" })
    await post("/usage", { ...record, product_id: "disk", unit: "byte" })
    const { context, page } = await visit(`/usage?customer=${customer}`)
    const foot = page.locator(".records .table-foot")
    await foot.getByText("2 in all").waitFor()
    await page.getByLabel("Product").selectOption("disk")
    await foot.getByText("1 in all").waitFor()
    assert.deepEqual(await page.getByLabel("Unit").locator("option").allTextContents(), ["Any", "byte"])
    await page.getByLabel("Unit").selectOption("byte")
    assert.include(page.url(), "product=disk&unit=byte")
    await page.locator(".records").getByText("7 byte").waitFor()
    await context.close()
  })
})

describe("the arrow keys", () => {
  it("move from a row to the next, and scroll elsewhere", async () => {
    const { context, page } = await visit("/events")
    await page.locator(".row-link").nth(1).waitFor()
    const focused = () =>
      page.evaluate(() => document.activeElement?.closest("[data-index]")?.getAttribute("data-index"))
    const isTaken = (key: string) =>
      page.evaluate(
        (pressed) =>
          !(document.activeElement ?? document.body).dispatchEvent(
            new KeyboardEvent("keydown", { key: pressed, bubbles: true, cancelable: true }),
          ),
        key,
      )
    assert.isFalse(await isTaken("ArrowDown"))
    await page.keyboard.press("j")
    await page.locator('[data-index="0"] a:focus').waitFor()
    await page.keyboard.press("ArrowDown")
    await page.locator('[data-index="1"] a:focus').waitFor()
    await page.keyboard.press("ArrowUp")
    await page.locator('[data-index="0"] a:focus').waitFor()
    assert.strictEqual(await focused(), "0")
    await context.close()
  })

  it("scroll a list without links", async () => {
    const holder = await post("/customers", { name: "Holder", email: "holder@example.com" })
    const credits = { customer_id: holder, unit: "token" }
    await post("/credit_grants", { ...credits, kind: "paid", amount: 1_000 })
    for (let used = 0; used < 60; used++) await post("/credit_consumptions", { ...credits, amount: 1 })
    const { context, page } = await visit(`/customers/${holder}/credits`)
    const list = page.locator('.table-frame[aria-label="Credit entries"]')
    await list.locator(".row").nth(1).waitFor()
    await list.focus()
    await page.keyboard.press("ArrowDown")
    await page.waitForFunction(
      () => (document.querySelector('.table-frame[aria-label="Credit entries"]')?.scrollTop ?? 0) > 0,
    )
    await context.close()
  })
})

describe("times", () => {
  it("are exact on the pages of single items", async () => {
    const { context, page } = await visit(`/events?customer=${customer}`)
    const inList = page.locator(".row time")
    await inList.first().waitFor()
    assert.match((await inList.first().textContent()) ?? "", /^\d+ [A-Z][a-z]{2}, \d\d:\d\d:\d\d \(.*\)$/)
    await page.getByRole("columnheader", { name: "Published (UTC)" }).waitFor()
    await page.locator(".row-link").first().click()
    const fact = page.locator(".facts time")
    await fact.waitFor()
    assert.match((await fact.textContent()) ?? "", /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} UTC \(.*\)$/)
    await context.close()
  })
})

/** The lower edges of the last row and of its frame. */
const bottoms = (page: Page) =>
  page.locator(".table-frame").evaluate((frame) => ({
    frame: frame.getBoundingClientRect().bottom,
    row: [...frame.querySelectorAll(".table-body .row")].at(-1)?.getBoundingClientRect().bottom ?? 0,
  }))

describe("the layout", () => {
  it.each([
    ["a desk", {}],
    ["a phone", { viewport: PHONE }],
  ] as const)("has no empty second row below its only row, on %s", async (_, options) => {
    const { context, page } = await visit(`/events?customer=${customer}`, options)
    await page.getByText("1 in all").waitFor()
    const { frame, row } = await bottoms(page)
    assert.isAtMost(frame - row, 2)
    await context.close()
  })

  it("keeps the path of an endpoint visible on a phone", async () => {
    const url = `${receiver.url}${PATH}`
    const off = await post("/webhook_endpoints", { url, event_types: ["invoice.created"] })
    await host.call("PATCH", `/webhook_endpoints/${off}`, { status: "disabled" })
    const { context, page } = await visit("/deliveries", { viewport: PHONE })
    for (const [where, line] of [
      ["/deliveries", ".row"],
      ["/", ".line"],
    ] as const) {
      await page.goto(`${host.url}${where}`)
      const path = page.locator(`${line} .url-path`).first()
      await path.waitFor()
      assert.strictEqual(await path.textContent(), PATH)
      const isWhole = await path.evaluate((element, selector) => {
        const range = document.createRange()
        range.selectNodeContents(element)
        const [text, box] = [range.getBoundingClientRect(), element.getBoundingClientRect()]
        const right = element.closest(selector)?.getBoundingClientRect().right ?? 0
        return text.width <= box.width && box.right <= right
      }, line)
      assert.isTrue(isWhole, `the path is cut on ${where}`)
    }
    await context.close()
  })

  it("has the same widths on all pages and in all states", async () => {
    const { context, page } = await visit("/events", { viewport: { width: 1900, height: 900 } })
    const toggle = page.getByRole("button", { name: /Auto-refresh/ })
    const header = page.locator(".page-header")
    await page.locator(".row-link").first().waitFor()
    const [wide, on] = [await widthOf(header), await widthOf(toggle)]
    await toggle.click()
    await page.getByRole("button", { name: "Auto-refresh off" }).waitFor()
    assert.strictEqual(await widthOf(toggle), on)
    for (const path of [`/events/${events[0]}`, "/", "/endpoints", `/usage?customer=${customer}`]) {
      await page.goto(`${host.url}${path}`)
      await page.locator("main:not(:has(.skeleton)) h1").waitFor()
      assert.strictEqual(await widthOf(header), wide, path)
    }
    await context.close()
  })

  it("keeps the columns of totals in place for any totals", async () => {
    const second = await post("/customers", { name: "Large Totals", email: "large@example.com" })
    const record = { product_id: "a-product-with-a-rather-long-name", unit: "byte" }
    const records = Array.from({ length: 9 }, () => ({
      ...record,
      customer_id: second,
      quantity: Number.MAX_SAFE_INTEGER,
    }))
    await host.call("POST", "/usage/batch", { records })
    await post("/usage", { customer_id: customer, quantity: 1, product_id: "api", unit: "call" })
    const { context, page } = await visit(`/usage?customer=${customer}`)
    const columns = async (id: string): Promise<ReadonlyArray<number>> => {
      await page.goto(`${host.url}/usage?customer=${id}`)
      await page.locator(".plain-table").waitFor()
      return page
        .locator(".plain-table thead th")
        .evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().left))
    }
    assert.deepEqual(await columns(customer), await columns(second))
    await context.close()
  })
})

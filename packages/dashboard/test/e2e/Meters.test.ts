import type { Browser } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { launch, openTab, show, signIn } from "./Browser.ts"
import * as Host from "./Host.ts"

let browser: Browser
let host: Host.Host
let customerId: string
beforeAll(async () => {
  browser = await launch()
  host = await Host.start()
  const ada = await host.call("POST", "/customers", { name: "Ada Lovelace", email: "ada@example.com" })
  customerId = String(ada["id"])
  const of = { customer_id: customerId, product_id: "chat", unit: "token" }
  const records = [
    { ...of, quantity: 900, dimensions: { model: "opus", kind: "input" } },
    { ...of, quantity: 100, dimensions: { model: "opus", kind: "output" } },
    { ...of, quantity: 50, dimensions: { model: "<b>haiku</b>", kind: "input" } },
    { ...of, quantity: 7 },
  ]
  await host.call("POST", "/usage/batch", { records })
  await host.call("POST", "/meters", {
    key: "tokens",
    product_id: "chat",
    unit: "token",
    dimensions: ["model", "kind"],
  })
}, 60_000)
afterAll(async () => {
  await browser.close()
  await host.close()
})

describe("usage by meter", () => {
  it("is filtered and grouped by dimensions with the keyboard, also the records", async () => {
    const tab = await openTab(browser)
    const { page } = tab
    await signIn(page, host.url, host.testKey)
    await show(page, `${host.url}/usage?customer=${customerId}`)
    const section = page.getByRole("region", { name: "By meter" })
    const selectOf = (label: string) =>
      section.locator("label", { hasText: new RegExp(`^${label}`) }).locator("select")
    await selectOf("Meter").focus()
    await page.keyboard.press("ArrowDown")
    await section.getByText("chat, sum by model, kind").waitFor()
    const records = page.getByRole("region", { name: "Records" })
    await records.getByText("of the meter tokens, with its filters").waitFor()

    await selectOf("Group by").focus()
    await page.keyboard.press("ArrowDown")
    const rows = section.getByRole("row")
    const rowOf = (name: string) => rows.filter({ has: page.getByRole("rowheader", { name, exact: true }) })
    await rowOf("opus").waitFor()
    assert.match(await rowOf("opus").innerText(), /1,000\s+2/)
    assert.match(await rowOf("none").innerText(), /7\s+1/)
    assert.match(await rowOf("<b>haiku</b>").innerText(), /50\s+1/)
    assert.match(await rowOf("All together").innerText(), /1,057\s+4/)

    await selectOf("kind").selectOption("output")
    await rowOf("All together").filter({ hasText: "100" }).waitFor()
    await records.getByText("900").waitFor({ state: "detached" })
    assert.include(await records.innerText(), "model opus")
    // The address has all of it.
    const address = new URL(page.url()).searchParams
    assert.deepEqual(
      ["meter", "group", "where.kind"].map((name) => address.get(name)),
      ["tokens", "model", "output"],
    )
    assert.deepEqual(tab.problems, [])
    await tab.context.close()
  }, 60_000)

  it("is on the page of meters with the state of each", async () => {
    const tab = await openTab(browser)
    await signIn(tab.page, host.url, host.testKey)
    await show(tab.page, `${host.url}/usage`)
    await tab.page.getByRole("link", { name: "Meters" }).click()
    await tab.page.getByRole("heading", { name: "Meters" }).waitFor()
    const item = tab.page.getByRole("listitem").filter({ hasText: "tokens" })
    await item.getByText("Ready").waitFor()
    assert.include(await item.innerText(), "sum by model, kind")
    assert.deepEqual(tab.problems, [])
    await tab.context.close()
  }, 60_000)
})

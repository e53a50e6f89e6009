/** The page in a real browser. */
import chromium from "@sparticuz/chromium"
import { type Browser, chromium as playwright } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Served, serve } from "../../src/Server.ts"

let browser: Browser
let served: Served

beforeAll(async () => {
  served = await serve(0)
  browser = await playwright.launch({
    executablePath: process.env["CHROMIUM_PATH"] ?? (await chromium.executablePath()),
    args: ["--no-sandbox", "--disable-gpu"],
  })
})
afterAll(async () => {
  await browser?.close()
  served.server.close()
})

describe("the pricing page", () => {
  it("shows the price of what the sliders say, and why", async () => {
    const problems: Array<string> = []
    const page = await browser.newPage({ locale: "en-GB" })
    page.setDefaultTimeout(10_000)
    page.on("pageerror", (error) => problems.push(String(error)))
    await page.goto(served.url)
    const text = (selector: string) => page.locator(selector).innerText()

    assert.strictEqual(await text("#calls-chosen"), "200,000")
    // 20 + 3 × 5 + 100,000 × 0.001 + 90,000 × 0.0008
    assert.strictEqual(await text("#total"), "207.00 EUR")

    await page.locator("#seats").fill("10")
    await page.locator("#calls").fill("600")
    assert.strictEqual(await text("#seats-chosen"), "10")
    assert.strictEqual(await text("#calls-chosen"), "1,000,000")
    // 20 + 50 + 100,000 × 0.001 + 890,000 × 0.0008
    assert.strictEqual(await text("#total"), "882.00 EUR")
    const reasons = await page.locator("#why > li > ul > li").allInnerTexts()
    assert.include(reasons, "100,000 to 1,000,000: 890,000 × 0.0008 EUR = 712 EUR")
    assert.deepStrictEqual(problems, [])
    await page.close()
  })
})

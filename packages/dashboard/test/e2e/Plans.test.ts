/**
 * Plans: versions side by side, and what they cost.
 */
import { assert, describe, it } from "vitest"
import { visit } from "./BillingPages.ts"

describe("plans", () => {
  it("are listed with their subscriptions, and lead to their versions", async () => {
    const { context, page, problems } = await visit("/plans")
    const starter = page.locator(".line", { hasText: "Starter" })
    await starter.getByText("3 subscriptions").waitFor()
    await page.getByRole("link", { name: "Pro", exact: true }).click()
    const table = page.getByRole("region", { name: "Terms of the versions" })
    const heads = table.locator("thead th")
    await heads.nth(1).getByText("3 subscriptions").waitFor()
    assert.match((await heads.nth(2).textContent()) ?? "", /Version 2.*0 subscriptions/)
    await page.getByLabel("Only what differs").check()
    const rows = table.locator("tbody tr")
    assert.deepEqual(await rows.allTextContents(), [
      "charges › base › price › EUR29.0039.00",
      "charges › calls › tiers › 2 › price › EUR0.0040.003",
    ])
    await heads.nth(1).getByRole("link", { name: "3 subscriptions" }).click()
    await page.getByRole("heading", { level: 1, name: "Subscriptions" }).waitFor()
    await page.locator(".table-body .row").first().waitFor()
    assert.strictEqual(await page.getByRole("combobox", { name: /^Plan/ }).inputValue(), "pro")
    const listed = await page.locator(".table-body .row").allTextContents()
    assert.isAtLeast(listed.length, 3)
    assert.isTrue(
      listed.every((row) => row.startsWith("pro, version 1")),
      listed.join(),
    )
    assert.deepEqual(problems, [])
    await context.close()
  })

  it("say what a version costs, step by step, also for a version that a link asks for", async () => {
    const { context, page, problems } = await visit("/plans/pro?version=1")
    await page.getByRole("heading", { name: "What version 1 costs" }).waitFor()
    await page.getByLabel("Seats").fill("10")
    await page.getByLabel("API calls").fill("21000")
    // 29 + 10 × 9 + 10,000 × 0.01 + 10,000 × 0.004
    await page.locator(".sums").getByText("€259.00").waitFor()
    const line = page.locator(".invoice-line", { hasText: "API calls" })
    await line.locator("summary").click()
    await line.getByText("1,000 free: 20,000 left").waitFor()
    await line.getByText("Above 10,000: 10,000 × €0.004").waitFor()
    await page.getByLabel("Seats").fill("many")
    await page.getByRole("alert").waitFor()
    assert.deepEqual(problems, [])
    await context.close()
  })
})

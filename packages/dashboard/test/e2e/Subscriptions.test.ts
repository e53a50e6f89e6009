/**
 * Subscriptions: what was and what comes, and commands that say the money before it is billed.
 */
import { assert, describe, it } from "vitest"
import { button, dialog, holdRequests, host, newPayer, sample, visit } from "./BillingPages.ts"

type Answer = Record<string, unknown>
const stored = (id: string): Promise<Answer> => host.call("GET", `/subscriptions/${id}`)

/** A new customer with a card and a subscription to `pro`. */
const subscribed = async (): Promise<string> => {
  const body = { customer_id: await newPayer(), plan: "pro", quantities: { seats: "2" } }
  return String((await host.call("POST", "/subscriptions", body))["id"])
}

describe("a subscription", () => {
  it("has a timeline of its invoices, up to the next one, by the clock of its customer", async () => {
    const { context, page, problems } = await visit(`/subscriptions/${sample.subscriptionId}`)
    const moments = page.locator(".timeline li")
    await moments.getByText("The next invoice, with the usage so far").waitFor()
    const texts = await moments.allTextContents()
    const now = texts.findIndex((text) => text.endsWith("Now"))
    const clock = await host.call("GET", `/test_clocks/${sample.clockId}`)
    assert.strictEqual(await moments.nth(now).locator("time").getAttribute("datetime"), String(clock["now"]))
    assert.deepEqual(
      texts.slice(now + 1).map((text) => text.replace(/^\d+ \w+ \d+/, "").replace(/:.*/, "")),
      ["Renews", "The next invoice, with the usage so far"],
    )
    assert.isAtLeast(texts.slice(0, now).filter((text) => text.includes("Invoice 2026-")).length, 3)
    const upcoming = await host.call("GET", `/invoices/upcoming?subscription_id=${sample.subscriptionId}`)
    const total = Number((upcoming["invoice"] as Answer)["total"]) / 100
    assert.include(texts.at(-1) ?? "", `€${total.toFixed(2)}`)
    assert.deepEqual(problems, [])
    await context.close()
  })

  it("is changed after a preview, which bills what it said", async () => {
    const id = await subscribed()
    const { context, page, problems } = await visit(`/subscriptions/${id}`)
    await button(page, "Change…").click()
    assert.isTrue(await button(page, "Change the subscription").isDisabled())
    await page.getByLabel("Quantity of seats").fill("10")
    const billed = dialog(page).locator(".previewed", { hasText: "Billed at once" })
    await billed.locator("summary .amount").first().waitFor()
    const said = await billed.locator("summary .amount").first().textContent()
    await billed.locator("summary").first().click()
    await billed.locator(".invoice-line", { hasText: "Seats" }).first().waitFor()
    await button(page, "Change the subscription").click()
    await page.getByText("10 seats").waitFor()
    assert.deepEqual((await stored(id))["quantities"], { seats: "10" })
    await page
      .locator(".line", { hasText: said ?? "" })
      .first()
      .waitFor()
    assert.deepEqual(problems, [])
    await context.close()
  })

  it("is changed only after the preview of the current choice", async () => {
    const { context, page } = await visit(`/subscriptions/${await subscribed()}`)
    await button(page, "Change…").click()
    await page.getByLabel("Quantity of seats").fill("10")
    const preview = dialog(page).locator(".preview")
    await preview.locator(".amount").first().waitFor()
    const release = await holdRequests(page, /\/preview$/)
    await page.getByLabel("Quantity of seats").fill("11")
    await preview.getByRole("status", { name: "Loading" }).waitFor()
    assert.strictEqual(await preview.locator(".amount").count(), 0)
    assert.isTrue(await button(page, "Change the subscription").isDisabled())
    release()
    await preview.locator(".amount").first().waitFor()
    assert.isTrue(await button(page, "Change the subscription").isEnabled())
    await context.close()
  })

  it("keeps the seats that are shown, at a time for which fewer wait", async () => {
    const id = await subscribed()
    await host.call("POST", `/subscriptions/${id}/change`, { quantities: { seats: "1" } })
    const { context, page } = await visit(`/subscriptions/${id}`)
    await button(page, "Change…").click()
    assert.strictEqual(await page.getByLabel("Quantity of seats").inputValue(), "2")
    await page.getByLabel("Takes effect").selectOption("period_end")
    await button(page, "Change the subscription").click()
    await page.getByText("Changed").waitFor()
    assert.isNull((await stored(id))["pending"])
    await context.close()
  })

  it("says why a change is not possible, and does not do it", async () => {
    const id = await subscribed()
    const { context, page } = await visit(`/subscriptions/${id}`)
    await button(page, "Change…").click()
    await page.getByLabel("Quantity of seats").fill("many")
    await dialog(page).getByRole("alert").first().waitFor()
    await button(page, "Change the subscription").click()
    await dialog(page).getByRole("alert").first().waitFor()
    assert.deepEqual((await stored(id))["quantities"], { seats: "2" })
    await context.close()
  })

  it("is paused and goes on, ends at the end of its period, and is kept", async () => {
    const id = await subscribed()
    const { context, page } = await visit(`/subscriptions/${id}`)
    await button(page, "Pause…").click()
    await dialog(page).getByText("No invoice comes after that.").waitFor()
    await button(page, "Pause the subscription").click()
    await page.locator(".page-title .badge", { hasText: "Paused" }).waitFor()
    await button(page, "Resume…").click()
    await button(page, "Resume the subscription").click()
    await page.locator(".page-title .badge", { hasText: "Active" }).waitFor()
    await button(page, "Cancel…").click()
    await dialog(page).getByText("Nothing is billed at once.").waitFor()
    await button(page, "End the subscription").click()
    await page.locator(".page-title .badge", { hasText: "Ends" }).waitFor()
    assert.isNotNull((await stored(id))["ends_at"])
    await button(page, "Keep…").click()
    await button(page, "Keep the subscription").click()
    await page.locator(".page-title .badge", { hasText: "Ends" }).waitFor({ state: "detached" })
    assert.isNull((await stored(id))["ends_at"])
    await context.close()
  })
})

describe("a version of a plan", () => {
  const plan = (currencies: ReadonlyArray<string>, quantity: string) => ({
    key: "office",
    name: "Office",
    currencies,
    interval: { unit: "month", count: 1 },
    charges: [
      {
        key: quantity,
        name: quantity,
        model: "unit",
        quantity,
        price: Object.fromEntries(currencies.map((code) => [code, "3.00"])),
      },
    ],
  })

  it("has its own quantities and currencies", async () => {
    await host.call("POST", "/catalog/push", { plans: [plan(["EUR", "USD"], "desks")] })
    await host.call("POST", "/catalog/push", { plans: [plan(["EUR"], "rooms")] })
    const customer_id = await newPayer()
    const { context, page, problems } = await visit(`/subscriptions?customer=${customer_id}`)
    await button(page, "New subscription").click()
    const { getByLabel } = { getByLabel: (label: string) => dialog(page).getByLabel(label) }
    await getByLabel("Plan").selectOption("office")
    await getByLabel("Quantity of rooms").waitFor()
    await getByLabel("Version").selectOption("1")
    await getByLabel("Quantity of desks").fill("2")
    assert.strictEqual(await getByLabel("Quantity of rooms").count(), 0)
    await getByLabel("Currency").selectOption("USD")
    await dialog(page).locator(".preview").getByText("US$6.00").first().waitFor()
    // The newest version is in EUR alone. What was chosen before is not sent.
    await getByLabel("Version").selectOption("")
    await getByLabel("Quantity of rooms").fill("3")
    await dialog(page).locator(".preview").getByText("€9.00").first().waitFor()
    await getByLabel("Version").selectOption("1")
    await dialog(page).locator(".preview").getByText("US$6.00").first().waitFor()
    await button(page, "Start the subscription").click()
    await page.getByRole("heading", { level: 1, name: "Subscription to office" }).waitFor()
    const id = page.url().split("/").at(-1) ?? ""
    const { currency, quantities } = await stored(id)
    assert.deepEqual([currency, quantities], ["USD", { desks: "2" }])
    // A change that keeps the plan is of the version that the subscription has.
    await button(page, "Change…").click()
    await getByLabel("Quantity of desks").waitFor()
    assert.strictEqual(await getByLabel("Quantity of rooms").count(), 0)
    assert.deepEqual(problems, [])
    await context.close()
  })
})

describe("the list", () => {
  it("starts a subscription, with its first invoice shown before", async () => {
    await host.call("POST", "/customers", { name: "Cyberdyne", email: "cyberdyne@example.com" })
    const { context, page, problems } = await visit("/subscriptions")
    await page.locator(".table-body .row").first().waitFor()
    await button(page, "New subscription").click()
    await page.getByRole("button", { name: "Cyberdyne" }).click()
    await dialog(page).getByLabel("Plan").selectOption("pro")
    await page.getByLabel("Quantity of seats").fill("3")
    await dialog(page).locator(".previewed", { hasText: "Billed at once" }).getByText("€66.00").waitFor()
    await button(page, "Start the subscription").click()
    await page.getByRole("heading", { level: 1, name: "Subscription to pro" }).waitFor()
    await page.locator(".line", { hasText: "€66.00" }).first().waitFor()
    assert.deepEqual(problems, [])
    await context.close()
  })
})

/**
 * A customer's whole account, payments that need attention, credits, and test clocks.
 */
import { assert, describe, it } from "vitest"
import {
  browser,
  button,
  dialog,
  holdRequests,
  host,
  newPayer,
  sample,
  section,
  visit,
} from "./BillingPages.ts"
import * as BillingSample from "./BillingSample.ts"
import { openTab, signIn } from "./Browser.ts"

type Answer = Record<string, unknown>

describe("the page of a customer", () => {
  it("joins subscriptions, invoices, payments, methods, credits, entitlements and alerts", async () => {
    const { context, page, problems } = await visit(`/customers/${sample.customerId}`)
    await section(page, "Subscriptions").getByRole("link", { name: "pro, version 1" }).waitFor()
    await section(page, "Newest invoices").getByText("Draft invoice").waitFor()
    await section(page, "Newest payments").getByText("Succeeded").first().waitFor()
    await section(page, "Payment methods").getByText("Visa •••• 4242").waitFor()
    await section(page, "Credits")
      .getByText(/[\d,]+ token$/)
      .first()
      .waitFor()
    await section(page, "Entitlements").getByText("eu-central").waitFor()
    await section(page, "Spend alerts").getByText("€250.00 a UTC month").waitFor()
    assert.deepEqual(problems, [])
    await context.close()
  })

  it("creates and deletes a spend alert", async () => {
    const { context, page } = await visit(`/customers/${sample.customerId}`)
    await button(page, "New spend alert").click()
    await page.getByLabel("Amount (EUR)").fill("99.9")
    await button(page, "Create the alert").click()
    await section(page, "Spend alerts").getByText("€99.90 a UTC month").waitFor()
    await page.getByRole("button", { name: "Delete the alert of €99.90" }).click()
    await button(page, "Delete the alert").click()
    await section(page, "Spend alerts").getByText("€99.90 a UTC month").waitFor({ state: "detached" })
    await context.close()
  })
})

describe("payments", () => {
  it("that need attention are listed with what to do, and refunds that failed", async () => {
    const { context, page, problems } = await visit("/payments")
    await page.locator(".table-body .row").first().waitFor()
    await page.getByRole("link", { name: "What needs attention" }).click()
    const payments = section(page, "Payments that a person has to look at")
    await payments.getByText(/takes at least/).waitFor()
    await section(page, "Refunds that failed").getByText("€40.04").waitFor()
    await payments.getByRole("link").click()
    await page.getByRole("heading", { level: 1, name: "Payment of €0.12" }).waitFor()
    await button(page, "Resolve…").click()
    await dialog(page).getByText("Charge €0.12 for Invoice").waitFor()
    assert.deepEqual(problems, [])
    await context.close()
  })

  it("are refunded in part, with the money in the question", async () => {
    const { context, page } = await visit(`/payments/${sample.paidPaymentId}`)
    const { amount } = await host.call("GET", `/payments/${sample.paidPaymentId}`)
    await button(page, "Refund…").click()
    await dialog(page)
      .getByText(`Refund the payment of €${Number(amount) / 100}`)
      .waitFor()
    await page.getByLabel("Amount (EUR)").fill("1000000")
    await button(page, "Refund €1,000,000.00").click()
    await dialog(page).getByRole("alert").waitFor()
    await page.getByLabel("Amount (EUR)").fill("5")
    await button(page, "Refund €5.00").click()
    await section(page, "Refunds and disputes").getByText("€5.00").waitFor()
    const { data } = await host.call("GET", `/refunds?payment_id=${sample.paidPaymentId}`)
    assert.include(
      (data as ReadonlyArray<Answer>).map((refund) => refund["amount"]),
      500,
    )
    await context.close()
  })
})

/** A payment of a new customer. */
const paymentOf = async (amount: number): Promise<string> => {
  const lines = [{ description: "Workshop", amount }]
  const draft = await host.call("POST", "/invoices", {
    customer_id: await newPayer(),
    currency: "EUR",
    lines,
  })
  await host.call("POST", `/invoices/${String(draft["id"])}/finalize`)
  await host.call("POST", `/invoices/${String(draft["id"])}/pay`, {})
  const { data } = await host.call("GET", `/payments?invoice_id=${String(draft["id"])}`)
  return String((data as ReadonlyArray<Answer>)[0]?.["id"])
}

describe("a refund", () => {
  it("is of what is left, follows its provider, and is not offered when nothing is left", async () => {
    const payment_id = await paymentOf(10_000)
    await host.call("POST", "/refunds", { payment_id, amount: 2_501, reason: "other" })
    const { context, page, problems } = await visit(`/payments/${payment_id}`)
    await page.locator(".facts > div", { hasText: "Left to refund" }).getByText("€74.99").waitFor()
    await section(page, "Refunds and disputes").getByText("Pending").waitFor()
    await host.bill()
    await section(page, "Refunds and disputes").getByText("Succeeded").waitFor()
    await button(page, "Refund…").click()
    await dialog(page).getByText("of which €74.99 is left").waitFor()
    await button(page, "Refund €74.99").click()
    await dialog(page).waitFor({ state: "detached" })
    await page.locator(".facts > div", { hasText: "Left to refund" }).getByText("€0.00").waitFor()
    assert.strictEqual(await button(page, "Refund…").count(), 0)
    assert.deepEqual(problems, [])
    await context.close()
  })
})

describe("the overview of money", () => {
  const euros = (minor: number): string =>
    `€${(minor / 100).toLocaleString("en-GB", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`
  const all = async (path: string) =>
    (await host.call("GET", `${path}limit=100`))["data"] as ReadonlyArray<Answer>

  it("adds up what the API has, and each figure leads to what makes it", async () => {
    const open = await all("/invoices?status=open&")
    const due = open.reduce((total, invoice) => total + Number(invoice["amount_due"]), 0)
    const { context, page, problems } = await visit("/money")
    const figure = (name: string) => page.locator(".figure", { hasText: name })
    // 29 + 12 × 9, 29 + 3 × 9, 29 + 5 × 9, 9 and 12. One subscription is paused.
    await figure("Recurring a month").getByText(euros(28_800)).waitFor()
    await figure("Outstanding").getByText(euros(due)).waitFor()
    await figure("Declined, tried again").getByText("1 invoice").waitFor()
    await page.getByRole("link", { name: "Outstanding" }).click()
    await page.getByRole("heading", { level: 1, name: "Invoices" }).waitFor()
    await page.locator(".table-body .row").first().waitFor()
    assert.strictEqual(await page.locator(".table-body .row").count(), open.length)
    assert.strictEqual(await page.getByLabel("Figure").inputValue(), "outstanding")
    await page.goBack()
    await page.getByRole("link", { name: "Collected in 30 days" }).click()
    await page.getByRole("heading", { level: 1, name: "Payments" }).waitFor()
    await page.locator(".table-body .row", { hasText: "Succeeded" }).first().waitFor()
    assert.deepEqual(problems, [])
    await context.close()
  })

  it("adds up usage that is not billed yet when it is asked", async () => {
    const subscriptions = await all("/subscriptions?phase=active&")
    let usage = 0
    for (const { id } of subscriptions) {
      const { invoice } = await host.call("GET", `/invoices/upcoming?subscription_id=${String(id)}`)
      const lines = ((invoice as Answer | null)?.["lines"] ?? []) as ReadonlyArray<Answer>
      for (const line of lines) if (line["kind"] === "usage") usage += Number(line["amount"])
    }
    assert.isAbove(usage, 0)
    const { context, page } = await visit("/money")
    await button(page, "Add it up").click()
    await section(page, "Usage not billed yet").locator(".sums").getByText(euros(usage)).waitFor()
    await section(page, "Usage not billed yet").getByRole("link", { name: "Acme Rockets" }).click()
    await page.getByRole("heading", { level: 1, name: "Subscription to pro" }).waitFor()
    await context.close()
  })
})

describe("credits", () => {
  it("are granted and taken back, and the balance follows", async () => {
    const { context, page, problems } = await visit(`/customers/${sample.customerId}/credits?unit=token`)
    const balance = async (unit: string): Promise<number> =>
      Number(
        (await host.call("GET", `/credit_balance?customer_id=${sample.customerId}&unit=${unit}`))[
          "available"
        ],
      )
    const before = await balance("token")
    await page.getByRole("img", { name: /What was available at the end of each day/ }).waitFor()
    await section(page, "Holds").getByText("1,500 token").waitFor()
    await button(page, "Grant credits").click()
    await page.getByLabel("Amount").fill("777")
    await button(page, "Grant the credits").click()
    await section(page, "Grants").getByText("777 token left").waitFor()
    assert.strictEqual(await balance("token"), before + 777)
    await section(page, "Grants")
      .locator(".line", { hasText: "777 token left" })
      .getByRole("button", { name: "Take back…" })
      .click()
    await button(page, "Take back 777 token").click()
    await section(page, "Grants").getByText("Taken back").waitFor()
    assert.strictEqual(await balance("token"), before)

    await button(page, "Grant credits").click()
    await page.getByLabel("Unit").fill("EUR")
    await page.getByLabel("Amount").fill("12.5")
    await button(page, "Grant the credits").click()
    await page.getByRole("heading", { level: 1, name: "Credits: EUR" }).waitFor()
    assert.strictEqual(await balance("EUR"), 1_250)
    assert.deepEqual(problems, [])
    await context.close()
  })
})

describe("an action whose answer got lost", () => {
  it("is done once when the button is pressed again, and once more by another dialog", async () => {
    const customer_id = await newPayer()
    const available = async () =>
      (await host.call("GET", `/credit_balance?customer_id=${customer_id}&unit=token`))["available"]
    const { context, page, requests } = await visit(`/customers/${customer_id}/credits?unit=token`)
    const posted = () =>
      requests.filter(({ headers, url }) => url.endsWith("/credit_grants") && headers["idempotency-key"])
    const grant = async () => {
      await button(page, "Grant credits").click()
      await page.getByLabel("Amount").fill("1,000")
      await dialog(page).getByText("= 1,000").waitFor()
    }
    await grant()
    await page.route("**/v1/credit_grants", async (route) => {
      await route.fetch()
      await route.abort("connectionreset")
    })
    await button(page, "Grant the credits").click()
    await dialog(page).getByText("The API can't be reached.").waitFor()
    assert.strictEqual(await available(), 1_000)
    await page.unroute("**/v1/credit_grants")
    await button(page, "Grant the credits").click()
    await dialog(page).waitFor({ state: "detached" })
    assert.strictEqual(await available(), 1_000)

    await grant()
    const release = await holdRequests(page, /\/v1\/credit_grants$/)
    // Two clicks before the button can be disabled.
    await dialog(page)
      .locator("form")
      .evaluate((form: HTMLFormElement) => {
        form.requestSubmit()
        form.requestSubmit()
      })
    await dialog(page).getByText("Granting…").waitFor()
    release()
    await dialog(page).waitFor({ state: "detached" })
    assert.strictEqual(await available(), 2_000)
    const keys = posted().map(({ headers }) => headers["idempotency-key"])
    assert.strictEqual(keys.length, 3)
    assert.strictEqual(keys[1], keys[0])
    assert.notStrictEqual(keys[2], keys[0])
    await context.close()
  })
})

describe("an amount", () => {
  it("with a comma in place of a point is refused, and sends nothing", async () => {
    const { context, page } = await visit(`/customers/${sample.customerId}/credits?unit=token`)
    await button(page, "Grant credits").click()
    await dialog(page).getByLabel("Unit").fill("EUR")
    await dialog(page).getByLabel("Amount").fill("12,50")
    await button(page, "Grant the credits").click()
    await dialog(page)
      .getByRole("alert")
      .getByText(/^Amount must be .*12\.50\. Write a point/)
      .waitFor()
    await context.close()
  })
})

describe("the credits of a unit", () => {
  it("are not those of the unit that was chosen before", async () => {
    const customer_id = await newPayer()
    for (const [unit, amount] of [
      ["coin", 11],
      ["token", 22],
    ] as const)
      await host.call("POST", "/credit_grants", { customer_id, unit, amount, kind: "paid" })
    const { context, page } = await visit(`/customers/${customer_id}/credits`)
    const figures = page.locator(".figures")
    await figures.getByText("11 coin").waitFor()
    const release = await holdRequests(page, /credit_balance\?.*unit=token/)
    await page.getByLabel("Unit").selectOption("token")
    await page.getByRole("heading", { level: 1, name: "Credits: token" }).waitFor()
    assert.strictEqual(await figures.count(), 0)
    release()
    await figures.getByText("22 token").waitFor()
    await context.close()
  })
})

describe("a test clock", () => {
  it("is advanced, and what was due is done", async () => {
    const { context, page, problems } = await visit("/test-clocks")
    await button(page, "New test clock").click()
    await page.getByLabel("Name", { exact: true }).fill("A year")
    await page.getByLabel("Starts at").fill("2025-01-31T00:00")
    await button(page, "Create the clock").click()
    await page.getByRole("heading", { level: 1, name: "A year" }).waitFor()
    const id = page.url().split("/").at(-1)!
    const customer = await host.call("POST", "/customers", {
      name: "Timeless",
      email: "timeless@example.com",
      test_clock_id: id,
    })
    await BillingSample.saveCard(host, String(customer["id"]))
    await host.call("POST", "/subscriptions", { customer_id: customer["id"], plan: "starter" })
    for (const [step, now] of [
      ["month", "2025-02-28T00:00:00.000Z"],
      ["year", "2026-02-28T00:00:00.000Z"],
    ] as const) {
      await button(page, "Advance…").click()
      await page.getByLabel("By", { exact: true }).selectOption(step)
      await button(page, "Advance").click()
      await dialog(page).waitFor({ state: "detached" })
      assert.strictEqual((await host.call("GET", `/test_clocks/${id}`))["now"], now)
    }
    const { data } = await host.call("GET", `/invoices?customer_id=${String(customer["id"])}&limit=100`)
    assert.isAtLeast((data as ReadonlyArray<unknown>).length, 13)
    assert.deepEqual(problems, [])
    await context.close()
  })

  it("is not offered in live mode", async () => {
    const { context, page } = await openTab(browser)
    await signIn(page, host.url, host.liveKey)
    const pages = page.getByRole("navigation", { name: "Pages" })
    await pages.getByRole("link", { name: "Endpoints" }).waitFor()
    assert.strictEqual(await pages.getByRole("link", { name: "Test clocks" }).count(), 0)
    await context.close()
  })
})

// After the others: these make other subscriptions, which would count in the figures.
describe("subscriptions", () => {
  it("that could not be billed are listed with the reason", async () => {
    const created = { customer_id: await newPayer(), plan: "starter", currency: "EUR" }
    const { id } = await host.call("POST", "/subscriptions", created)
    await host.failBilling(String(id), "the tax service did not answer")
    const { context, page, problems } = await visit("/payments/attention")
    const bills = section(page, "Bills that could not be made")
    await bills.getByText("the tax service did not answer").waitFor()
    await bills.getByText("Not tried again").waitFor()
    await bills.getByRole("link", { name: "starter" }).click()
    await page.getByText("It is not tried again before somebody changes something.").waitFor()
    assert.deepEqual(problems, [])
    await context.close()
  })

  it("have spend alerts, each with what it does", async () => {
    const customer_id = await newPayer()
    const { id } = await host.call("POST", "/subscriptions", { customer_id, plan: "starter" })
    const alert = { customer_id, subscription_id: id, currency: "EUR" }
    await host.call("POST", "/spend_alerts", {
      ...alert,
      amount: 100,
      action: "invoice",
      repeat: "multiples",
    })
    await host.call("POST", "/spend_alerts", { ...alert, amount: 200, action: "block" })
    const { context, page } = await visit(`/customers/${customer_id}`)
    const lines = section(page, "Spend alerts").locator(".line")
    const billing = lines.filter({ hasText: "€1.00 a period" })
    await billing.getByText("at each multiple, sends an event, and bills the usage so far").waitFor()
    await lines
      .filter({ hasText: "€2.00 a period" })
      .getByText("once a period, sends an event, and blocks until the period ends")
      .waitFor()
    await billing.getByRole("link", { name: String(id).slice(-8) }).click()
    await page.getByRole("heading", { level: 1, name: "Subscription to starter" }).waitFor()
    await context.close()
  })
})

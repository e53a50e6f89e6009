/**
 * Invoices: the list, the computation of each line down to its records, and actions that say the money.
 */
import { readFile } from "node:fs/promises"
import { Effect } from "effect"
import type { Page } from "playwright-core"
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
import { openTab, signIn } from "./Browser.ts"
import * as Host from "./Host.ts"

type Answer = Record<string, unknown>
const invoiceOf = (id: string): Promise<Answer> => host.call("GET", `/invoices/${id}`)

/** A draft of a new customer, who has no credit. */
const draftOf = async (amount: number): Promise<string> => {
  const body = {
    customer_id: await newPayer(),
    currency: "EUR",
    lines: [{ description: "Workshop", amount }],
  }
  return String((await host.call("POST", "/invoices", body))["id"])
}

describe("the list", () => {
  it("has states and totals, and filters that are part of its address", async () => {
    const { context, page, problems } = await visit("/invoices")
    const rows = page.locator(".table-body .row")
    await rows.first().waitFor()
    assert.isAbove(await rows.count(), 15)
    await page.getByLabel("Status").selectOption("draft")
    await page.getByText("1 in all").waitFor()
    assert.include((await rows.first().textContent()) ?? "", "€1,620.00")
    assert.match(page.url(), /status=draft/)
    await page.getByLabel("Status").selectOption("void")
    await page.getByText("No invoices match these filters").waitFor()
    assert.deepEqual(problems, [])
    await context.close()
  })

  it("is left and entered by keyboard", async () => {
    const { context, page } = await visit("/")
    await page.keyboard.press("g")
    await page.keyboard.press("i")
    await page.locator(".table-body .row").first().waitFor()
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { level: 1, name: /^(Draft invoice|Invoice 2\d{3}-\d+)$/ }).waitFor()
    await page.keyboard.press("Backspace")
    await page.getByRole("heading", { level: 1, name: "Invoices" }).waitFor()
    await context.close()
  })
})

describe("a line", () => {
  it("unfolds to its computation, and to the records that it bills", async () => {
    const stored = await invoiceOf(sample.paidInvoiceId)
    const lines = stored["lines"] as ReadonlyArray<Answer>
    const usage = lines.find(({ kind }) => kind === "usage")!
    const path = `/invoices/${sample.paidInvoiceId}/lines/${String(usage["id"])}/records?limit=100`
    const { data } = await host.call("GET", path)
    const { context, page, problems } = await visit(`/invoices/${sample.paidInvoiceId}`)
    const line = page.locator(".invoice-line", { hasText: "usage" })
    await line.locator("summary").focus()
    await page.keyboard.press("Enter")
    const steps = line.getByRole("list", { name: "Computation" }).locator("li")
    assert.strictEqual(await steps.count(), (usage["steps"] as ReadonlyArray<unknown>).length)
    assert.include((await steps.nth(1).textContent()) ?? "", "1,000 free")
    assert.include((await steps.last().textContent()) ?? "", `${Number(usage["amount"]) / 100}`)
    await button(page, "Show the records").click()
    const records = line.getByRole("list", { name: "Records" }).locator("li")
    await records.first().waitFor()
    await page.getByRole("button", { name: "More records" }).click()
    // The button has another name while records are loading, so the last of them is waited for.
    const all = (data as ReadonlyArray<unknown>).length
    await records.nth(all - 1).waitFor()
    await page.getByRole("button", { name: "More records" }).waitFor({ state: "detached" })
    assert.strictEqual(await records.count(), all)
    assert.deepEqual(problems, [])
    await context.close()
  })
})

describe("an action", () => {
  it("is offered only where the invoice allows it", async () => {
    const { context, page } = await visit(`/invoices/${sample.paidInvoiceId}`)
    await button(page, "Credit…").waitFor()
    const offered = await page.locator(".page-actions button").allTextContents()
    assert.deepEqual(offered, ["Credit…", "Save HTML", "Save PDF"])
    await context.close()
  })

  it("issues a draft, charges the card, and credits a part, with the money in each question", async () => {
    const id = await draftOf(25_000)
    const { context, page, problems } = await visit(`/invoices/${id}`)
    await button(page, "Issue…").click()
    await dialog(page).getByText("Issue the invoice over €250.00?").waitFor()
    await button(page, "Issue the invoice").click()
    await page.getByRole("heading", { level: 1, name: /^Invoice 2026-/ }).waitFor()
    assert.strictEqual((await invoiceOf(id))["status"], "open")

    await button(page, "Charge…").click()
    await dialog(page).getByText("Visa •••• 4242").waitFor({ state: "attached" })
    await button(page, "Charge €250.00").click()
    await page.locator(".page-title .badge", { hasText: "Paid" }).waitFor()
    await page.getByText("By fake").waitFor()

    await button(page, "Credit…").click()
    await page.getByText("One amount, spread over the lines in proportion").click()
    await page.getByLabel("Amount (EUR)").fill("100.005")
    await button(page, "Create the credit note").click()
    await page.getByText("must be an amount with at most 2 digits after the point").waitFor()
    await page.getByLabel("Amount (EUR)").fill("100")
    await page.getByLabel("Refund (EUR)").fill("40")
    await button(page, "Create the credit note").click()
    await page.getByRole("heading", { name: "Credit notes" }).waitFor()
    const { amount_credited: credited } = await invoiceOf(id)
    assert.strictEqual(credited, 10_000)
    const note = page.locator(".line", { hasText: "Credit note" })
    assert.include((await note.textContent()) ?? "", "refunded €40.00")
    assert.include((await note.textContent()) ?? "", "kept as credit €60.00")
    assert.deepEqual(problems, [])
    await context.close()
  })

  it("records a part of the money, writes the rest off, and refuses to take too much", async () => {
    const id = await draftOf(10_000)
    await host.call("POST", `/invoices/${id}/finalize`)
    const { context, page } = await visit(`/invoices/${id}`)
    await button(page, "Record a payment…").click()
    await page.getByLabel("Amount (EUR)").fill("120")
    await button(page, "Record the payment").click()
    await dialog(page).getByRole("alert").waitFor()
    await page.getByLabel("Amount (EUR)").fill("30")
    await button(page, "Record the payment").click()
    await dialog(page).waitFor({ state: "detached" })
    await page.locator(".sums", { hasText: "€70.00" }).waitFor()
    await button(page, "Write off…").click()
    await dialog(page).getByText("Write off €70.00 of Invoice").waitFor()
    await button(page, "Write it off").click()
    await page.locator(".page-title .badge", { hasText: "Uncollectible" }).waitFor()
    await context.close()
  })

  it("voids an invoice of which nothing was paid", async () => {
    const { data } = await host.call("GET", "/invoices?status=open&limit=100")
    const waiting = (data as ReadonlyArray<Answer>).find(
      ({ collection }) => collection === "awaiting_method",
    )!
    const { context, page } = await visit(`/invoices/${String(waiting["id"])}`)
    await page.locator(".page-title .badge", { hasText: "No payment method" }).waitFor()
    await button(page, "Void…").click()
    await dialog(page)
      .getByText(`Void Invoice ${String(waiting["number"])} over €${Number(waiting["total"]) / 100}.00?`)
      .waitFor()
    await button(page, "Void the invoice").click()
    await page.locator(".page-title .badge", { hasText: "Void" }).waitFor()
    assert.strictEqual((await invoiceOf(String(waiting["id"])))["amount_due"], 0)
    await context.close()
  })
})

describe("days", () => {
  it("are those of the document, wherever somebody reads them", async () => {
    const customer_id = await newPayer({
      timezone: "Pacific/Honolulu",
      locale: "en-GB",
      net_days: 14,
      collection_method: "send_invoice",
    })
    const subscription = { customer_id, plan: "starter", anchor: "2026-01-01" }
    const { id: subscriptionId } = await host.call("POST", "/subscriptions", subscription)
    await host.bill()
    const { data } = await host.call("GET", `/invoices?customer_id=${customer_id}`)
    const { due_at: due, id } = (data as ReadonlyArray<Answer>)[0]!
    const { context, page } = await visit(`/invoices/${String(id)}`)
    const daysOf = (name: string) =>
      page.locator(".facts > div", { hasText: name }).locator("time").allTextContents()
    await page.locator(".facts").getByText("Due by").waitFor()
    await page.locator(".facts .period time", { hasText: /\d{4}/ }).first().waitFor()
    const line = page.locator(".invoice-line .period").first().locator("time")
    const shown = {
      due: await daysOf("Due by"),
      period: await daysOf("Period"),
      line: await line.allTextContents(),
    }
    assert.include(
      (await page.locator(".facts > div", { hasText: "Due by" }).locator("time").getAttribute("title")) ?? "",
      String(due).replace("T", " ").replace("Z", " UTC"),
    )

    const [file] = await Promise.all([page.waitForEvent("download"), button(page, "Save HTML").click()])
    const html = (await readFile(await file.path(), "utf8")).replaceAll(/[\s\u2009]+/g, " ")
    const at = (day: string | undefined) => Date.parse(`${day} UTC`)
    const written = (dateStyle: "long" | "medium") =>
      new Intl.DateTimeFormat("en-GB", { dateStyle, timeZone: "UTC" })
    assert.include(html, written("long").format(at(shown.due[0])))
    const [first, last] = shown.period
    // The document has the days that its lines bill, which may begin within the period.
    const range = written("medium")
      .formatRange(at(shown.line[0]), at(shown.line[1]))
      .replaceAll(/[\s\u2009]+/g, " ")
    assert.include(html, range)

    await page.goto(`${host.url}/invoices?customer=${customer_id}`)
    await page.locator(".table-body .row", { hasText: shown.due[0] ?? "no day" }).waitFor()
    await page.goto(`${host.url}/subscriptions/${String(subscriptionId)}`)
    await page.locator(".facts .period", { hasText: `${first} – ${last}` }).waitFor()
    await context.close()
  })
})

describe("with a tax service", () => {
  it("is not said to be issued before the service has answered", async () => {
    const taxed = await Host.start({ invoices: { tax: { quote: () => Effect.fail("busy") } } })
    const customer = await taxed.call("POST", "/customers", {
      name: "Wayne",
      email: "wayne@example.com",
      country: "DE",
    })
    const { id } = await taxed.call("POST", "/invoices", {
      customer_id: customer["id"],
      currency: "EUR",
      lines: [{ description: "Workshop", amount: 100 }],
    })
    const { context, page } = await openTab(browser)
    await signIn(page, `${taxed.url}/invoices/${String(id)}`, taxed.testKey)
    await button(page, "Issue…").click()
    await button(page, "Issue the invoice").click()
    await page.getByText("It is issued as soon as the tax service has answered").waitFor()
    assert.strictEqual((await taxed.call("GET", `/invoices/${String(id)}`))["status"], "draft")
    await context.close()
    await taxed.close()
  })
})

describe("its document", () => {
  it("is saved as HTML, and as PDF where the server can make one", async () => {
    const { context, page } = await visit(`/invoices/${sample.paidInvoiceId}`)
    const { number } = await host.call("GET", `/invoices/${sample.paidInvoiceId}`)
    const [file] = await Promise.all([page.waitForEvent("download"), button(page, "Save HTML").click()])
    assert.strictEqual(file.suggestedFilename(), `invoice-${String(number)}.html`)
    const html = await readFile(await file.path(), "utf8")
    assert.include(html, String(number))
    // This server has nothing that makes PDF. The answer says so, and what to install.
    await button(page, "Save PDF").click()
    await page.getByText("@billwright/pdf").waitFor()
    await context.close()
  })
})

describe("its events", () => {
  it("can be sent again", async () => {
    const receiver = await Host.startReceiver()
    await host.call("POST", "/webhook_endpoints", { url: receiver.url, event_types: ["invoice.created"] })
    const { context, page } = await visit(`/invoices/${sample.draftInvoiceId}`)
    await page.getByRole("button", { name: "Send again… invoice.created" }).click()
    await button(page, "Replay").click()
    await page.getByText("Delivered: the receiver answered HTTP 200 to attempt 1.").waitFor()
    await context.close()
    await receiver.close()
  })
})

/** Many drafts of a customer. The last is the newest. */
const draftsOf = async (customer_id: string, count: number): Promise<ReadonlyArray<string>> => {
  const ids: Array<string> = []
  const lines = [{ description: "Workshop", amount: 100 }]
  while (ids.length < count)
    ids.push(String((await host.call("POST", "/invoices", { customer_id, currency: "EUR", lines }))["id"]))
  return ids
}

// After the others, because it makes many invoices.
describe("a list of more than a page", () => {
  const toEnd = (page: Page) =>
    page.locator(".table-frame").evaluate((frame) => frame.scrollTo(0, frame.scrollHeight))

  it("has changes of its newest rows that came while older ones were loading, and of old rows", async () => {
    const customer_id = await newPayer()
    const drafts = await draftsOf(customer_id, 103)
    const { context, page } = await visit(`/invoices?status=draft&customer=${customer_id}`)
    const foot = page.locator(".table-foot")
    await foot.getByText("100 loaded, more below").waitFor()
    const isHead = (url: string) => /\/v1\/invoices\?/.test(url) && !url.includes("starting_after")
    const release = await holdRequests(page, /\/v1\/invoices\?.*starting_after/)
    await toEnd(page)
    await foot.getByText("Loading more…").waitFor()
    await host.call("POST", `/invoices/${drafts.at(-1)}/finalize`)
    await page.waitForResponse(async (response) => {
      if (!isHead(response.url())) return false
      return !(await response.text()).includes(drafts.at(-1) ?? "")
    })
    release()
    await foot.getByText("102 in all").waitFor()

    await toEnd(page)
    await page.locator(`a[href$="/invoices/${drafts[0]}"]`).click()
    await button(page, "Issue…").click()
    await button(page, "Issue the invoice").click()
    await page.getByRole("heading", { level: 1, name: /^Invoice 2026-/ }).waitFor()
    await page.goBack()
    await foot.getByText("101 in all").waitFor()
    await context.close()
  })
})

describe("more credit notes than are shown", () => {
  it("are said to be cut", async () => {
    const id = await draftOf(10_000)
    await host.call("POST", `/invoices/${id}/finalize`)
    for (let note = 0; note < 51; note++)
      await host.call("POST", "/credit_notes", { invoice_id: id, reason: "other", amount: 1 })
    const { context, page } = await visit(`/invoices/${id}`)
    await section(page, "Credit notes").getByText("These are the newest 50.").waitFor()
    await context.close()
  })
})

/** Pages for payers in a real browser: paying an invoice, the pages of a customer, and links that open nothing. */
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { createServer } from "node:http"
import { createRequire } from "node:module"
import chromium from "@sparticuz/chromium"
import { type Browser, chromium as playwright, type Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { HOSTILE, type PayerHost, startHost } from "./PayerHost.ts"

declare const axe: {
  run: () => Promise<{
    readonly violations: ReadonlyArray<{
      readonly id: string
      readonly nodes: ReadonlyArray<{ readonly html: string; readonly failureSummary: string }>
    }>
  }>
}

/** How long a page may take on a busy machine, in milliseconds. */
const PATIENCE = 30_000
const DESKTOP = { width: 1280, height: 800 }
const PHONE = { width: 375, height: 720 }
/** Where the fake provider's pages are. The tests answer for it. */
const PROVIDER = "https://fake.example/"

let host: PayerHost
let browser: Browser
let axeSource: string
beforeAll(async () => {
  axeSource = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")
  host = await startHost()
  browser = await playwright.launch({
    executablePath: process.env["CHROMIUM_PATH"] ?? (await chromium.executablePath()),
    args: ["--no-sandbox", "--disable-gpu", "--font-render-hinting=none"],
  })
})
afterAll(async () => {
  await browser?.close()
  await host?.close()
})

interface Tab extends AsyncDisposable {
  readonly page: Page
  readonly heading: (text: string | RegExp) => Promise<void>
  readonly button: (name: string | RegExp) => Promise<void>
  readonly link: (name: string | RegExp) => Promise<void>
}

interface TabOptions {
  readonly viewport?: { readonly width: number; readonly height: number }
  readonly colorScheme?: "light" | "dark"
  readonly javaScriptEnabled?: boolean
  /** What happens on the provider's page, before the payer returns to this path of the link's page. */
  readonly atProvider?: (url: URL) => Promise<string>
}

/** A tab of a payer. No page may fail, keep a cookie, or tell another site where the payer came from. */
const openTab = async ({ atProvider, ...options }: TabOptions = {}): Promise<Tab> => {
  const context = await browser.newContext({ viewport: DESKTOP, locale: "en-GB", ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(PATIENCE)
  const problems: Array<string> = []
  page.on("pageerror", (error) => problems.push(String(error)))
  page.on("console", (message) => {
    // The browser also logs answers such as 404. Those are not errors of the page.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      problems.push(message.text())
  })
  page.on("request", (request) => {
    if (!request.url().startsWith(host.url) && request.headers()["referer"] !== undefined)
      problems.push(`${request.url()} was told a referrer`)
  })
  await context.route(`${PROVIDER}**`, async (route) => {
    const back = await atProvider?.(new URL(route.request().url()))
    await route.fulfill({
      contentType: "text/html",
      body: `<title>Provider</title><h1>Provider</h1><a href="${back ?? ""}">Return to the shop</a>`,
    })
  })
  return {
    page,
    heading: (name) => page.getByRole("heading", { level: 1, name }).waitFor(),
    button: (name) => page.getByRole("button", { name }).click(),
    link: (name) => page.getByRole("link", { name }).click(),
    [Symbol.asyncDispose]: async () => {
      const cookies = await context.cookies(host.url)
      await context.close()
      assert.deepStrictEqual(problems, [])
      assert.deepStrictEqual(cookies, [])
    },
  }
}

/**
 * Axe finds nothing, and the page does not scroll sideways. With `SCREENSHOTS`, a picture is written to that folder. The
 * debugger runs axe, to which the content security policy of the page doesn't apply.
 */
const inspect = async (page: Page, name: string): Promise<void> => {
  await page.evaluate(axeSource)
  const found = await page.evaluate(async () => (await axe.run()).violations)
  const problems = found.flatMap(({ id, nodes }) =>
    nodes.map(({ failureSummary, html }) => `${id}: ${html}\n${failureSummary}`),
  )
  assert.deepStrictEqual(problems, [], name)
  const isTooWide = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth)
  assert.isFalse(isTooWide, `${name} scrolls sideways`)
  const folder = process.env["SCREENSHOTS"]
  if (folder !== undefined) await page.screenshot({ path: `${folder}/payer-${name}.png`, fullPage: true })
}

const invoiceUrl = async (id: string, options = {}) => (await host.billing.invoices.link(id, options)).url
const portalUrl = async (id: string, options = {}) =>
  (await host.billing.customers.portalLink(id, options)).url
const statusOf = async (id: string) => (await host.billing.invoices.get(id)).status
const chargesOf = (id: string) =>
  host.payments.payments.filter(({ invoiceId }) => invoiceId === id).map(({ charges }) => charges)

/** The payer enters a card on the provider's page, and returns to the page of the link. */
const entersCard = (link: string) => async (url: URL) => {
  const id = url.pathname.replace("/fake_", "")
  host.payments.enterCard(id)
  return `${link}/return/${id}`
}

describe("the page of an invoice", () => {
  it("takes a card on the provider's page and then the payment, without JavaScript", async () => {
    const { invoiceId } = await host.invoiced()
    const url = await invoiceUrl(invoiceId)
    await using tab = await openTab({ javaScriptEnabled: false, atProvider: entersCard(url) })
    await tab.page.goto(url)
    await tab.page.getByText("€1,020.50 to pay").waitFor()
    await tab.button("Pay by card")
    await tab.heading("Provider")
    await tab.link("Return to the shop")
    // Reloading sends nothing again, because a GET shows the page.
    assert.strictEqual(tab.page.url(), url)
    await tab.button("Pay with Visa ending in 4242")
    await tab.page.getByText("Paid. Thank you!").waitFor()
    assert.strictEqual(tab.page.url(), url)
    assert.strictEqual(await statusOf(invoiceId), "paid")
    assert.deepStrictEqual(chargesOf(invoiceId), [1])
    assert.strictEqual(await tab.page.getByRole("button").count(), 0)
  })

  it("takes the payer to the bank and back, and shows a card that is declined", async () => {
    const { customerId, invoiceId } = await host.invoiced()
    await host.payments.saveCard(customerId, { behaviour: "needs_confirmation" })
    const url = await invoiceUrl(invoiceId)
    await using tab = await openTab({
      viewport: PHONE,
      atProvider: async () => {
        await host.payments.refuse(invoiceId)
        return `${url}/return`
      },
    })
    await tab.page.goto(url)
    await tab.button("Pay with Visa ending in 4242")
    await tab.heading("Provider")
    await tab.link("Return to the shop")
    await tab.page.getByText("The last attempt was declined.").waitFor()
    await inspect(tab.page, "declined-phone-light")
    assert.deepStrictEqual(chargesOf(invoiceId), [0])
  })

  it("gives the PDF", async () => {
    const { invoiceId } = await host.invoiced()
    await using tab = await openTab()
    const answer = await tab.page.request.get(`${await invoiceUrl(invoiceId)}/pdf`)
    assert.strictEqual(answer.headers()["content-type"], "application/pdf")
    assert.strictEqual((await answer.body()).subarray(0, 5).toString(), "%PDF-")
  })
})

describe("the pages of a customer", () => {
  it("show usage with why it costs that, and cancel after a question, by keyboard", async () => {
    const { customerId, subscriptionId } = await host.subscribed()
    await using tab = await openTab()
    await tab.page.goto(await portalUrl(customerId))
    await tab.heading("Ada Lovelace")
    const usage = tab.page.getByRole("table").filter({ hasText: "12,480" })
    // 9,000 calls at 0.004 and 2,480 at 0.002
    await usage.getByText("€40.96", { exact: true }).first().waitFor()
    const why = tab.page.locator("summary").first()
    await why.focus()
    await tab.page.keyboard.press("Enter")
    await tab.page.getByText("9,000").first().waitFor()
    await inspect(tab.page, "account-explained-desktop-light")

    await tab.page.getByRole("link", { name: "Cancel Pro" }).focus()
    await tab.page.keyboard.press("Enter")
    await tab.heading("Cancel Pro?")
    assert.isNull((await host.billing.subscriptions.get(subscriptionId)).endsAt)
    await inspect(tab.page, "cancel-desktop-light")
    await tab.page.getByRole("button", { name: /^Cancel on/ }).focus()
    await tab.page.keyboard.press("Enter")
    await tab.page.getByText(/^Ends on/).waitFor()
    assert.isNotNull((await host.billing.subscriptions.get(subscriptionId)).endsAt)
    await tab.button("Keep Pro after all")
    await tab.page.getByRole("link", { name: "Cancel Pro" }).waitFor()
    assert.isNull((await host.billing.subscriptions.get(subscriptionId)).endsAt)
  })

  it("add a card, choose which one pays, and lead to invoices and back", async () => {
    const { customerId } = await host.subscribed()
    await host.payments.saveCard(customerId, { brand: "mastercard", last4: "4444" })
    const url = await portalUrl(customerId)
    await using tab = await openTab({ viewport: PHONE, atProvider: entersCard(url) })
    await tab.page.goto(url)
    await tab.button("Add a payment method")
    await tab.link("Return to the shop")
    await tab.button("Use Visa ending in 4242 for payments")
    await tab.page.getByRole("button", { name: "Use Mastercard ending in 4444 for payments" }).waitFor()
    await tab.page
      .getByRole("link", { name: /^2026-\d{4}/ })
      .first()
      .click()
    await tab.page.getByText("Nordlicht GmbH").first().waitFor()
    await tab.page.goBack()
    await tab.heading("Ada Lovelace")
  })
})

describe("links", () => {
  it("that were changed or have expired show nothing", async () => {
    const { customerId, invoiceId } = await host.invoiced({ name: "Grace Hopper" })
    const [invoice, portal] = [
      await invoiceUrl(invoiceId, { expiresInSeconds: 60 }),
      await portalUrl(customerId),
    ]
    await using tab = await openTab({ viewport: PHONE })
    for (const wrong of [
      `${invoice}x`,
      invoice.replace(".test.", ".live."),
      portal.replace("/account/", "/invoices/"),
    ]) {
      await tab.page.goto(wrong)
      await tab.heading("This link is not valid")
      assert.strictEqual(await tab.page.getByText("Grace Hopper").count(), 0)
    }
    await inspect(tab.page, "wrong-phone-light")
    await host.billing.testing.advance({ minutes: 1 })
    const answer = await tab.page.goto(invoice)
    assert.strictEqual(answer?.status(), 410)
    await tab.heading("This link has expired")
    assert.strictEqual(await tab.page.getByText("Grace Hopper").count(), 0)
    await inspect(tab.page, "expired-phone-light")
  })

  it("do nothing for forms of other sites", async () => {
    const { customerId, subscriptionId } = await host.subscribed()
    const url = await portalUrl(customerId)
    const evil = createServer((_, response) => {
      response.setHeader("content-type", "text/html")
      response.end(`<form method="post" action="${url}/cancel/${subscriptionId}"><button>Win</button></form>`)
    }).listen(0, "localhost")
    await once(evil, "listening")
    await using tab = await openTab()
    try {
      const { port } = evil.address() as { readonly port: number }
      await tab.page.goto(`http://localhost:${port}`)
      await tab.button("Win")
      await tab.heading("This was not sent from our page")
      assert.isNull((await host.billing.subscriptions.get(subscriptionId)).endsAt)
    } finally {
      evil.close()
      evil.closeAllConnections()
    }
  })
})

describe("every page", () => {
  it("shows a hostile name as text", async () => {
    const { invoiceId } = await host.invoiced({ name: HOSTILE })
    const { customerId } = await host.subscribed({ name: HOSTILE })
    await using tab = await openTab()
    for (const url of [await invoiceUrl(invoiceId), await portalUrl(customerId)]) {
      await tab.page.goto(url)
      await tab.page.getByText(HOSTILE).first().waitFor()
      assert.isFalse(await tab.page.evaluate(() => "hacked" in window))
    }
  })

  for (const colorScheme of ["light", "dark"] as const) {
    it(`has nothing that axe finds, and fits, ${colorScheme}`, { timeout: 240_000 }, async () => {
      const { customerId, invoiceId } = await host.invoiced()
      await host.payments.saveCard(customerId)
      const subscribed = await host.subscribed()
      await host.payments.saveCard(subscribed.customerId)
      for (const [screen, viewport] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
        await using tab = await openTab({ colorScheme, viewport })
        for (const language of ["en", "de", "fr", "es"]) {
          const portal = await portalUrl(subscribed.customerId, { language })
          const urls = {
            invoice: await invoiceUrl(invoiceId, { language }),
            account: portal,
            cancel: `${portal}/cancel/${subscribed.subscriptionId}`,
          }
          for (const [name, url] of Object.entries(urls)) {
            await tab.page.goto(url)
            await inspect(tab.page, `${name}-${screen}-${colorScheme}-${language}`)
          }
        }
      }
    })
  }

  it("has nothing that axe finds in a host's colours", async () => {
    const { customerId } = await host.subscribed()
    const other = await startHost({
      theme: {
        accent: "#7a1fa2",
        background: "#fffaf0",
        text: "#2b1a33",
        dark: { accent: "#d0a2f7", background: "#16121a", text: "#f0eaf5" },
      },
    })
    try {
      const theirs = await other.subscribed()
      for (const colorScheme of ["light", "dark"] as const) {
        await using tab = await openTab({ colorScheme })
        await tab.page.goto((await other.billing.customers.portalLink(theirs.customerId)).url)
        await inspect(tab.page, `theme-desktop-${colorScheme}`)
        // A link of one host opens nothing at another one: its key is another.
        await tab.page.goto((await portalUrl(customerId)).replace(host.url, other.url))
        await tab.heading("This link is not valid")
      }
    } finally {
      await other.close()
    }
  })
})

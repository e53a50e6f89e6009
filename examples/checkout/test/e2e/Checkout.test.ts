/** Customers who buy in a real browser, at the fake of Stripe. */
import { readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import chromium from "@sparticuz/chromium"
import { type Browser, chromium as playwright, type Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Shop, startShop } from "../Shop.ts"

declare const axe: {
  run: () => Promise<{
    readonly violations: ReadonlyArray<{
      readonly id: string
      readonly nodes: ReadonlyArray<{ readonly html: string }>
    }>
  }>
}

/** How long a page may take on a busy machine, in milliseconds. */
const PATIENCE = 30_000
const PHONE = { width: 375, height: 720 }
const CARDS = {
  good: "4242 4242 4242 4242",
  refused: "4000 0000 0000 0002",
  declinedLater: "4000 0000 0000 0341",
  asksOnce: "4000 0025 0000 3155",
  asksAlways: "4000 0027 6000 3184",
}

let shop: Shop
let browser: Browser
let axeSource: string
beforeAll(async () => {
  axeSource = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")
  shop = await startShop()
  browser = await playwright.launch({
    executablePath: process.env["CHROMIUM_PATH"] ?? (await chromium.executablePath()),
    args: ["--no-sandbox", "--disable-gpu", "--font-render-hinting=none"],
  })
})
afterAll(async () => {
  await browser?.close()
  await shop?.stop()
})

/** Axe finds nothing, and the page does not scroll sideways. With `SCREENSHOTS`, a picture is written to that folder. */
const inspect = async (page: Page, name: string): Promise<void> => {
  await page.evaluate(axeSource)
  const found = await page.evaluate(async () => (await axe.run()).violations)
  const problems = found.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html}`))
  assert.deepStrictEqual(problems, [], name)
  const isTooWide = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth)
  assert.isFalse(isTooWide, name)
  const folder = process.env["SCREENSHOTS"]
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true })
}

let customers = 0

interface Tab extends AsyncDisposable {
  readonly page: Page
  readonly heading: (text: string) => Promise<void>
  readonly button: (name: string | RegExp) => Promise<void>
  readonly enterCard: (number: string) => Promise<void>
}

/** A tab of a new visitor. */
const openTab = async (viewport = { width: 1280, height: 800 }, colorScheme?: "dark"): Promise<Tab> => {
  const context = await browser.newContext({ viewport, locale: "en-GB", colorScheme: colorScheme ?? "light" })
  const page = await context.newPage()
  page.setDefaultTimeout(PATIENCE)
  const problems: Array<string> = []
  page.on("pageerror", (error) => problems.push(String(error)))
  return {
    page,
    heading: (text) => page.getByRole("heading", { level: 1, name: text }).waitFor(),
    button: (name) => page.getByRole("button", { name }).click(),
    enterCard: async (number) => {
      await page.getByLabel("Card number").fill(number)
      await page.getByLabel("Expires").fill("12 / 40")
      await page.getByLabel("CVC").fill("123")
    },
    [Symbol.asyncDispose]: async () => {
      await context.close()
      assert.deepStrictEqual(problems, [])
    },
  }
}

/** A visitor who picks a plan and signs up. */
const choose = async ({ button, heading, page }: Tab, plan: string): Promise<void> => {
  await page.goto(shop.url)
  await page.getByRole("link", { name: `Choose ${plan}` }).click()
  await page.getByLabel("Name").fill("Ada Lovelace")
  await page.getByLabel("E-mail").fill(`ada-${++customers}@example.com`)
  await button("Sign up")
  await heading(plan)
}

describe("the checkout", () => {
  it("takes a good card on its own page, and shows plan, invoice and card", async () => {
    await using tab = await openTab()
    await choose(tab, "Writer")
    await inspect(tab.page, "checkout")
    await tab.enterCard(CARDS.good)
    await tab.button("Pay €12.00")
    await tab.heading("Thank you")
    await inspect(tab.page, "thanks")
    await tab.page.getByRole("link", { name: "Go to your account" }).click()
    await tab.heading("Ada Lovelace")
    const text = await tab.page.locator("main").innerText()
    for (const part of ["Writer", "Renews on", "€12.00", "paid", "Visa ending in 4242", "used for payments"])
      assert.include(text, part)
    await inspect(tab.page, "account")
    await tab.page.goto(`${shop.url}/checkout/press`)
    await tab.heading("Ada Lovelace") // has a plan already
    await tab.button("Cancel at the end of the month")
    await tab.page.getByText("Ends on").waitFor()
  })

  it("says that a card is refused, and takes another one", async () => {
    await using tab = await openTab(PHONE)
    await choose(tab, "Reader")
    await tab.enterCard("1234")
    await tab.button(/^Pay/)
    await tab.page.getByText("Your card number is incorrect.").waitFor()
    await tab.enterCard(CARDS.refused)
    await tab.button(/^Pay/)
    await tab.page.getByText("Your card was declined.").waitFor()
    await inspect(tab.page, "refused-phone")
    await tab.enterCard(CARDS.good)
    await tab.button(/^Pay/)
    await tab.heading("Thank you")
  })

  it("lets the bank ask when a card is saved, and the customer refuse and confirm", async () => {
    await using tab = await openTab(PHONE)
    await choose(tab, "Reader")
    await tab.enterCard(CARDS.asksOnce)
    await tab.button(/^Pay/)
    await tab.page.getByRole("dialog", { name: "Example Bank" }).waitFor()
    await inspect(tab.page, "bank-phone")
    await tab.button("No, refuse")
    await tab.page.getByText("failed authentication").waitFor()
    await tab.button(/^Pay/)
    await tab.button("Yes, confirm")
    await tab.heading("Thank you")
    await inspect(tab.page, "thanks-phone")
  })

  it("lets the bank ask for the payment itself, and waits for the customer", async () => {
    await using tab = await openTab()
    await choose(tab, "Press")
    await tab.enterCard(CARDS.asksAlways)
    await tab.button(/^Pay/)
    await tab.button("Yes, confirm") // to save it
    await tab.heading("Your bank asks you")
    await inspect(tab.page, "asked")
    await tab.page.reload()
    await tab.button("Confirm the payment")
    await tab.button("Yes, confirm")
    await tab.heading("Thank you")
    await tab.page.goto(`${shop.url}/account`)
    await tab.page.getByText("€49.00").waitFor()
  })

  it("takes another card when the customer refuses the payment", async () => {
    await using tab = await openTab()
    await choose(tab, "Press")
    await tab.enterCard(CARDS.asksAlways)
    await tab.button(/^Pay/)
    await tab.button("Yes, confirm")
    await tab.button("Confirm the payment")
    await tab.button("No, refuse")
    await tab.heading("Your card was declined")
    await tab.page.getByRole("link", { name: "Use another card" }).click()
    await tab.enterCard(CARDS.good)
    await tab.button("Save card")
    await tab.heading("Thank you")
  })

  it("tries a declined payment again with another card, at once", async () => {
    await using tab = await openTab(PHONE)
    await choose(tab, "Writer")
    await tab.enterCard(CARDS.declinedLater)
    await tab.button(/^Pay/)
    await tab.heading("Your card was declined")
    await tab.page.getByText("We try this one again on").waitFor()
    await inspect(tab.page, "declined-phone")
    const [answer] = await Promise.all([
      tab.page.waitForResponse((response) => response.url().endsWith("/pay")),
      tab.button("Try this card again"),
    ])
    assert.strictEqual(answer.status(), 303)
    await tab.heading("Your card was declined")
    await tab.page.getByRole("link", { name: "Go to your account" }).click()
    await inspect(tab.page, "account-open-phone")
    await tab.page.getByRole("link", { name: "open: see why" }).click()
    await tab.page.getByRole("link", { name: "Use another card" }).click()
    await inspect(tab.page, "card-phone")
    await tab.enterCard(CARDS.good)
    await tab.button("Save card")
    await tab.heading("Thank you")
    await tab.page.goto(`${shop.url}/account`)
    await tab.button("Remove Visa ending in 0341")
    await tab.page.getByText("0341").waitFor({ state: "detached" })
  })

  it("takes a card on a page of Stripe, from which the customer returns", async () => {
    await using tab = await openTab()
    await choose(tab, "Writer")
    await tab.button("Enter the card at Stripe instead")
    await tab.heading("Save a card")
    await inspect(tab.page, "stripe")
    await tab.page.getByRole("link", { name: "Back" }).click()
    await tab.page.getByText("No card was saved.").waitFor()
    await tab.button("Enter the card at Stripe instead")
    await tab.page.getByLabel("Card number").fill(CARDS.refused)
    await tab.button("Save card")
    await tab.page.getByText("Your card was declined.").waitFor()
    await tab.page.getByLabel("Card number").fill(CARDS.asksOnce)
    await tab.button("Save card")
    await tab.heading("Your bank asks")
    await tab.button("Confirm")
    await tab.heading("Writer")
    await tab.page.getByText("Visa ending in 3155").waitFor()
    await inspect(tab.page, "returned")
    await tab.button(/^Pay/)
    await tab.heading("Thank you")
  })

  it("leads to the pages of billing: the invoice, and the account with cards and the way to cancel", async () => {
    await using tab = await openTab(PHONE)
    await choose(tab, "Writer")
    await tab.enterCard(CARDS.good)
    await tab.button("Pay €12.00")
    await tab.heading("Thank you")
    await tab.page.goto(`${shop.url}/account`)
    await tab.page.getByRole("link", { name: /^2026-|^\d{4}-/ }).click()
    await tab.page.getByText("Paid. Thank you!").waitFor()
    await inspect(tab.page, "billing-invoice-phone")
    await tab.page.goto(`${shop.url}/account`)
    await tab.page.getByRole("link", { name: "Manage billing" }).click()
    await tab.heading("Ada Lovelace")
    await tab.page.getByText("€12.00 a month").waitFor()
    await inspect(tab.page, "billing-account-phone")
    await tab.button("Add a payment method")
    await tab.heading("Save a card")
    await tab.page.getByLabel("Card number").fill(CARDS.asksOnce)
    await tab.button("Save card")
    await tab.heading("Your bank asks")
    await tab.button("Confirm")
    await tab.button("Use Visa ending in 3155 for payments")
    await tab.page.getByRole("button", { name: "Use Visa ending in 4242 for payments" }).waitFor()
    await tab.page.getByRole("link", { name: "Cancel Writer" }).click()
    await tab.heading("Cancel Writer?")
    await tab.button(/^Cancel on/)
    await tab.page.getByText(/^Ends on/).waitFor()
  })

  it("has pages that fit a phone, in dark colours, and for the keyboard", async () => {
    await using tab = await openTab(PHONE, "dark")
    await tab.page.goto(shop.url)
    await inspect(tab.page, "catalogue-phone")
    await tab.page.getByRole("link", { name: "Choose Reader" }).focus()
    await tab.page.keyboard.press("Enter")
    await tab.heading("Sign up")
    await inspect(tab.page, "sign-up-phone")
    await tab.page.getByLabel("Name").focus()
    await tab.page.keyboard.type("Grace Hopper")
    await tab.page.keyboard.press("Tab")
    await tab.page.keyboard.type("grace@example.com")
    await tab.page.keyboard.press("Enter")
    await tab.heading("Reader")
    await inspect(tab.page, "checkout-phone")
    await tab.page.getByLabel("Card number").focus()
    await tab.page.keyboard.type(CARDS.asksOnce)
    await tab.page.keyboard.press("Tab")
    await tab.page.keyboard.type("12/40")
    await tab.page.keyboard.press("Tab")
    await tab.page.keyboard.type("123")
    await tab.page.keyboard.press("Enter")
    await tab.page.getByRole("dialog").waitFor()
    await tab.page.keyboard.press("Enter")
    await tab.heading("Thank you")
    await inspect(tab.page, "thanks-dark")
  })
})

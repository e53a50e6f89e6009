/**
 * A real browser from npm, without a system install; `CHROMIUM_PATH` names another.
 */
import chromium from "@sparticuz/chromium"
import { type Browser, type BrowserContext, chromium as playwright, type Page } from "playwright-core"

/**
 * Starts it. The arguments that the package suggests are for functions in a cloud: they turn web security off, and
 * run everything in one process, which ends with the first tab that is closed.
 */
export const launch = async (): Promise<Browser> =>
  playwright.launch({
    executablePath: process.env["CHROMIUM_PATH"] ?? (await chromium.executablePath()),
    args: ["--no-sandbox", "--disable-gpu", "--font-render-hinting=none"],
    headless: true,
  })

export const DESKTOP = { width: 1280, height: 800 }
export const PHONE = { width: 375, height: 720 }

export interface Tab {
  readonly context: BrowserContext
  readonly page: Page
  /** What the page asked of the network. */
  readonly requests: ReadonlyArray<{
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
  }>
  /** Errors of the page, those of its content security policy included. */
  readonly problems: ReadonlyArray<string>
}

export interface TabOptions {
  readonly viewport?: { readonly width: number; readonly height: number }
  readonly colorScheme?: "light" | "dark"
}

/** A tab of a browser that has never been here. */
export const openTab = async (browser: Browser, options: TabOptions = {}): Promise<Tab> => {
  const context = await browser.newContext({
    viewport: options.viewport ?? DESKTOP,
    colorScheme: options.colorScheme ?? "light",
    reducedMotion: "reduce",
    timezoneId: "UTC",
    locale: "en-GB",
  })
  const page = await context.newPage()
  page.setDefaultTimeout(10_000)
  const requests: Array<Tab["requests"][number]> = []
  const problems: Array<string> = []
  page.on("request", (request) => requests.push({ url: request.url(), headers: request.headers() }))
  page.on("pageerror", (error) => problems.push(String(error)))
  page.on("console", (message) => {
    // The browser's own note of an answer such as 404 is none of the page's.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      problems.push(message.text())
  })
  return { context, page, requests, problems }
}

/** Signs in and waits for the first page. */
export const signIn = async (page: Page, url: string, key: string): Promise<void> => {
  await page.goto(url)
  await page.getByLabel("API key").fill(key)
  await page.getByRole("button", { name: "Sign in" }).click()
  await page.getByRole("navigation", { name: "Pages" }).waitFor()
}

/** Goes to an address and waits until what it shows is there. */
export const show = async (page: Page, url: string): Promise<void> => {
  await page.goto(url)
  await page.locator("main:not(:has(.skeleton)) h1").waitFor()
  await page.waitForLoadState("networkidle")
}

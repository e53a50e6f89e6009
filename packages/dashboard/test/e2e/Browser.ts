/**
 * A real browser from npm, without an installation on the system. `CHROMIUM_PATH` names another one.
 */
import chromium from "@sparticuz/chromium"
import { type Browser, type BrowserContext, chromium as playwright, type Page } from "playwright-core"

/**
 * Starts the browser. It doesn't use the arguments that the package suggests, which are for cloud functions. They turn off
 * web security, and run everything in one process, which ends when the first tab is closed.
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
  /** The requests of the page. */
  readonly requests: ReadonlyArray<{
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
  }>
  /** Errors of the page, including those of its content security policy. */
  readonly problems: ReadonlyArray<string>
}

export interface TabOptions {
  readonly viewport?: { readonly width: number; readonly height: number }
  readonly colorScheme?: "light" | "dark"
}

/** A tab in a new browser context. */
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
    // The browser also logs answers such as 404. Those are not errors of the page.
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

/** Opens an address and waits until its content is loaded. */
export const show = async (page: Page, url: string): Promise<void> => {
  await page.goto(url)
  await page.locator("main:not(:has(.skeleton)) h1").waitFor()
  await page.waitForLoadState("networkidle")
}

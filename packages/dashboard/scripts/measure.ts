/**
 * Measures how fast the dashboard loads and how smoothly its longest list scrolls, in a real browser with an empty cache,
 * with the real server on loopback. The app must be built. `npm run measure -w packages/dashboard`.
 */
import { readdir, readFile } from "node:fs/promises"
import { gzipSync } from "node:zlib"
import type { Browser, Page } from "playwright-core"
import { launch, openTab, signIn } from "../test/e2e/Browser.ts"
import * as Host from "../test/e2e/Host.ts"

const ASSETS = new URL("../dist/app/assets/", import.meta.url)
/** The number of visits with an empty cache. The median counts. */
const VISITS = 7
const EVENTS = 100_000

const print = (name: string, value: string): void => console.log(`${name.padEnd(58)} ${value}`)
const millis = (value: number): string => `${Math.round(value)} ms`
const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

const printSizes = async (): Promise<void> => {
  const names = (await readdir(ASSETS)).filter((name) => name.endsWith(".js"))
  const sizes = await Promise.all(
    names.map(async (name) => gzipSync(await readFile(new URL(name, ASSETS))).length),
  )
  print("JavaScript in all, gzipped", `${Math.round(sizes.reduce((sum, size) => sum + size, 0) / 1024)} KiB`)
}

/** Measures the time until the page can be used, in a new browser. */
const visit = async (
  browser: Browser,
  host: Host.Host,
): Promise<readonly [signIn: number, events: number]> => {
  const { context, page } = await openTab(browser)
  const start = performance.now()
  await page.goto(host.url)
  await page.getByLabel("API key").waitFor()
  const shown = performance.now() - start
  await page.evaluate((key) => sessionStorage.setItem("billwright.key", key), host.testKey)
  // Like after the sign-in, but with an empty cache again.
  const session = await context.newCDPSession(page)
  await session.send("Network.clearBrowserCache")
  const again = performance.now()
  await page.goto(`${host.url}/events`)
  await page.locator(".table-body .row").first().waitFor()
  const listed = performance.now() - again
  await context.close()
  return [shown, listed]
}

declare global {
  interface Window {
    /** The durations of tasks that blocked the page for more than 50 milliseconds. */
    longTasks: Array<number>
  }
}

/** Scrolls to the end of the list until the whole list is loaded. */
const scrollToEnd = async (page: Page): Promise<void> => {
  const foot = page.locator(".table-foot")
  for (;;) {
    const text = (await foot.textContent()) ?? ""
    if (text.endsWith("in all")) return print("loaded while it was scrolled", text)
    await page.locator(".table-frame").evaluate((frame) => frame.scrollTo({ top: frame.scrollHeight }))
    await page.waitForTimeout(5)
  }
}

const measureList = async (browser: Browser, host: Host.Host): Promise<void> => {
  const { context, page } = await openTab(browser)
  await signIn(page, `${host.url}/events`, host.testKey)
  await page.locator(".table-body .row").first().waitFor()
  await page.evaluate(() => {
    window.longTasks = []
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) window.longTasks.push(duration)
    }).observe({ type: "longtask" })
  })
  const start = performance.now()
  await scrollToEnd(page)
  print("until all were loaded", millis(performance.now() - start))
  const tasks = await page.evaluate(() => window.longTasks)
  print("longest time without an answer of the page", millis(Math.max(0, ...tasks)))
  print("rows in the document", String(await page.locator(".table-body .row").count()))
  await context.close()
}

await printSizes()
const host = await Host.start()
const browser = await launch()
try {
  await host.publishMany(EVENTS)
  const visits: Array<readonly [number, number]> = []
  for (let count = 0; count < VISITS; count++) visits.push(await visit(browser, host))
  print("until the sign-in can be used", millis(median(visits.map(([shown]) => shown))))
  print(
    `until the list of ${EVENTS.toLocaleString("en-GB")} events can be used`,
    millis(median(visits.map(([, listed]) => listed))),
  )
  await measureList(browser, host)
} finally {
  await browser.close()
  await host.close()
}

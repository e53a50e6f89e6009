/**
 * What the tests of pages of billing share: a browser, and a server with subscriptions, invoices and payments. Both run as long
 * as the tests of a file.
 */
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll } from "vitest"
import * as BillingSample from "./BillingSample.ts"
import { launch, openTab, signIn } from "./Browser.ts"
import * as Host from "./Host.ts"

export let browser: Browser
export let host: Host.Host
export let sample: BillingSample.BillingSample

beforeAll(async () => {
  browser = await launch()
  host = await Host.start()
  sample = await BillingSample.make(host)
})
afterAll(async () => {
  await browser.close()
  await host.close()
})

/** Holds the requests of a page to an address, until they may go on. */
export const holdRequests = async (page: Page, address: RegExp): Promise<() => void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route(address, async (held) => {
    await promise
    await held.continue()
  })
  return resolve
}

/** Opens a page in a tab of its own, signed in with the test key. */
export const visit = async (path: string) => {
  const tab = await openTab(browser)
  await signIn(tab.page, `${host.url}${path}`, host.testKey)
  return tab
}

export const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true })
export const dialog = (page: Page) => page.locator(".dialog")
export const section = (page: Page, name: string) => page.getByRole("region", { name, exact: true })

/** A new customer with a card, who has no credit. */
export const newPayer = async (more: object = {}): Promise<string> => {
  const customer = await host.call("POST", "/customers", {
    name: "Wayne",
    email: "wayne@example.com",
    ...more,
  })
  await BillingSample.saveCard(host, String(customer["id"]))
  return String(customer["id"])
}

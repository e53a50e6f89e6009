import { readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import type { Browser, Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { DESKTOP, launch, openTab, PHONE, show, signIn } from "./Browser.ts"
import * as Sample from "./Sample.ts"

interface Violation {
  readonly id: string
  readonly nodes: ReadonlyArray<{ readonly html: string; readonly failureSummary: string }>
}

declare const axe: { run: () => Promise<{ readonly violations: ReadonlyArray<Violation> }> }

/** Checking thirty pages takes a while. */
const PAGES_MILLIS = 240_000

let browser: Browser
let sample: Sample.Sample
let axeSource: string
beforeAll(async () => {
  axeSource = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")
  browser = await launch()
  sample = await Sample.make()
}, PAGES_MILLIS)
afterAll(async () => {
  await browser.close()
  await sample.close()
})

/** Runs axe by the debugger, to which the content security policy of the page doesn't apply. */
const violations = async (page: Page): Promise<ReadonlyArray<string>> => {
  await page.evaluate(axeSource)
  const found = await page.evaluate(async () => (await axe.run()).violations)
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ failureSummary, html }) => `${id}: ${html}\n${failureSummary}`),
  )
}

for (const colorScheme of ["light", "dark"] as const) {
  for (const [screen, viewport] of [
    ["a desk", DESKTOP],
    ["a phone", PHONE],
  ] as const) {
    describe(`${colorScheme}, on ${screen}`, () => {
      it(
        "axe finds nothing on any page, and no page scrolls sideways",
        async () => {
          const tab = await openTab(browser, { viewport, colorScheme })
          await tab.page.goto(sample.host.url)
          await tab.page.getByLabel("API key").waitFor()
          assert.deepEqual(await violations(tab.page), [])
          await signIn(tab.page, sample.host.url, sample.host.testKey)
          for (const [name, path] of [...Sample.pagesOf(sample), ["nothing", "/events/x/y"] as const]) {
            await show(tab.page, `${sample.host.url}${path}`)
            assert.deepEqual(await violations(tab.page), [], name)
            const isTooWide = await tab.page.evaluate(() =>
              [document.documentElement, document.querySelector("main")].some(
                (element) => element !== null && element.scrollWidth > element.clientWidth,
              ),
            )
            assert.isFalse(isTooWide, `${name} scrolls sideways`)
          }
          assert.deepEqual(tab.problems, [])
          await tab.context.close()
        },
        PAGES_MILLIS,
      )
    })
  }
}

describe("dialogs", () => {
  it.for(["light", "dark"] as const)(
    "have no violations, %s",
    { timeout: PAGES_MILLIS },
    async (colorScheme) => {
      const tab = await openTab(browser, { colorScheme })
      await signIn(tab.page, sample.host.url, sample.host.testKey)
      const dialogs = [
        ["/endpoints", "New endpoint"],
        [`/endpoints/${sample.endpointId}`, "Replay…"],
        [`/endpoints/${sample.endpointId}`, "Edit…"],
        [`/endpoints/${sample.endpointId}`, "Delete…"],
        [`/events/${sample.failedEventId}`, "Replay…"],
        ["/customers", "New customer"],
        [`/customers/${sample.customerId}`, "Erase…"],
        [`/usage?customer=${sample.customerId}`, "Another customer…"],
        [`/customers/${sample.customerId}`, "New threshold"],
        [`/invoices/${sample.billing.declinedInvoiceId}`, "Charge…"],
        [`/invoices/${sample.billing.declinedInvoiceId}`, "Record a payment…"],
        [`/invoices/${sample.billing.declinedInvoiceId}`, "Write off…"],
        [`/invoices/${sample.billing.paidInvoiceId}`, "Credit…"],
        [`/subscriptions/${sample.billing.subscriptionId}`, "Change…"],
        [`/subscriptions/${sample.billing.subscriptionId}`, "Cancel…"],
        ["/subscriptions", "New subscription"],
        [`/customers/${sample.billing.customerId}`, "New spend alert"],
        [`/customers/${sample.billing.customerId}/credits`, "Grant credits"],
        [`/payments/${sample.billing.paidPaymentId}`, "Refund…"],
        [`/test-clocks/${sample.billing.clockId}`, "Advance…"],
        ["/events", "Customer Any"],
        ["/deliveries", "Event Any"],
      ] as const
      for (const [path, button] of dialogs) {
        await show(tab.page, `${sample.host.url}${path}`)
        await tab.page.getByRole("button", { name: button }).first().click()
        await tab.page.locator(".dialog").waitFor()
        assert.deepEqual(await violations(tab.page), [], `${path}: ${button}`)
      }
      await tab.context.close()
    },
  )
})

/**
 * Takes screenshots of every page of the dashboard, light and dark, for a desktop and a phone:
 * `docs/images/dashboard-*.png`.
 *
 * The app must be built. `node scripts/screenshots.ts usage` takes only those of that page.
 */
import { mkdir } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import type { Browser } from "playwright-core"
import { DESKTOP, launch, openTab, PHONE, show, signIn } from "../test/e2e/Browser.ts"
import * as Sample from "../test/e2e/Sample.ts"

const IMAGES = fileURLToPath(new URL("../../../docs/images/", import.meta.url))
const SCREENS = { desktop: DESKTOP, phone: PHONE }
const SCHEMES = ["light", "dark"] as const

/** Pages that look like another one. */
const NOT_DRAWN = new Set(["declined-invoice", "draft", "outstanding", "troubled-payment"])

const only = process.argv[2]

const draw = async (
  browser: Browser,
  sample: Sample.Sample,
  screen: keyof typeof SCREENS,
  colorScheme: (typeof SCHEMES)[number],
): Promise<void> => {
  const { context, page, problems } = await openTab(browser, { viewport: SCREENS[screen], colorScheme })
  const fileOf = (name: string) => `${IMAGES}dashboard-${name}-${screen}-${colorScheme}.png`
  await page.goto(sample.host.url)
  await page.getByLabel("API key").waitFor()
  if (only === undefined) await page.screenshot({ path: fileOf("sign-in") })
  await signIn(page, sample.host.url, sample.host.testKey)
  for (const [name, path] of Sample.pagesOf(sample)) {
    if (NOT_DRAWN.has(name) || (only !== undefined && only !== name)) continue
    await show(page, `${sample.host.url}${path}`)
    await page.screenshot({ path: fileOf(name) })
  }
  await context.close()
  if (problems.length > 0) throw new Error(problems.join("\n"))
}

await mkdir(IMAGES, { recursive: true })
const sample = await Sample.make()
const browser = await launch()
try {
  for (const screen of ["desktop", "phone"] as const)
    for (const scheme of SCHEMES) await draw(browser, sample, screen, scheme)
} finally {
  await browser.close()
  await sample.close()
}

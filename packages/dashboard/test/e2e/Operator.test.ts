/**
 * An operator's first minutes with `billwright serve` on its own Postgres: a webhook fails, its endpoint is corrected, and
 * the webhook arrives. A chart shows usage.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import type { Browser } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { launch, openTab, signIn } from "./Browser.ts"
import * as Host from "./Host.ts"

/** Run as a program, because the package of the CLI depends on this one. */
const COMMAND = join(import.meta.dirname, "../../../cli/src/bin.ts")

/** A new Postgres is created, started, and stopped at the end. */
const START_MILLIS = 60_000
/** All steps together take at most two minutes by hand. */
const PATH_MILLIS = 120_000
/** In test mode the last attempt is made 15 seconds ± 20 % after the first. */
const SCHEDULE_MILLIS = 30_000

/** A privileged port where nothing listens. Another program could take an ordinary free port before the next attempt. */
const CLOSED_URL = "http://127.0.0.1:1/hooks"

let browser: Browser
let directory: string
let server: ChildProcess | undefined
let receiver: Awaited<ReturnType<typeof Host.startReceiver>>
let url = ""
let testKey = ""

const serve = async (): Promise<void> => {
  const args = [
    "serve",
    "--allow-loopback",
    "--port",
    "0",
    "--store",
    "embedded",
    "--data-dir",
    join(directory, "data"),
  ]
  const child = spawn(process.execPath, [COMMAND, ...args], {
    cwd: directory,
    stdio: ["ignore", "pipe", "inherit"],
  })
  server = child
  // The output ends with the process, so the test doesn't hang if the server doesn't start.
  for await (const line of createInterface({ input: child.stdout })) {
    url = /^Billwright listening on (\S+)$/.exec(line)?.[1] ?? url
    testKey = /^test key {2}(\S+)$/.exec(line)?.[1] ?? testKey
    if (line.startsWith("Dashboard:")) {
      assert.strictEqual(line, `Dashboard:     ${url}/`)
      return
    }
  }
  throw new Error("billwright serve did not start")
}

/** Stops it like Ctrl-C. The server stops its Postgres before it ends, so its files can then be removed. */
const stop = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, "exit")
  child.kill("SIGINT")
  await ended
}

beforeAll(async () => {
  browser = await launch()
  receiver = await Host.startReceiver()
  directory = await mkdtemp(join(tmpdir(), "billwright-dashboard-"))
  // When tests run as root, Postgres runs as another user, who must be able to enter the directory.
  await chmod(directory, 0o755)
  await serve()
}, START_MILLIS)
afterAll(async () => {
  await browser?.close()
  await receiver?.close()
  if (server !== undefined) await stop(server)
  await rm(directory, { recursive: true, force: true })
}, START_MILLIS)

describe("an operator of billwright serve", () => {
  it(
    "sees a webhook fail, corrects its endpoint, replays it, and sees it delivered",
    async () => {
      Object.assign(receiver.answer, { status: 204, body: "" })
      const { context, page, problems, requests } = await openTab(browser)
      await signIn(page, `${url}/`, testKey)
      await page.getByText("Test data").waitFor()

      await page.getByRole("link", { name: "Endpoints", exact: true }).first().click()
      await page.getByRole("button", { name: "New endpoint" }).first().click()
      await page.getByLabel("URL", { exact: true }).fill(CLOSED_URL)
      await page.getByRole("button", { name: "Create endpoint" }).click()
      await page.getByRole("button", { name: "I have copied it" }).click()
      await page.getByRole("link", { name: CLOSED_URL }).click()
      await page.getByRole("button", { name: "Send test event…" }).click()
      await page.getByLabel("Type").selectOption("invoice.paid")
      await page.getByRole("button", { name: "Send test event", exact: true }).click()

      await page.getByRole("heading", { name: "invoice.paid" }).waitFor()
      const cards = page.locator(".delivery-card")
      await cards.getByText("Nothing listens there: the connection was refused.").first().waitFor()
      // Waits for the end of the retries. A pending delivery would arrive by itself after the address is corrected.
      await cards.locator(".badge.failed").waitFor({ timeout: SCHEDULE_MILLIS })
      await cards.getByText("5 attempts · the last attempt of the schedule failed").waitFor()

      const mendedUrl = `${receiver.url}/hooks`
      await cards.getByRole("link", { name: CLOSED_URL }).click()
      await page.getByRole("button", { name: "Edit…" }).click()
      await page.getByLabel("URL", { exact: true }).fill(mendedUrl)
      await page.getByRole("button", { name: "Save" }).click()
      await page.getByRole("heading", { name: mendedUrl }).waitFor()

      await page.goBack()
      await cards.getByRole("button", { name: "Replay" }).click()
      // The replay opens the new delivery, which is shown until it ends.
      await page.getByText("Delivered: the receiver answered HTTP 204 to attempt 1.").waitFor()
      await page.locator('.facts a[href*="/events/"]').click()
      await cards.getByText("Delivered", { exact: true }).waitFor()
      assert.strictEqual(await cards.count(), 2, "the failed delivery is still listed")

      for (const request of requests) assert.isTrue(request.url.startsWith(`${url}/`), request.url)
      assert.deepEqual(problems, [])
      await context.close()
    },
    PATH_MILLIS,
  )

  it("sees new usage in the chart", async () => {
    const call = Host.callerOf(`${url}/v1`, testKey)
    const customer = await call("POST", "/customers", { name: "Ada Lovelace", email: "ada@example.com" })
    const record = { customer_id: customer["id"], product_id: "api", unit: "call" }
    await call("POST", "/usage", { ...record, quantity: 40 })

    const { context, page, problems } = await openTab(browser)
    await signIn(page, `${url}/usage`, testKey)
    await page.getByRole("button", { name: "Choose a customer…" }).click()
    await page
      .getByRole("dialog")
      .getByRole("button", { name: /Ada Lovelace/ })
      .click()
    await page.getByRole("img", { name: "api by day, in call: 40 in all" }).waitFor()
    await call("POST", "/usage", { ...record, quantity: 2 })
    await page.getByRole("img", { name: "api by day, in call: 42 in all" }).waitFor()
    assert.deepEqual(problems, [])
    await context.close()
  })
})

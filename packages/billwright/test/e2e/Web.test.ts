/** `core` and `memory` in a real browser: on a page, and in a worker, which has no document. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import chromium from "@sparticuz/chromium"
import { type Browser, chromium as playwright, type Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { bundle } from "./WebBundle.ts"

const WORKER = `
onmessage = async () => {
  try {
    postMessage({ value: await billing.run(), globals: ["process", "Buffer", "document"].filter((name) => name in self) })
  } catch (error) {
    postMessage({ error: String(error) })
  }
}`

const EXPECTED = {
  name: "Ada Lovelace",
  total: "9007199254740996",
  deliveries: 1,
  verified: "invoice.paid",
  forged: "no_matching_signature",
}

let browser: Browser
let page: Page
const problems: Array<string> = []
// Pages from loopback have WebCrypto. A blank page doesn't.
const server = createServer((request, response) => {
  const script =
    request.url === "/billing.js" ? code : request.url === "/worker.js" ? `${code}${WORKER}` : undefined
  response.setHeader("content-type", script === undefined ? "text/html" : "text/javascript")
  response.end(script ?? "<!doctype html><title>Billing</title><script src=/billing.js></script>")
})
let code: string

beforeAll(async () => {
  const program = fileURLToPath(new URL("./web/program.ts", import.meta.url))
  code = await bundle(program, { format: "iife", name: "billing" })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  browser = await playwright.launch({
    executablePath: process.env["CHROMIUM_PATH"] ?? (await chromium.executablePath()),
    args: ["--no-sandbox", "--disable-gpu"],
  })
  page = await browser.newPage()
  page.on("pageerror", (error) => problems.push(String(error)))
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
})

afterAll(async () => {
  await browser.close()
  server.close()
})

describe("core and memory", () => {
  it("work on a page", async () => {
    assert.deepStrictEqual(await page.evaluate("billing.run()"), EXPECTED)
    assert.deepStrictEqual(problems, [])
  })

  it("work in a worker", async () => {
    const answer = await page.evaluate(
      `new Promise((resolve, reject) => {
        const worker = new Worker("/worker.js")
        worker.onmessage = ({ data }) => resolve(data)
        worker.onerror = ({ message }) => reject(new Error(message))
        worker.postMessage("go")
      })`,
    )
    assert.deepStrictEqual(answer, { value: EXPECTED, globals: [] })
  })
})

/** The dashboard behind the login of a host: the operator needs no API key. */
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import chromium from "@sparticuz/chromium"
import { type Billing, createBilling } from "billwright"
import { memory } from "billwright/memory"
import express from "express"
import { type Browser, chromium as playwright, type Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

const SESSION = "session=operator"

let billing: Billing
let browser: Browser
let url: string
let close: () => void
const problems: Array<string> = []
const asked: Array<Readonly<Record<string, string>>> = []

const startHost = async (): Promise<void> => {
  const app = express()
  app.get("/login", (_request, response) => {
    response.cookie("session", "operator", { httpOnly: true, sameSite: "lax" }).send("<h1>Welcome back</h1>")
  })
  app.use(
    billing
      .dashboard({
        basePath: "/admin/billing",
        authorize: (request) =>
          request.headers.get("cookie") === SESSION ||
          new Response(null, { status: 303, headers: { location: "/login" } }),
      })
      .express(),
  )
  const server = app.listen(0, "127.0.0.1")
  await once(server, "listening")
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  close = () => {
    server.close()
    server.closeAllConnections()
  }
}

beforeAll(async () => {
  billing = await createBilling({ store: memory(), mode: "test", log: false })
  await startHost()
  browser = await playwright.launch({
    executablePath: process.env["CHROMIUM_PATH"] ?? (await chromium.executablePath()),
    args: ["--no-sandbox", "--disable-gpu"],
  })
})
afterAll(async () => {
  await browser?.close()
  close()
  await billing.close()
})

const open = async (): Promise<Page> => {
  // A machine without a locale gives the browser a language that no formatter knows: en-US@posix.
  const page = await browser.newPage({ locale: "en-GB" })
  page.setDefaultTimeout(10_000)
  page.on("pageerror", (error) => problems.push(String(error)))
  page.on("request", (request) => asked.push(request.headers()))
  return page
}

describe("billing.dashboard", () => {
  it("goes to the host's login and back, shows and changes data, and ends with the host's session", async () => {
    const page = await open()
    await page.goto(`${url}/admin/billing/customers`)
    await page.getByRole("heading", { name: "Welcome back" }).waitFor()

    await page.goto(`${url}/admin/billing/customers`)
    await page.getByText("Test data").waitFor()
    await page.getByRole("button", { name: "New customer" }).click()
    await page.getByRole("dialog").getByLabel("Name").fill("Ada Lovelace")
    await page.getByRole("dialog").getByLabel("E-mail").fill("ada@example.com")
    await page.getByRole("button", { name: "Create customer" }).click()
    await page.getByRole("heading", { name: "Ada Lovelace" }).waitFor()
    const { data } = await billing.customers.list().page()
    assert.deepStrictEqual(
      data.map(({ email }) => email),
      ["ada@example.com"],
    )
    for (const headers of asked) assert.notProperty(headers, "authorization")

    await page.context().clearCookies()
    await page.getByRole("link", { name: "Events", exact: true }).first().click()
    await page.getByRole("heading", { name: "Signed out" }).waitFor()
    assert.strictEqual(await page.getByText("Ada Lovelace").count(), 0)
    await page.getByRole("button", { name: "Sign in again" }).click()
    await page.getByRole("heading", { name: "Welcome back" }).waitFor()
    assert.deepStrictEqual(problems, [])
    await page.close()
  })
})

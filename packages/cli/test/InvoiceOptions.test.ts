/** Invoices of `billwright serve`, as a file says: their numbers, taxes and seller, and PDF of them. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Cli from "./Cli.ts"
import { Tenant } from "./Tenant.ts"

const TIMEOUT = 120_000
const directory = mkdtempSync(join(tmpdir(), "billwright-invoices-"))
const file = join(directory, "invoices.json")
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const TAX = { behavior: "exclusive", seller: "DE", rates: "EU_STANDARD_RATES", union: "EU_COUNTRIES" }

describe("billwright serve --invoices-file", () => {
  it("numbers, taxes and shows invoices as the file says", { timeout: TIMEOUT }, async () => {
    const seller = {
      name: "Kartenhaus GmbH",
      address: { line1: "Domplatz 1", city: "Mainz" },
      country: "DE",
      taxId: "DE136695976",
    }
    writeFileSync(file, JSON.stringify({ numberFormat: "R-{number:5}", netDays: 30, seller, tax: TAX }))
    const server = await Cli.serve(["--store", "memory", "--invoices-file", file])
    const tenant = new Tenant(server.url, server.keys.test)
    const ada = { name: "Ada Lovelace", email: "ada@example.com", country: "DE" }
    const { id } = await tenant.request("POST", "/customers", ada)
    const lines = [{ description: "Workshop", amount: 10_000 }]
    const draft = await tenant.request("POST", "/invoices", { customer_id: id, currency: "EUR", lines })
    const path = `/invoices/${String(draft["id"])}`
    const invoice = await tenant.request("POST", `${path}/finalize`)
    assert.deepInclude(invoice, { number: "R-00001", total: 11_900 })
    const headers = { authorization: `Bearer ${server.keys.test}` }
    const html = await fetch(`${server.url}/v1${path}/html`, { headers })
    assert.include(await html.text(), "Kartenhaus GmbH")
    const pdf = await fetch(`${server.url}/v1${path}/pdf`, { headers })
    assert.include(await pdf.text(), "%PDF-1.")
    const ubl = await fetch(`${server.url}/v1${path}/ubl`, { headers })
    assert.include(await ubl.text(), "DE136695976")
    const facturX = await fetch(`${server.url}/v1${path}/factur_x`, { headers })
    assert.include(await facturX.text(), "factur-x.xml")
    await server.stop()
  })

  it.each([
    ["{", /--invoices-file .*invoices\.json: .*JSON/],
    ["[]", /it must be a JSON object/],
    [{ numberformat: "R-{number}" }, /invoices\.numberformat is no option: there are numberFormat, /],
    [{ tax: 5 }, /invoices\.tax\.\w+ must be an object/],
    [{ netDays: 400 }, /invoices\.netDays must be 0 to 365/],
    [{ tax: { ...TAX, rates: "EU" } }, /rates must be a list, or one of EU_STANDARD_RATES and EU_COUNTRIES/],
    [{ tax: { ...TAX, behavior: "added" } }, /invoices\.tax\.behavior /],
    [
      { tax: { quote: "https://tax.example" } },
      /tax must be a table: a tax service needs a program of yours/,
    ],
  ])("refuses %j", { timeout: TIMEOUT }, async (options, sentence) => {
    writeFileSync(file, typeof options === "string" ? options : JSON.stringify(options))
    const args = ["serve", "--port", "0", "--store", "memory", "--invoices-file", file]
    const { code, stderr } = await Cli.run(args)
    assert.strictEqual(code, 1)
    assert.match(stderr, sentence)
  })
})

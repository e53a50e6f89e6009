/** The commands of e-invoices, on the API of an application that has said who it is. */
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Billing, createBilling } from "billwright"
import { memory } from "billwright/memory"
import * as Cli from "./Cli.ts"

const folder = mkdtempSync(join(tmpdir(), "billwright-einvoices-"))
let billing: Billing
let stop: () => Promise<void>
let env: Readonly<Record<string, string>>

beforeAll(async () => {
  billing = await createBilling({
    store: memory(),
    mode: "test",
    dispatcher: false,
    log: false,
    invoices: {
      seller: { name: "Nordlicht GmbH", country: "DE", taxId: "DE123456789" },
      tax: { behavior: "exclusive", seller: "DE", rates: [{ country: "DE", rate: "19" }] },
    },
  })
  const server = createServer(billing.node()).listen(0, "127.0.0.1")
  await once(server, "listening")
  stop = async () => {
    server.close()
    server.closeAllConnections()
    await billing.close()
  }
  const { secret } = await billing.keys.create({ name: "app", scopes: ["invoices:read"] })
  const { port } = server.address() as AddressInfo
  env = { BILLWRIGHT_URL: `http://127.0.0.1:${port}`, BILLWRIGHT_API_KEY: secret }
})
afterAll(async () => {
  await stop()
  rmSync(folder, { recursive: true })
})

const run = (...args: ReadonlyArray<string>) => Cli.runHere(args, { env })

/** An invoice and a credit note of it. */
const documents = async (country: string | null) => {
  const person = { name: "Ada", email: "ada@example.com", currency: "EUR" }
  const customer = await billing.customers.create({ ...person, country })
  const lines = [{ description: "Workshop", amount: 90_000 }]
  const { id } = await billing.invoices.create({ customerId: customer.id, lines })
  const invoice = await billing.invoices.finalize(id)
  return { invoice, note: await billing.creditNotes.create({ invoiceId: id, reason: "other" }) }
}

describe("e-invoices on the command line", () => {
  it("are printed as XML, and written as a PDF that overwrites nothing", async () => {
    const { invoice, note } = await documents("DE")
    for (const kind of ["ubl", "cii"] as const) {
      assert.deepInclude(await run("invoices", kind, invoice.id), {
        code: 0,
        stdout: await billing.invoices[kind](invoice.id),
      })
      assert.deepInclude(await run("credit-notes", kind, note.id), {
        code: 0,
        stdout: await billing.creditNotes[kind](note.id),
      })
    }
    const output = join(folder, "invoice.pdf")
    const written = await run("invoices", "factur-x", invoice.id, "--output", output)
    assert.deepInclude(written, { code: 0, stdout: `Wrote ${output}.\n` })
    assert.deepEqual(new Uint8Array(readFileSync(output)), await billing.invoices.facturX(invoice.id))
    const again = await run("invoices", "factur-x", invoice.id, "--output", output)
    assert.strictEqual(again.code, 1)
    assert.include(again.stderr, "can't be written: EEXIST")
  })

  it("say what is missing, and write no file then", async () => {
    const { invoice } = await documents(null)
    const { code, stderr, stdout } = await run("invoices", "ubl", invoice.id)
    assert.deepStrictEqual([code, stdout], [1, ""])
    assert.include(stderr, "customer.country is required (BT-55, Buyer country code)")
    const output = join(folder, "none.pdf")
    assert.strictEqual((await run("invoices", "factur-x", invoice.id, "--output", output)).code, 1)
    assert.throws(() => readFileSync(output))
  })
})

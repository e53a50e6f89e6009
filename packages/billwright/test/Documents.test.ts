/** Invoices and credit notes as pages: by promises, and over the client. */
import {
  type Billing,
  BillingError,
  ConfigurationError,
  createBilling,
  CreditNoteNotFoundError,
  InvoiceNotFoundError,
} from "billwright"
import { ApiError, type BillingClient, createClient } from "billwright/client"
import { memory } from "billwright/memory"
import { createTestBilling } from "billwright/testing"
import { afterEach, assert, beforeEach, describe, it, onTestFinished } from "vitest"
import { rejection } from "./Rejection.ts"

const seller = { name: "Nordlicht GmbH", country: "DE", paymentInstructions: "IBAN DE02 1203" }
const invoices = {
  seller,
  locale: "de",
  timezone: "Europe/Berlin",
  tax: { behavior: "exclusive", seller: "DE", rates: [{ country: "DE", rate: "19" }] },
} as const

let billing: Billing
let client: BillingClient

beforeEach(async () => {
  billing = await createBilling({ store: memory(), mode: "test", dispatcher: false, log: false, invoices })
  const apiKey = (await billing.keys.create({ name: "app", scopes: ["invoices:*"] })).secret
  const fetch = (url: string, init: RequestInit) =>
    billing.fetch(new Request(url, init), { basePath: "/billing" })
  client = createClient({ url: "http://localhost/billing", apiKey, fetch })
})
afterEach(() => billing.close())

const both = [
  ["createBilling", () => billing],
  ["the client", () => client],
] as const

const ada = { name: "Ada Lovelace <b>", email: "ada@example.com", currency: "EUR" }
const lines = [{ description: "Workshop <script>", amount: 90_000 }]

/** A customer and an open invoice of 1,071.00. */
const begin = async (more: object = {}) => {
  const customer = await billing.customers.create({ ...ada, ...more })
  const draft = await billing.invoices.create({ customerId: customer.id, lines })
  return { customer, invoice: await billing.invoices.finalize(draft.id) }
}

/** The text of a page with plain spaces. */
const textOf = (page: string): string =>
  page
    .replace(/<style>[\s\S]*<\/style>/, "")
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/[\s\u00a0]+/g, " ")

describe.each(both)("pages of %s", (_, caller) => {
  it("are in the customer's language, or in the host's, and escape what people have written", async () => {
    const { invoice } = await begin()
    const page = await caller().invoices.html(invoice.id)
    const text = textOf(page)
    assert.include(page, `<html lang="de">`)
    for (const part of [
      "Nordlicht GmbH",
      "Ada Lovelace &lt;b&gt;",
      "Workshop &lt;script&gt;",
      "MwSt. 19 %",
      "1.071,00 €",
      "IBAN DE02 1203",
      invoice.number!,
    ])
      assert.include(text, part)
    const french = await begin({ locale: "fr-FR" })
    assert.include(textOf(await caller().invoices.html(french.invoice.id)), "Montant à payer 1 071,00 €")
  })

  it("show credit notes", async () => {
    const { invoice } = await begin()
    const note = await billing.creditNotes.create({ invoiceId: invoice.id, amount: 10_000, reason: "other" })
    const text = textOf(await caller().creditNotes.html(note.id))
    for (const part of [note.number, invoice.number!, "119,00 €", "Mindert den offenen Betrag"])
      assert.include(text, part)
    const after = textOf(await caller().invoices.html(invoice.id))
    assert.include(after, `Rechnungskorrektur ${note.number} -119,00 €`)
    assert.include(after, "Zu zahlen 952,00 €")
  })

  it("are PDF, with the same bytes each time", async () => {
    const { invoice } = await begin()
    const pdf = await caller().invoices.pdf(invoice.id)
    assert.instanceOf(pdf, Uint8Array)
    assert.strictEqual(Buffer.from(pdf.subarray(0, 8)).toString(), "%PDF-1.7")
    assert.deepStrictEqual(await billing.invoices.pdf(invoice.id), pdf)
    const note = await billing.creditNotes.create({ invoiceId: invoice.id, amount: 10_000, reason: "other" })
    assert.strictEqual(
      Buffer.from((await caller().creditNotes.pdf(note.id)).subarray(0, 4)).toString(),
      "%PDF",
    )
  })

  it("are not found for unknown ids", async () => {
    const missing = "inv_00000000000000000000000000"
    const invoice = await rejection(caller().invoices.html(missing))
    const note = await rejection(caller().creditNotes.html("crn_00000000000000000000000000"))
    if (caller() === billing) {
      assert.instanceOf(invoice, InvoiceNotFoundError)
      assert.instanceOf(note, CreditNoteNotFoundError)
    } else assert.deepStrictEqual([invoice instanceof ApiError, note instanceof ApiError], [true, true])
  })
})

describe("a page", () => {
  it("says what was paid, and asks for nothing more", async () => {
    const { invoice } = await begin({ locale: "en" })
    await billing.payments.record({ invoiceId: invoice.id, amount: 7_100 })
    assert.match(
      textOf(await billing.invoices.html(invoice.id)),
      /Paid on [^€]* -€71\.00 Amount due €1,000\.00/,
    )
    await billing.payments.record({ invoiceId: invoice.id })
    const text = textOf(await billing.invoices.html(invoice.id))
    assert.match(text, /Amount due €0\.00/)
    assert.notInclude(text, "Please pay")
  })

  it("keeps whom an invoice was addressed to, whatever becomes of the customer", async () => {
    const { customer, invoice } = await begin({
      country: "DE",
      taxId: "DE1",
      address: { city: "Berlin" },
      locale: "en",
    })
    const draft = await billing.invoices.create({ customerId: customer.id, lines })
    const before = await billing.invoices.html(invoice.id)
    await billing.customers.update(customer.id, {
      name: "Ada King",
      address: { city: "Hamburg" },
      taxId: "DE2",
      locale: "de",
    })
    assert.strictEqual(await billing.invoices.html(invoice.id), before)
    // A draft follows.
    assert.include(textOf(await billing.invoices.html(draft.id)), "Ada King Hamburg Deutschland")
    await billing.customers.erase(customer.id)
    assert.strictEqual(await billing.invoices.html(invoice.id), before)
  })

  it("dates service periods in the time zone of the subscription", async () => {
    const test = await createTestBilling({ now: "2026-01-01T08:00:00Z", invoices: { seller } })
    await test.plans.push({
      key: "pro",
      name: "Pro",
      currencies: ["EUR"],
      interval: { unit: "month", count: 1 },
      charges: [{ key: "base", name: "Base fee", model: "flat", price: { EUR: "20.00" } }],
    })
    const { id: customerId } = await test.testing.customer()
    await test.subscriptions.create({
      customerId,
      plan: "pro",
      timezone: "America/Los_Angeles",
      anchor: "2026-01-01T00:00",
    })
    const [invoice] = (await test.invoices.list({ customerId }).page()).data
    assert.include(textOf(await test.invoices.html(invoice!.id)), "Base fee Jan 1 – 31, 2026")
    await test.close()
  })

  it("needs options that are right", async () => {
    const start = (options: object) =>
      rejection(createBilling({ store: memory(), log: false, invoices: options }))
    for (const [options, name] of [
      [{ seller: { name: "" } }, "invoices.seller.name"],
      [{ seller: { name: "x", logo: "logo.png" } }, "invoices.seller.logo"],
      [{ locale: "Deutsch" }, "invoices.locale"],
    ] as const) {
      const problem = await start(options)
      assert.instanceOf(problem, ConfigurationError)
      assert.include((problem as Error).message, name)
    }
  })
})

/** What the norm wants of the seller and the customer. */
const complete = {
  ...invoices,
  seller: { ...seller, name: "Nord & Licht GmbH", taxId: "DE123456789" },
} as const

describe.each(both)("e-invoices of %s", (_, caller) => {
  it("say all that is missing, and are no half ones", async () => {
    const { invoice } = await begin()
    const error = await rejection(caller().invoices.ubl(invoice.id))
    assert.include(error.message, "invoices.seller.taxId is required (BT-31, Seller VAT identifier)")
    assert.include(error.message, "customer.country is required (BT-55, Buyer country code)")
    const draft = await billing.invoices.create({ customerId: invoice.customerId, lines })
    assert.include((await rejection(caller().invoices.cii(draft.id))).message, "is draft")
  })
})

describe("e-invoices", () => {
  const withSeller = async () => {
    const own = await createTestBilling({ now: "2026-11-22T10:00:00Z", invoices: complete })
    onTestFinished(() => own.close())
    const customer = await own.customers.create({ ...ada, country: "DE" })
    const draft = await own.invoices.create({ customerId: customer.id, lines })
    return { own, customer, invoice: await own.invoices.finalize(draft.id) }
  }

  it("are as the invoice was issued, whatever was paid and credited since", async () => {
    const { invoice, own } = await withSeller()
    const ubl = await own.invoices.ubl(invoice.id)
    const cii = await own.invoices.cii(invoice.id)
    const pdf = await own.invoices.facturX(invoice.id)
    assert.match(ubl, /<cbc:TaxInclusiveAmount currencyID="EUR">1071\.00</)
    assert.match(cii, /<ram:DuePayableAmount>1071\.00</)
    assert.include(ubl, "Nord &amp; Licht GmbH")
    assert.include(ubl, "Ada Lovelace &lt;b&gt;")
    assert.match(Buffer.from(pdf).toString("latin1"), /^%PDF-1\.7[^]*<pdfaid:part>3</)
    const note = await own.creditNotes.create({ invoiceId: invoice.id, amount: 10_000, reason: "other" })
    assert.strictEqual(await own.invoices.ubl(invoice.id), ubl)
    assert.deepEqual(await own.invoices.facturX(invoice.id), pdf)
    const credit = await own.creditNotes.ubl(note.id)
    assert.match(credit, /<CreditNote [^]*<cbc:CreditNoteTypeCode>381<[^]*119\.00/)
    assert.include(credit, `<cbc:ID>${invoice.number}</cbc:ID>`)
    assert.include(await own.creditNotes.cii(note.id), "<ram:TypeCode>381</ram:TypeCode>")
    assert.isAbove((await own.creditNotes.facturX(note.id)).length, 1_000)
  })

  it("are refused when the invoice is void", async () => {
    const { invoice, own } = await withSeller()
    await own.invoices.void(invoice.id)
    const error = await rejection(own.invoices.cii(invoice.id))
    assert.instanceOf(error, BillingError)
    assert.strictEqual(error.code, "einvoice_incomplete")
  })

  it("over REST are XML and PDF of their types", async () => {
    const { invoice, own } = await withSeller()
    const apiKey = (await own.keys.create({ name: "app", scopes: ["invoices:read"] })).secret
    const get = (path: string) =>
      own.fetch(
        new Request(`http://localhost/v1/invoices/${invoice.id}/${path}`, {
          headers: { authorization: `Bearer ${apiKey}` },
        }),
      )
    for (const path of ["ubl", "cii"] as const) {
      const answer = await get(path)
      assert.strictEqual(answer.status, 200)
      assert.match(answer.headers.get("content-type") ?? "", /^application\/xml/)
      assert.strictEqual(await answer.text(), await own.invoices[path](invoice.id))
    }
    const pdf = await get("factur_x")
    assert.strictEqual(pdf.headers.get("content-type"), "application/pdf")
    assert.deepEqual(new Uint8Array(await pdf.arrayBuffer()), await own.invoices.facturX(invoice.id))
  })
})

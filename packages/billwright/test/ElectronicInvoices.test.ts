/** Electronic invoices through the Promise API and the client. The rules themselves are tested in the engine. */
import { assert, describe, it } from "@effect/vitest"
import { type Billing, createBilling } from "../src/index.ts"
import { memory } from "../src/memory.ts"
import { rejection } from "./Rejection.ts"

const open = (seller: object): Promise<Billing> =>
  createBilling({
    store: memory(),
    log: false,
    invoices: {
      seller: { name: "Kartenhaus GmbH", ...seller },
      tax: { behavior: "exclusive", seller: "DE", rates: [{ country: "DE", rate: "19" }] },
    },
  })

const issue = async (billing: Billing): Promise<string> => {
  const ada = { name: "Ada & Co", email: "ada@example.com", country: "DE", currency: "EUR" }
  const { id: customerId } = await billing.customers.create(ada)
  const lines = [{ description: "Workshop", amount: 90_000 }]
  const { id } = await billing.invoices.create({ customerId, lines })
  await billing.invoices.finalize(id)
  return id
}

describe("electronic invoices", () => {
  it("state what was issued, whatever happens to the customer and the payments later", async () => {
    const billing = await open({ country: "DE", taxId: "DE136695976" })
    const id = await issue(billing)
    const { ubl, cii } = { ubl: await billing.invoices.ubl(id), cii: await billing.invoices.cii(id) }
    assert.include(ubl, "<cbc:RegistrationName>Ada &amp; Co</cbc:RegistrationName>")
    assert.include(ubl, '<cbc:PayableAmount currencyID="EUR">1071</cbc:PayableAmount>')
    assert.include(cii, "<ram:DuePayableAmount>1071</ram:DuePayableAmount>")
    const note = await billing.creditNotes.create({ invoiceId: id, amount: 11_900, reason: "other" })
    const { customerId } = await billing.invoices.get(id)
    await billing.customers.update(customerId, { name: "Bob", country: "FR" })
    await billing.payments.record({ invoiceId: id, reference: "a transfer" })
    assert.deepStrictEqual([await billing.invoices.ubl(id), await billing.invoices.cii(id)], [ubl, cii])
    assert.include(await billing.creditNotes.ubl(note.id), "<cbc:CreditNoteTypeCode>381")
    assert.include(await billing.creditNotes.cii(note.id), "<ram:TypeCode>381")
    await billing.close()
  })

  it("reject with all that is missing, and for drafts", async () => {
    const billing = await open({})
    const id = await issue(billing)
    const error = await rejection(billing.invoices.ubl(id))
    assert.propertyVal(error, "code", "einvoice_incomplete")
    assert.include(String(error), "seller.country is required (BT-40); seller.taxId is required")
    const { id: customerId } = await billing.customers.create({
      name: "Eve",
      email: "eve@example.com",
      country: "DE",
      currency: "EUR",
    })
    const draft = await billing.invoices.create({ customerId, lines: [{ description: "A", amount: 1 }] })
    assert.include(String(await rejection(billing.invoices.cii(draft.id))), "must be issued first")
    await billing.close()
  })
})

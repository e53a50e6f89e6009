/** The bytes of the journal for other programs. */
import { type JournalEntry, journalHead, journalText } from "@billwright/engine"
import { assert, describe, it } from "vitest"

const entry: JournalEntry = {
  day: "2026-01-10",
  kind: "payment",
  documentId: "pay_1",
  invoiceId: "inv_1",
  customerId: "cus_1",
  currency: "EUR",
  postings: [
    { account: "cash", amount: 142_805n },
    { account: "receivable", amount: -142_805n },
  ],
}

describe("the text of an entry", () => {
  it("is a row of CSV for each posting", () => {
    assert.strictEqual(
      journalHead("csv") + journalText(entry, "csv"),
      `day,kind,document_id,invoice_id,customer_id,account,currency,amount
2026-01-10,payment,pay_1,inv_1,cus_1,cash,EUR,1428.05
2026-01-10,payment,pay_1,inv_1,cus_1,receivable,EUR,-1428.05
`,
    )
  })

  it("is a transaction of hledger, with the digits of its currency", () => {
    const yen = { ...entry, currency: "JPY", invoiceId: null }
    assert.strictEqual(
      journalHead("hledger") + journalText(entry, "hledger") + journalText(yen, "hledger"),
      `2026-01-10 payment pay_1  ; invoice:inv_1, customer:cus_1
    assets:cash  1428.05 EUR
    assets:receivable  -1428.05 EUR

2026-01-10 payment pay_1  ; customer:cus_1
    assets:cash  142805 JPY
    assets:receivable  -142805 JPY

`,
    )
  })

  it("is a line of JSON", () => {
    const text = journalText({ ...entry, postings: [{ account: "tax_payable", amount: -7n }] }, "json")
    assert.strictEqual(
      journalHead("json") + text,
      '{"day":"2026-01-10","kind":"payment","document_id":"pay_1","invoice_id":"inv_1","customer_id":"cus_1","currency":"EUR","postings":[{"account":"tax_payable","amount":"-0.07"}]}\n',
    )
  })
})

/**
 * Examples of the books for the document.
 */
import type { Example } from "./Example.ts"

const invoiceId = "inv_01kb2r7aqte0btqgq0m9ecz4n1"

export const bookExamples = {
  getJournal: {
    response: {
      object: "journal_page",
      entries: [
        {
          day: "2026-11-21",
          kind: "invoice",
          document_id: invoiceId,
          invoice_id: invoiceId,
          customer_id: "cus_01kb2r6ghefxhs59czp23x4vmk",
          currency: "EUR",
          postings: [
            { account: "receivable", amount: 2_380 },
            { account: "contract_liability", amount: -2_000 },
            { account: "tax_payable", amount: -380 },
          ],
        },
      ],
      last: invoiceId,
      has_more: false,
      livemode: false,
    },
  },
  exportJournal: {
    response: `day,kind,document_id,invoice_id,customer_id,account,currency,amount
2026-11-22,payment,pay_01kb2r7f6yf8z9p6gx1yb9tpfp,${invoiceId},cus_01kb2r6ghefxhs59czp23x4vmk,cash,EUR,23.80
2026-11-22,payment,pay_01kb2r7f6yf8z9p6gx1yb9tpfp,${invoiceId},cus_01kb2r6ghefxhs59czp23x4vmk,receivable,EUR,-23.80
`,
  },
} satisfies Readonly<Record<string, Example>>

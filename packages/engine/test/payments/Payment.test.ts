import { assert, describe, it } from "vitest"
import { type Payment, problemsOfPayments, successOf } from "../../src/index.ts"

const invoice = { id: "inv_1", currency: "EUR", amountPaid: 1_000n }

const payment: Payment = {
  id: "pay_1",
  invoiceId: "inv_1",
  customerId: "cus_1",
  currency: "EUR",
  provider: "manual",
  reference: null,
  status: "open",
  amount: 1_500n,
  applied: 0n,
  overpaid: 0n,
  paidAt: null,
  sequence: 1,
}
const paid: Payment = { ...payment, ...successOf(payment, { amountDue: 1_000n }, 7) }

const paths = (...payments: ReadonlyArray<Payment>) =>
  problemsOfPayments(invoice, payments).map(({ path, problem }) => `${path} ${problem}`)

describe("payments of an invoice", () => {
  it("pay what is due, and the rest is the customer's", () => {
    assert.deepInclude(paid, { status: "succeeded", applied: 1_000n, overpaid: 500n, paidAt: 7, sequence: 2 })
    assert.deepStrictEqual(paths(paid), [])
    assert.deepStrictEqual(paths(paid, { ...payment, id: "pay_2" }), [])
  })

  it("have what is wrong named", () => {
    assert.deepStrictEqual(paths(), ["amountPaid is 1000, but payments paid 0"])
    assert.deepStrictEqual(paths(paid, { ...payment, id: "pay_2" }, { ...payment, id: "pay_3" }), [
      "payments has 2 open ones: at most one is allowed",
    ])
    assert.deepStrictEqual(paths({ ...paid, overpaid: 0n }), [
      "payments.pay_1 has parts of 1000, but 1500 came",
    ])
    assert.deepStrictEqual(paths({ ...paid, currency: "USD", invoiceId: "inv_2", paidAt: null }), [
      "payments.pay_1.invoiceId is inv_2, which is another invoice",
      "payments.pay_1.currency is USD, but the invoice is in EUR",
      "payments.pay_1.paidAt does not fit succeeded",
    ])
    assert.deepStrictEqual(paths(paid, { ...payment, id: "pay_2", amount: 0n, applied: -1n }), [
      "payments.pay_2.amount must be greater than 0",
      "payments.pay_2 has a part below 0",
      "payments.pay_2 has parts of -1, but 0 came",
      "amountPaid is 1000, but payments paid 999",
    ])
  })
})

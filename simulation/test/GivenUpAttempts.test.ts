/**
 * Money that a bank takes by an attempt that was given up a day ago: when it has to be booked. Of seed 2206 of the whole.
 */
import type { Payment } from "@billwright/core"
import { describe, expect, it } from "vitest"
import type { BankFact } from "../src/payments/Bank.ts"
import type { PaymentBooks } from "../src/payments/PaymentBooks.ts"
import { paymentCheckers } from "../src/payments/PaymentCheckers.ts"

const HOUR = 3_600_000
const reference = "bank_pay_1"

/** The first attempt comes only after the second one was declined, and takes the money. */
const booksOf = (options: { readonly isTold: boolean; readonly hoursBetween: number }) => {
  const facts: ReadonlyArray<BankFact> = [
    { type: "opened", reference, invoiceId: "inv_1" },
    { type: "sent", reference, attemptId: "att_1", at: 0 },
    { type: "failed", reference, isRefusal: false },
    { type: "sent", reference, attemptId: "att_2", at: options.hoursBetween * HOUR },
    { type: "stated", reference, attemptId: "att_2", status: "declined", isCustomersTurn: false },
    { type: "stated", reference, attemptId: "att_1", status: "succeeded", isCustomersTurn: false },
    { type: "charged", reference, invoiceId: "inv_1", amount: 10n, currency: "USD", isTold: options.isTold },
  ]
  const payment = {
    id: "pay_1",
    provider: "bank",
    reference,
    status: "open",
    amount: 10n,
    currency: "USD",
    invoiceId: "inv_1",
    dueAt: null,
    collection: { state: "awaiting_method" },
  } as unknown as Payment.StoredPayment
  return { facts, payments: [{ payment }] } as unknown as PaymentBooks
}

describe("money that a bank takes by an attempt that was given up", () => {
  it("waits for the next read if the bank tells nothing by itself", () => {
    expect(paymentCheckers.booked(booksOf({ isTold: false, hoursBetween: 23 }))).toEqual([])
  })

  it.each([
    ["the bank tells of it", { isTold: true, hoursBetween: 23 }],
    ["it was given up too soon", { isTold: false, hoursBetween: 22.9 }],
  ])("is missing in the books if %s", (_, options) => {
    expect(paymentCheckers.booked(booksOf(options))).toEqual([
      expect.stringContaining("the bank took 10 USD"),
    ])
  })
})

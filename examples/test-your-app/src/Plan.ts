/** A part of an app: a call costs one cent, and a month is billed after its end. */
import type { Billing } from "billwright"

const CENTS_PER_CALL = 1n

/** The first and the last day of the month before an instant. */
const lastMonth = (now: Date) => {
  const day = (date: Date) => date.toISOString().slice(0, 10)
  return {
    startDate: day(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1))),
    endDate: day(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 0))),
  }
}

export const makePlan = (billing: Billing) => ({
  /** Counts a call once, even if its request is repeated. */
  async count(customerId: string, requestId: string): Promise<void> {
    await billing.usage.record({
      customerId,
      productId: "api",
      quantity: 1,
      unit: "call",
      idempotencyKey: requestId,
    })
  },

  /** Bills the month before `now`, once. */
  async bill(customerId: string, now: Date): Promise<void> {
    const month = lastMonth(now)
    const { totalQuantity } = await billing.usage.summary({ customerId, unit: "call", ...month })
    const invoiceId = `${customerId}-${month.startDate}`
    await billing.events.publish({
      type: "invoice.created",
      customerId,
      idempotencyKey: invoiceId,
      data: {
        invoice_id: invoiceId,
        customer_id: customerId,
        amount: Number(totalQuantity * CENTS_PER_CALL),
        currency: "EUR",
      },
    })
  },
})

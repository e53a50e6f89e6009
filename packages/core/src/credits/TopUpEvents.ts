/**
 * The event of automatic top-ups.
 */
import { Schema } from "effect"
import { CustomerId } from "../customers/Customer.ts"
import * as EventType from "../events/EventType.ts"
import { WireInteger } from "../events/WireInteger.ts"
import { InvoiceId } from "../invoices/Invoice.ts"
import type { AutoTopUp } from "./AutoTopUp.ts"
import { AutoTopUpId } from "./TopUp.ts"

/** The type of the event of an automatic top-up that buys nothing any more. It commits with that. */
export const topUpSuspended = EventType.make({
  name: "credit.top_up_suspended",
  description: "A payment of an automatic top-up was declined. It buys nothing until somebody changes that.",
  data: Schema.Struct({
    auto_top_up_id: AutoTopUpId,
    customer_id: CustomerId,
    unit: Schema.String,
    /** The invoice whose payment was declined. */
    invoice_id: InvoiceId,
    currency: Schema.String,
    price: WireInteger,
  }),
  example: {
    auto_top_up_id: "atu_01kahd3kc8e0fsr8zknzqgf2h2",
    customer_id: "cus_01kahd3kc8e0fsr8zknzqgf2h1",
    unit: "token",
    invoice_id: "inv_01kahd3kc8e0fsr8zknzqgf2h3",
    currency: "EUR",
    price: 2000,
  },
})

/** The data of the event. */
export const topUpSuspendedData = (auto: AutoTopUp, invoiceId: InvoiceId) => ({
  auto_top_up_id: auto.id,
  customer_id: auto.customerId,
  unit: auto.unit,
  invoice_id: invoiceId,
  currency: auto.currency,
  price: auto.price,
})

/**
 * The events of payment methods.
 */
import { Schema } from "effect"
import { CustomerId } from "../customers/Customer.ts"
import * as EventType from "../events/EventType.ts"
import { type PaymentMethod, PaymentMethodId, PaymentMethodStatus } from "./PaymentMethod.ts"

/** A payment method as it was when the event was published. No detail of a card is in it but when it expires. */
const Data = Schema.Struct({
  payment_method_id: PaymentMethodId,
  customer_id: CustomerId,
  provider: Schema.String,
  status: PaymentMethodStatus,
  is_default: Schema.Boolean,
  type: Schema.NullOr(Schema.String),
  expiry: Schema.NullOr(Schema.Struct({ month: Schema.Int, year: Schema.Int })),
})

/** The data of an event of a payment method. */
export const methodData = (method: PaymentMethod): typeof Data.Encoded => ({
  payment_method_id: method.id,
  customer_id: method.customerId,
  provider: method.provider,
  status: method.status,
  is_default: method.isDefault,
  type: method.type,
  expiry: method.expiry,
})

const example = {
  payment_method_id: "mtd_01kahd3kc8e0fsr8zknzqgf2h3",
  customer_id: "cus_01kahd3kc8e0fsr8zknzqgf2h1",
  provider: "stripe",
  status: "attached" as const,
  is_default: true,
  type: "card",
  expiry: { month: 12, year: 2034 },
}

const make = <const Name extends string>(name: Name, description: string, data: object = {}) =>
  EventType.make({ name, description, data: Data, example: { ...example, ...data } })

/** The types of events of payment methods. */
export const methodEvents = {
  "payment_method.attached": make("payment_method.attached", "A customer has saved a payment method."),
  "payment_method.updated": make("payment_method.updated", "A payment method was changed."),
  "payment_method.detached": make(
    "payment_method.detached",
    "A payment method was detached: nothing is charged with it any more.",
    { status: "detached", is_default: false },
  ),
  "payment_method.expiring": make("payment_method.expiring", "The last month of a payment method has begun."),
} satisfies Record<string, EventType.EventType>

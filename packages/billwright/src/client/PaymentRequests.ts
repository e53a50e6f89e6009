/**
 * Payments over the API.
 */
import type { Payment, Payments } from "../payments/Payments.ts"
import type { Connection } from "./Connection.ts"
import { withIntegers } from "./Integers.ts"
import { list, path, read, write } from "./Requests.ts"

const toPayment = withIntegers<Payment>({ amount: true, applied: true, overpaid: true })

export const makePayments = (connection: Connection): Omit<Payments, "receive"> => ({
  record: async (input, options) =>
    toPayment(await write<Payment>(connection, "POST", "/payments", input, options)),
  cancel: async (id, options) =>
    toPayment(await write<Payment>(connection, "POST", path`/payments/${id}/cancel`, undefined, options)),
  get: async (id, options) =>
    toPayment(await read<Payment>(connection, path`/payments/${id}`, undefined, options)),
  list: (query, options) => list(connection, "/payments", query, options, toPayment),
})

/**
 * Implements `billing.payments`.
 */
import { Payment as Core, Payments as PaymentsService, paymentView } from "@billwright/core"
import { Effect } from "effect"
import type { Calls } from "../runtime/Calls.ts"
import * as Ids from "../runtime/Ids.ts"
import { toAmount, toInput, toOptionalInput } from "../runtime/Input.ts"
import { makeListing } from "../runtime/ListingPages.ts"
import type { Payments, RecordPayment } from "./Payments.ts"

const toId = Ids.of(Core.PAYMENT_ID_PREFIX)

const toRecord = (input: RecordPayment): Core.RecordPayment =>
  toInput({ ...input, amount: toAmount(input.amount) }, "paidAt")

export const makePayments = (calls: Calls): Payments => {
  const payments = calls.service(PaymentsService)
  return {
    record: (input, options) =>
      calls.run(() => Effect.map(payments.record(toRecord(input)), paymentView), options),
    receive: (request, options) => calls.run(() => payments.receive(request), options),
    cancel: (id, options) => calls.run(() => Effect.map(payments.cancel(toId(id)), paymentView), options),
    get: (id, options) => calls.run(() => Effect.map(payments.get(toId(id)), paymentView), options),
    list: (query, options) =>
      makeListing(query, (page) =>
        calls.run(
          () =>
            Effect.map(payments.list(toOptionalInput(page)), ({ data, hasMore }) => ({
              data: data.map(paymentView),
              hasMore,
            })),
          options,
        ),
      ),
  }
}

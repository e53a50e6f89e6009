/**
 * Implements `billing.invoices`.
 */
import { Invoice as Core, Invoices as InvoicesService, invoiceView } from "@billwright/core"
import { Effect } from "effect"
import type { Calls } from "../runtime/Calls.ts"
import * as Ids from "../runtime/Ids.ts"
import { toOptionalInput } from "../runtime/Input.ts"
import { makeListing } from "../runtime/ListingPages.ts"
import type { Invoices } from "./Invoices.ts"

const toId = Ids.of(Core.INVOICE_ID_PREFIX)

export const makeInvoices = (calls: Calls): Invoices => {
  const invoices = calls.service(InvoicesService)
  return {
    get: (id, options) => calls.run(() => Effect.map(invoices.get(toId(id)), invoiceView), options),
    list: (query, options) =>
      makeListing(query, (page) =>
        calls.run(
          () =>
            Effect.map(invoices.list(toOptionalInput(page)), ({ data, hasMore }) => ({
              data: data.map(invoiceView),
              hasMore,
            })),
          options,
        ),
      ),
    void: (id, options) => calls.run(() => Effect.map(invoices.void(toId(id)), invoiceView), options),
    markUncollectible: (id, options) =>
      calls.run(() => Effect.map(invoices.markUncollectible(toId(id)), invoiceView), options),
  }
}

/**
 * The customers of a `Calls`.
 */
import { Customers as CustomersService } from "@billwright/core"
import type { Calls } from "../runtime/Calls.ts"
import * as Ids from "../runtime/Ids.ts"
import { toInput, toOptionalInput } from "../runtime/Input.ts"
import { makeListing } from "../runtime/ListingPages.ts"
import type { Customers } from "./Customers.ts"

export const makeCustomers = (calls: Calls): Customers => {
  const customers = calls.service(CustomersService)
  return {
    create: (input, options) => calls.run(() => customers.create(toInput(input)), options),
    get: (id, options) => calls.run(() => customers.get(Ids.customerId(id)), options),
    update: (id, input, options) =>
      calls.run(() => customers.update(Ids.customerId(id), toInput(input)), options),
    erase: (id, options) => calls.run(() => customers.erase(Ids.customerId(id)), options),
    list: (query, options) =>
      makeListing(query, (page) => calls.run(() => customers.list(toOptionalInput(page)), options)),
  }
}

/**
 * Implements `billing.entitlements`.
 */
import { Entitlements as EntitlementsService } from "@billwright/core"
import type { Calls } from "../runtime/Calls.ts"
import { toInput } from "../runtime/Input.ts"
import type { Entitlements } from "./Entitlements.ts"

export const makeEntitlements = (calls: Calls): Entitlements => {
  const entitlements = calls.service(EntitlementsService)
  return {
    check: (input, options) => calls.run(() => entitlements.check(toInput(input)), options),
    list: (customer, options) => calls.run(() => entitlements.list(toInput(customer)), options),
    consume: (input, options) => calls.run(() => entitlements.consume(toInput(input)), options),
  }
}

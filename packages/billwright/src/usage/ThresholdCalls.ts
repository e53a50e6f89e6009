/**
 * The usage thresholds of a `Calls`.
 */
import { type Threshold as Core, Thresholds as ThresholdsService } from "@billwright/core"
import { InvalidInputError } from "../errors/BillingError.ts"
import type { Calls } from "../runtime/Calls.ts"
import * as Ids from "../runtime/Ids.ts"
import { toInput, toOptionalInput } from "../runtime/Input.ts"
import { makeListing } from "../runtime/ListingPages.ts"
import type { CreateThreshold, Thresholds } from "./Thresholds.ts"

const toQuantity = (quantity: unknown): unknown => {
  if (typeof quantity !== "number") return quantity
  if (Number.isSafeInteger(quantity)) return BigInt(quantity)
  throw new InvalidInputError("quantity", "must be an integer from 1 to 10^30, beyond 2^53 − 1 a bigint")
}

const toThreshold = (input: CreateThreshold): Core.CreateThreshold => {
  const threshold = toInput<Core.CreateThreshold>(input)
  return typeof input?.quantity === "number"
    ? { ...threshold, quantity: toQuantity(input.quantity) as bigint }
    : threshold
}

export const makeThresholds = (calls: Calls): Thresholds => {
  const thresholds = calls.service(ThresholdsService)
  return {
    create: (input, options) => calls.run(() => thresholds.create(toThreshold(input)), options),
    get: (id, options) => calls.run(() => thresholds.get(Ids.thresholdId(id)), options),
    delete: (id, options) => calls.run(() => thresholds.delete(Ids.thresholdId(id)), options),
    list: (query, options) =>
      makeListing(query, (page) => calls.run(() => thresholds.list(toOptionalInput(page)), options)),
  }
}

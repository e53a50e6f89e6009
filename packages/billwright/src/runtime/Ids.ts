/**
 * Ids that callers give: text that is no id is one that nothing has, and what is no text is a mistake.
 */
import { InvalidInputError } from "../errors/BillingError.ts"

/** The id as it is. Throws an `InvalidInputError` when it is no text; `prefix` is that of such ids. */
const text =
  (prefix: string) =>
  (id: unknown): string => {
    if (typeof id === "string") return id
    throw new InvalidInputError("id", `must be a string such as ${prefix}_…`)
  }

export const customerId = text("cus")
export const usageRecordId = text("usg")
export const thresholdId = text("thr")
export const eventId = text("evt")
export const endpointId = text("whe")
export const deliveryId = text("dlv")
export const apiKeyId = text("key")

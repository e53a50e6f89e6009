/**
 * Ids that callers give: text that is no id is one that nothing has, and what is no text is a mistake.
 */
import { InvalidInputError } from "../errors/BillingError.ts"

/** The id as it is. Throws an `InvalidInputError` when it is no text; `prefix` is that of such ids. */
export const of =
  (prefix: string) =>
  (id: unknown): string => {
    if (typeof id === "string") return id
    throw new InvalidInputError("id", `must be a string such as ${prefix}_…`)
  }

export const usageRecordId = of("usg")
export const eventId = of("evt")
export const endpointId = of("whe")
export const deliveryId = of("dlv")
export const apiKeyId = of("key")

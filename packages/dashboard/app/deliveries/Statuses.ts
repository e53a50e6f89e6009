import type { DeliveryStatus } from "../api/Types.ts"

/** The choices of a filter by status. */
export const DELIVERY_STATUSES: ReadonlyArray<readonly [DeliveryStatus, string]> = [
  ["Pending", "Pending"],
  ["Delivered", "Delivered"],
  ["Failed", "Failed"],
]

/**
 * The status of a delivery: of sending an event to an endpoint.
 */
import { Schema } from "effect"

/** The status of a delivery. `Delivered` and `Failed` are final. */
export const DeliveryStatus = Schema.Literals(["Pending", "Delivered", "Failed"]).annotate({
  message: "must be Pending, Delivered or Failed",
})
export type DeliveryStatus = typeof DeliveryStatus.Type

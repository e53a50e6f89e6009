/**
 * Whether the invoices of a customer are collected by themselves.
 */
import { Effect, Option } from "effect"
import type { Collections } from "../shared/Collections.ts"
import { type CustomerId, customers } from "./Customer.ts"

/** Gives whether nobody has to ask for the money of a customer. One who is erased can't ask to pay by itself. */
export const chargedAutomatically = (collections: Collections["Service"]) => {
  const store = collections.of(customers)
  return (id: CustomerId) =>
    Effect.map(
      store.find(id),
      (found) => Option.isNone(found) || found.value.collectionMethod === "charge_automatically",
    )
}

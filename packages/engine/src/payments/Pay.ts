/**
 * What happens when somebody asks for the payment of an invoice now.
 */
import type { Collection } from "./Collection.ts"
import { isUnderWay } from "./Machine.ts"

/**
 * `attempt`: a new attempt is made. `read`: the provider is asked what came of the last one, which may have taken the
 * money. `refused`: neither is possible now. `problem` says why.
 */
export type PayStep =
  | { readonly type: "attempt" | "read" }
  | { readonly type: "refused"; readonly problem: string }

const ATTEMPT: PayStep = { type: "attempt" }
const READ: PayStep = { type: "read" }
const refused = (problem: string): PayStep => ({ type: "refused", problem })

/**
 * What is done with an open payment when somebody asks for the money now. Never two attempts at once. `isRead`: the provider
 * was just asked, so that the collection is what it says.
 */
export const payStepOf = (collection: Collection, isRead: boolean): PayStep => {
  switch (collection.state) {
    case "paid":
      return refused("it is paid")
    case "processing":
      return refused("a bank works on its payment: wait for the result")
    case "unresolved":
      return refused("nobody knows what came of the last attempt: it is read until the provider says so")
    case "collecting":
      return isUnderWay(collection) ? refused("an attempt is being made: wait for its result") : ATTEMPT
    // A person has looked. What may have taken the money is read before anything else is attempted.
    case "needs_attention":
      return isUnderWay(collection) ? READ : ATTEMPT
    // The customer may have confirmed it meanwhile.
    case "awaiting_customer":
      return isRead ? ATTEMPT : READ
    case "idle":
    case "retrying":
    case "awaiting_method":
    case "exhausted":
    case "stopped":
      return ATTEMPT
  }
}

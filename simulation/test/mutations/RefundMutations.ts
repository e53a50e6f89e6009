/**
 * Refunds and disputes with one planted bug each.
 */
import { type Dispute, ProviderFailure, type Refund } from "@billwright/core"
import { Effect } from "effect"
import { changeValues, storing } from "./Mutation.ts"
import { called, type PaymentBug, stored } from "./PaymentMutations.ts"

export const refunds: ReadonlyArray<PaymentBug> = [
  called("a refund has another key whenever it is sent", ["returned"], ({ refund }) => {
    let sent = 0
    return {
      refund: (asked) =>
        Effect.map(refund({ ...asked, refundId: `${asked.refundId}.${++sent}` }), (made) => ({
          ...made,
          refundId: asked.refundId,
        })),
    }
  }),
  called("a refund whose answer is lost counts as refused", ["returned"], ({ refund }) => ({
    refund: (asked) =>
      Effect.mapError(refund(asked), ({ message }) => new ProviderFailure({ reason: "permanent", message })),
  })),
  called("a refund is sent of one unit more", ["returned", "refunded", "resolved"], ({ refund }) => ({
    refund: (asked) => refund({ ...asked, amount: asked.amount + 1n }),
  })),
  called("a dispute that is lost counts as won", ["returned"], ({ readDispute }) => ({
    readDispute: (reference) =>
      Effect.map(readDispute(reference), (read) =>
        read?.status === "lost" ? ({ ...read, status: "won" } as const) : read,
      ),
  })),
  stored(
    "the refunds of a payment are not found",
    ["refunded", "returned"],
    changeValues<Refund.Refund>("Refund", ({ list }) => ({
      list: (filter, page) =>
        Effect.map(list(filter, page), (found) =>
          filter.paymentId === undefined ? found : { ...found, data: [] },
        ),
    })),
  ),
  stored(
    "what a refund reverses is not stored with it",
    ["invoices"],
    storing<Refund.Refund>("Refund", (refund) => ({ ...refund, reversed: 0n })),
  ),
  stored(
    "a dispute is stored as open whatever is decided",
    ["returned"],
    storing<Dispute.Dispute>("Dispute", (dispute) => ({ ...dispute, status: "open" })),
  ),
]

/**
 * Puts refunds that somebody has made at the provider in the queue, so that they are read until it is known what came of them.
 */
import { Effect, Layer } from "effect"
import { optionalPort } from "../invoices/InvoicingUnsupported.ts"
import { RefundReading } from "../payments/RefundReading.ts"
import { DueStore } from "./DueStore.ts"

export const layer = Layer.effect(
  RefundReading,
  Effect.gen(function* () {
    const duePort = yield* optionalPort(DueStore)
    return { plan: (id, at) => Effect.flatMap(duePort, (due) => due.schedule({ kind: "refund", id }, at)) }
  }),
)

/**
 * The operations of refunds that other resources don't have (see `Operations`).
 */
import { Refund, Refunds } from "@billwright/core"
import { Effect } from "effect"
import { ok } from "./HttpExchange.ts"
import type { OperationsOf } from "./Operation.ts"
import * as ResourceBody from "./ResourceBody.ts"

const body = ResourceBody.make<Refund.Refund>(Refund.refunds)

export const make: Effect.Effect<OperationsOf<"refund_resolutions">, never, Refunds> = Effect.map(
  Refunds,
  (refunds) => ({
    refreshRefund: ({ params }, tenant) =>
      Effect.map(refunds.refresh(params.id), (refund) => ok(body(refund, tenant))),
    resolveRefund: ({ params, payload }, tenant) =>
      Effect.map(refunds.resolve(params.id, payload), (refund) => ok(body(refund, tenant))),
  }),
)

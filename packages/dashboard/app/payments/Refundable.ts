/**
 * What is left to refund of a payment.
 */
import type { Dispute, ListPage, Payment, Refund } from "../api/Types.ts"
import { sum, type WireInteger } from "../Quantity.ts"

type OfRefund = Pick<Refund, "amount" | "status">
type OfDispute = Pick<Dispute, "amount" | "status">

interface Taken {
  readonly amount: WireInteger
  readonly status: Payment["status"]
}

/**
 * The payment without refunds that have not failed, and without disputes that are open or lost. `undefined` while not all
 * of them are known. A test compares it with the rule of the engine.
 */
export const leftOf = (
  { amount, status }: Taken,
  refunds: ListPage<OfRefund> | undefined,
  disputes: ListPage<OfDispute> | undefined,
): bigint | undefined => {
  if (status !== "succeeded") return 0n
  if (refunds === undefined || disputes === undefined || refunds.has_more || disputes.has_more)
    return undefined
  const given = refunds.data.filter((one) => one.status !== "failed")
  const disputed = disputes.data.filter((one) => one.status !== "won")
  const left = BigInt(amount) - sum([...given, ...disputed].map((one) => one.amount))
  return left < 0n ? 0n : left
}

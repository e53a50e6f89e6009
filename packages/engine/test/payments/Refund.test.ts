/** Refunds: what may go back, and what an invoice is then paid with, against another computation of it. */
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import {
  nextRefundRead,
  type RefundAmounts,
  refundableOf,
  type RefundInput,
  type RefundStatus,
  restorationOf,
  reversalOf,
  stepRefund,
} from "../../src/index.ts"
import { holds } from "../property.ts"

type Step =
  | { readonly type: "refund"; readonly amount: bigint }
  | { readonly type: "fail"; readonly index: number }
  | { readonly type: "pay"; readonly amount: bigint }

const amounts = fc.bigInt({ min: 1n, max: 60n })
const steps: fc.Arbitrary<ReadonlyArray<Step>> = fc.array(
  fc.oneof(
    fc.record({ type: fc.constant("refund" as const), amount: amounts }),
    fc.record({ type: fc.constant("fail" as const), index: fc.nat(5) }),
    fc.record({ type: fc.constant("pay" as const), amount: amounts }),
  ),
  { maxLength: 14 },
)

const lesser = (a: bigint, b: bigint): bigint => (a < b ? a : b)

describe("refunds of a payment", () => {
  it("move its money between the invoice, the customer's credit and the customer", () => {
    holds(
      [fc.bigInt({ min: 0n, max: 99n }), fc.bigInt({ min: 1n, max: 99n }), steps],
      (overpaid, applied, all) => {
        const payment = { status: "succeeded", amount: applied + overpaid, applied, overpaid } as const
        const refunds: Array<RefundAmounts> = []
        // Where each part of the money is, and what others paid of the invoice meanwhile.
        let onInvoice = applied
        let credit = overpaid
        let others = 0n
        const out: Array<{ amount: bigint; fromInvoice: bigint }> = []
        for (const step of all) {
          const returned = { refunds, disputes: [] }
          const due = applied - onInvoice - others
          if (step.type === "refund") {
            const most = onInvoice + credit
            assert.strictEqual(refundableOf(payment, returned), most)
            const amount = lesser(step.amount, most)
            if (amount === 0n) continue
            const fromInvoice = amount - lesser(amount, credit)
            const paid = { amountPaid: onInvoice + others, creditedRefunds: 0n }
            const reversed = reversalOf(amount, payment, returned, paid)
            assert.strictEqual(reversed, fromInvoice)
            refunds.push({ status: "succeeded", amount, reversed, isCredited: false })
            out.push({ amount, fromInvoice })
            credit -= amount - fromInvoice
            onInvoice -= fromInvoice
          } else if (step.type === "fail") {
            const refund = refunds[step.index]
            const given = out[step.index]
            if (refund === undefined || given === undefined || refund.status === "failed") continue
            const status = due > 0n ? "open" : "paid"
            const restored = restorationOf(refund.reversed, { status, amountDue: due })
            assert.strictEqual(restored, lesser(given.fromInvoice, due))
            refunds[step.index] = { ...refund, status: "failed", reversed: refund.reversed - restored }
            onInvoice += restored
            credit += given.amount - restored
          } else others += lesser(step.amount, due)
        }
        const reversed = refunds.reduce((sum, one) => sum + one.reversed, 0n)
        assert.strictEqual(applied - reversed, onInvoice)
        assert.isTrue(onInvoice >= 0n && credit >= 0n && onInvoice + others <= applied)
      },
    )
  })

  it("leave what credit notes refund on the invoice", () => {
    const payment = { status: "succeeded", amount: 100n, applied: 100n, overpaid: 0n } as const
    const credited: RefundAmounts = { status: "succeeded", amount: 40n, reversed: 0n, isCredited: true }
    const returned = { refunds: [credited], disputes: [] }
    assert.strictEqual(refundableOf(payment, returned), 60n)
    assert.strictEqual(reversalOf(60n, payment, returned, { amountPaid: 100n, creditedRefunds: 40n }), 60n)
    assert.strictEqual(reversalOf(60n, payment, returned, { amountPaid: 100n, creditedRefunds: 50n }), 50n)
  })

  it("are less by disputes that are open or lost, and a lost one takes no more than is there", () => {
    const payment = { status: "succeeded", amount: 120n, applied: 100n, overpaid: 20n } as const
    const refund: RefundAmounts = { status: "unresolved", amount: 30n, reversed: 0n, isCredited: false }
    for (const [status, left] of [
      ["open", 10n],
      ["lost", 10n],
      ["won", 90n],
    ] as const) {
      const disputes = [{ status, amount: 80n, reversed: 0n }]
      assert.strictEqual(refundableOf(payment, { refunds: [refund], disputes }), left, status)
    }
    const disputes = [{ status: "open", amount: 120n, reversed: 0n }] as const
    assert.strictEqual(refundableOf(payment, { refunds: [refund], disputes }), 0n)
    const given: RefundAmounts = { status: "succeeded", amount: 70n, reversed: 50n, isCredited: false }
    const paid = { amountPaid: 50n, creditedRefunds: 0n }
    assert.strictEqual(reversalOf(120n, payment, { refunds: [given], disputes: [] }, paid), 50n)
  })

  it("are made of payments that have succeeded", () => {
    const open = { status: "open", amount: 100n, applied: 0n, overpaid: 0n } as const
    assert.strictEqual(refundableOf(open, { refunds: [], disputes: [] }), 0n)
  })
})

describe("a refund", () => {
  const stated = (status: "pending" | "succeeded" | "failed"): RefundInput => ({
    type: "stated",
    status,
    code: null,
  })
  const failed = (call: "send" | "read", reason: "transient" | "permanent" | "unknown"): RefundInput => ({
    type: "failed",
    call,
    reason,
  })

  it("goes from one status to another", () => {
    const inputs: ReadonlyArray<RefundInput> = [
      stated("pending"),
      stated("succeeded"),
      stated("failed"),
      failed("send", "transient"),
      failed("send", "permanent"),
      failed("send", "unknown"),
      failed("read", "transient"),
      failed("read", "permanent"),
      failed("read", "unknown"),
    ]
    const table: Record<RefundStatus, ReadonlyArray<RefundStatus | undefined>> = {
      pending: [undefined, "succeeded", "failed", undefined, "failed", "unresolved"],
      unresolved: ["pending", "succeeded", "failed", "pending", "failed", undefined],
      succeeded: [undefined, undefined, "failed", undefined, undefined, undefined],
      failed: [undefined, undefined, undefined, undefined, undefined, undefined],
    }
    for (const [status, expected] of Object.entries(table)) {
      assert.deepStrictEqual(
        inputs.map((input) => stepRefund(status as RefundStatus, input)?.status),
        [...expected, undefined, undefined, undefined],
        status,
      )
    }
    assert.deepStrictEqual(stepRefund("pending", failed("send", "permanent")), {
      status: "failed",
      failureCode: "refused_by_provider",
    })
    assert.strictEqual(
      stepRefund("pending", { ...stated("failed"), code: "lost_card" } as RefundInput)?.failureCode,
      "lost_card",
    )
  })

  it("is read often at first, then daily, for 30 days", () => {
    const HOUR = 3_600_000
    const reads: Array<number> = []
    for (let at: number | null = 0; at !== null; at = nextRefundRead(0, at)) reads.push(at)
    assert.deepStrictEqual(reads.slice(1, 4), [90_000, 390_000, 2_190_000])
    assert.isTrue(reads.slice(6).every((at, index) => 24 * HOUR === at - (reads[index + 5] ?? 0)))
    const last = reads.at(-1)!
    assert.isTrue(last <= 30 * 24 * HOUR && last > 29 * 24 * HOUR)
  })
})

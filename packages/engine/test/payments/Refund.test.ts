/** Refunds: what may go back, and what an invoice is then paid with, against another computation of it. */
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import {
  creditableOf,
  type DisputeAmounts,
  type DisputeStatus,
  nextRefundRead,
  type RefundAmounts,
  refundableOf,
  type RefundInput,
  type RefundStatus,
  restorationOf,
  type Returned,
  reversalOf,
  reversalsOf,
  stepRefund,
} from "../../src/index.ts"
import { holds } from "../property.ts"

type Status = DisputeStatus | RefundStatus

type Step =
  | { readonly type: "pay" | "credit" | "refund" | "dispute"; readonly amount: bigint }
  | { readonly type: "decide"; readonly index: number; readonly status: Status }

// So few that amounts are often all that is left, or what another one has taken.
const amounts = fc.bigInt({ min: 1n, max: 10n })
const steps: fc.Arbitrary<ReadonlyArray<Step>> = fc.array(
  fc.oneof(
    fc.record({ type: fc.constantFrom("pay", "credit", "refund", "dispute"), amount: amounts }),
    fc.record({
      type: fc.constant("decide" as const),
      index: fc.nat(3),
      status: fc.constantFrom<Status>("failed", "won", "lost", "lost", "open"),
    }),
  ),
  { minLength: 5, maxLength: 25, size: "max" },
)

const lesser = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** Where each cent of a payment is: each is moved by itself. */
class Cents {
  readonly #places: Array<"invoice" | "credit" | number>
  /** What the seller gave of its own, because the same money went back twice. */
  #own = new Map<number, number>()

  constructor(applied: bigint, overpaid: bigint) {
    const on = Array.from({ length: Number(applied) }, () => "invoice" as const)
    this.#places = [...on, ...Array.from({ length: Number(overpaid) }, () => "credit" as const)]
  }

  at(place: "invoice" | "credit" | number): bigint {
    return BigInt(this.#places.filter((one) => one === place).length)
  }

  /** What went back twice and is the seller's loss. */
  get own(): bigint {
    return BigInt([...this.#own.values()].reduce((sum, one) => sum + one, 0))
  }

  /** Money goes back: the customer's credit first, then at most so much of what the invoice is paid with. */
  goes(of: number, amount: bigint, most: bigint): void {
    this.#own.set(of, Number(amount))
    this.#fill("credit", this.at("credit"))
    this.#fill("invoice", most)
  }

  /** It comes back: what others took as well stays with the customer, then the invoice takes so much. */
  comes(of: number, toInvoice: (left: bigint) => bigint): void {
    this.#own.delete(of)
    this.#fill(of, this.at(of))
    const taken = toInvoice(this.at(of))
    for (let n = 0n; n < taken; n++) this.#move(of, "invoice")
    while (this.#move(of, "credit")) continue
  }

  #fill(from: "invoice" | "credit" | number, most: bigint): void {
    let left = most
    for (const [of, missing] of this.#own) {
      let moved = 0
      while (moved < missing && left > 0n && this.#move(from, of)) {
        moved++
        left--
      }
      this.#own.set(of, missing - moved)
    }
  }

  #move(from: "invoice" | "credit" | number, to: "invoice" | "credit" | number): boolean {
    const index = this.#places.indexOf(from)
    if (index >= 0) this.#places[index] = to
    return index >= 0
  }
}

/** The books of a payment, changed by the rules alone. */
class Books {
  readonly all: Array<RefundAmounts | DisputeAmounts> = []
  #others = 0n
  #credited = 0n
  readonly #payment
  readonly #cents: Cents

  constructor(applied: bigint, overpaid: bigint) {
    this.#payment = { status: "succeeded", amount: applied + overpaid, applied, overpaid } as const
    this.#cents = new Cents(applied, overpaid)
  }

  get #returned(): Returned {
    return {
      refunds: this.all.filter((one) => "isCredited" in one),
      disputes: this.all.filter((one): one is DisputeAmounts => !("isCredited" in one)),
    }
  }

  get #due(): bigint {
    return this.#payment.applied - this.#cents.at("invoice") - this.#others
  }

  /** Does a step, if it is possible. */
  apply(step: Step): void {
    if (step.type === "decide") return this.#decide(step.index, step.status)
    const { amount } = step
    if (step.type === "pay") {
      this.#others += lesser(amount, this.#due)
    } else if (step.type === "dispute") {
      this.all.push({ status: "open", amount: lesser(amount, this.#payment.amount), reversed: 0n })
    } else if (step.type === "refund" && amount <= refundableOf(this.#payment, this.#returned)) {
      this.all.push({ status: "pending", amount, reversed: 0n, isCredited: false })
      this.#decide(this.all.length - 1, "succeeded")
    } else if (step.type === "credit" && amount <= creditableOf(this.#payment, this.#returned)) {
      this.all.push({ status: "succeeded", amount, reversed: 0n, isCredited: true })
      this.#credited += amount
    }
  }

  #decide(index: number, status: Status): void {
    const one = this.all[index]
    if (one === undefined || one.status === status || one.status === "failed") return
    const isRefund = "isCredited" in one
    if (isRefund ? status !== "failed" && status !== "succeeded" : !/^(won|lost|open)$/.test(status)) return
    const wasGone = one.status === "succeeded" || one.status === "lost"
    this.all[index] = { ...one, status } as RefundAmounts | DisputeAmounts
    if (isRefund && one.isCredited) return
    if (status === "succeeded" || status === "lost") return this.#goes(index)
    if (wasGone) this.#comes(index)
  }

  #goes(index: number): void {
    const one = this.all[index]!
    const paid = { amountPaid: this.#cents.at("invoice") + this.#others, creditedRefunds: this.#credited }
    const before = this.#cents.at("invoice")
    const reversed = reversalOf(this.#payment, this.#returned, paid)
    const most = paid.amountPaid - paid.creditedRefunds
    this.#cents.goes(index, one.amount, most < 0n ? 0n : most)
    assert.strictEqual(reversed, before - this.#cents.at("invoice"))
    const isGone = (other: RefundAmounts | DisputeAmounts) =>
      other.status === "lost" || (other.status === "succeeded" && "isCredited" in other && !other.isCredited)
    const gone = [index, ...this.all.keys().filter((at) => at !== index && isGone(this.all[at]!))]
    const shares = reversalsOf(
      reversed,
      gone.map((at) => this.all[at]!),
    )
    for (const [place, at] of gone.entries()) {
      this.all[at] = { ...this.all[at]!, reversed: this.all[at]!.reversed + shares[place]! }
    }
  }

  #comes(index: number): void {
    const one = this.all[index]!
    const status = this.#due > 0n ? "open" : "paid"
    const wasTwice = this.#cents.own > 0n
    const invoice = { status, amountDue: this.#due } as const
    const restored = restorationOf(one.reversed, this.#payment, this.#returned, invoice)
    this.#cents.comes(index, (left) => {
      assert.isTrue(restored <= left && restored <= this.#due)
      if (!wasTwice) assert.strictEqual(restored, lesser(one.reversed, this.#due))
      return restored
    })
    this.all[index] = { ...one, reversed: one.reversed - restored }
  }

  /** The books say where the money is. */
  check(): void {
    const reversed = this.all.reduce((sum, one) => sum + one.reversed, 0n)
    assert.strictEqual(this.#payment.applied - reversed, this.#cents.at("invoice"))
    assert.isTrue(this.all.every((one) => one.reversed >= 0n && one.reversed <= one.amount))
    assert.isTrue(this.#cents.at("invoice") + this.#others <= this.#payment.applied)
    const given = this.all.filter((one) => "isCredited" in one && one.status !== "failed")
    assert.isTrue(given.reduce((sum, { amount }) => sum + amount, 0n) <= this.#payment.amount)
  }
}

describe("money of a payment that goes back", () => {
  it("is moved between the invoice, the customer's credit and the customer, cent by cent", () => {
    holds(
      [fc.bigInt({ min: 0n, max: 5n }), amounts, steps],
      (overpaid, applied, all) => {
        const books = new Books(applied, overpaid)
        for (const step of all) {
          books.apply(step)
          books.check()
        }
      },
      5_000,
    )
  })

  it("leave what credit notes refund on the invoice", () => {
    const payment = { status: "succeeded", amount: 100n, applied: 100n, overpaid: 0n } as const
    const credited: RefundAmounts = { status: "succeeded", amount: 40n, reversed: 0n, isCredited: true }
    assert.strictEqual(refundableOf(payment, { refunds: [credited], disputes: [] }), 60n)
    const refund: RefundAmounts = { status: "succeeded", amount: 60n, reversed: 0n, isCredited: false }
    const returned = { refunds: [credited, refund], disputes: [] }
    assert.strictEqual(reversalOf(payment, returned, { amountPaid: 100n, creditedRefunds: 40n }), 60n)
    assert.strictEqual(reversalOf(payment, returned, { amountPaid: 100n, creditedRefunds: 50n }), 50n)
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
    const lost = [{ status: "lost", amount: 120n, reversed: 0n }] as const
    assert.strictEqual(reversalOf(payment, { refunds: [given], disputes: lost }, paid), 50n)
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
  const failed = (
    call: "send" | "send_again" | "read",
    reason: "transient" | "permanent" | "unknown",
  ): RefundInput => ({
    type: "failed",
    call,
    reason,
  })

  const PENDING = { status: "pending", failureCode: null } as const

  it("is what a person says, until the provider says otherwise", () => {
    for (const status of ["pending", "unresolved"] as const) {
      const before = { status, failureCode: null }
      const gone = { status: "succeeded", failureCode: null } as const
      assert.deepStrictEqual(stepRefund(before, { type: "resolved", status: "succeeded" }), gone)
      const given = stepRefund(before, { type: "resolved", status: "failed" })!
      assert.deepStrictEqual(given, { status: "failed", failureCode: "resolved_by_person" })
      for (const input of [stated("pending"), stated("failed"), failed("send", "unknown")]) {
        assert.isUndefined(stepRefund(given, input))
      }
      assert.deepStrictEqual(stepRefund(given, stated("succeeded")), gone)
    }
    const ended = [
      { status: "succeeded", failureCode: null },
      { status: "failed", failureCode: "lost_card" },
    ] as const
    for (const before of ended) {
      assert.isUndefined(stepRefund(before, { type: "resolved", status: "failed" }))
      assert.isUndefined(stepRefund(before, { type: "resolved", status: "succeeded" }))
    }
  })

  it("goes from one status to another", () => {
    const inputs: ReadonlyArray<RefundInput> = [
      stated("pending"),
      stated("succeeded"),
      stated("failed"),
      failed("send", "transient"),
      failed("send", "permanent"),
      failed("send", "unknown"),
      failed("send_again", "transient"),
      failed("send_again", "permanent"),
      failed("send_again", "unknown"),
      failed("read", "transient"),
      failed("read", "permanent"),
      failed("read", "unknown"),
    ]
    // An earlier call of the same refund may still arrive.
    const NONE = [undefined, undefined]
    const table: Record<RefundStatus, ReadonlyArray<RefundStatus | undefined>> = {
      pending: [undefined, "succeeded", "failed", undefined, "failed", "unresolved", ...NONE, "unresolved"],
      unresolved: ["pending", "succeeded", "failed", "pending", "failed", undefined, ...NONE, undefined],
      succeeded: [undefined, undefined, "failed", undefined, undefined, undefined, ...NONE, undefined],
      failed: [undefined, undefined, undefined, undefined, undefined, undefined, ...NONE, undefined],
    }
    for (const [status, expected] of Object.entries(table)) {
      assert.deepStrictEqual(
        inputs.map(
          (input) => stepRefund({ status: status as RefundStatus, failureCode: null }, input)?.status,
        ),
        [...expected, undefined, undefined, undefined],
        status,
      )
    }
    assert.deepStrictEqual(stepRefund(PENDING, failed("send", "permanent")), {
      status: "failed",
      failureCode: "refused_by_provider",
    })
    assert.strictEqual(
      stepRefund(PENDING, { ...stated("failed"), code: "lost_card" } as RefundInput)?.failureCode,
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

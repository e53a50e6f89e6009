import { Aggregation } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { fc, holds } from "../property.ts"

const kinds = Aggregation.Aggregation.literals

/** Few instants and keys, so that some are equal. */
const entries: fc.Arbitrary<ReadonlyArray<Aggregation.Entry>> = fc
  .array(
    fc.record({
      timestamp: fc.integer({ min: 0, max: 9 }),
      quantity: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constant(Number.MAX_SAFE_INTEGER)),
      idempotencyKey: fc.option(fc.constantFrom("a", "\uffee", "😀")),
    }),
    { maxLength: 12 },
  )
  .map((made) => made.map((entry, index) => ({ ...entry, id: `usg_${String(index).padStart(2, "0")}` })))

const kind = fc.constantFrom(...kinds)
const END = 10

/** The value of one combination by its definition, from all records. */
const naive = (aggregation: Aggregation.Aggregation, all: ReadonlyArray<Aggregation.Entry>): bigint => {
  const inTime = all.toSorted(
    (a, b) =>
      a.timestamp - b.timestamp ||
      Buffer.compare(Buffer.from(a.idempotencyKey ?? ""), Buffer.from(b.idempotencyKey ?? "")) ||
      (a.id < b.id ? -1 : 1),
  )
  const quantities = all.map(({ quantity }) => BigInt(quantity))
  switch (aggregation) {
    case "sum":
      return quantities.reduce((a, b) => a + b, 0n)
    case "count":
      return BigInt(all.length)
    case "max":
      return quantities.reduce((a, b) => (a > b ? a : b), 0n)
    case "latest":
      return BigInt(inTime.at(-1)?.quantity ?? 0)
    case "unique_count":
      return all.length > 0 ? 1n : 0n
    case "time_weighted": {
      let area = 0n
      for (let moment = 0; moment < END; moment++) {
        area += BigInt(inTime.findLast(({ timestamp }) => timestamp <= moment)?.quantity ?? 0)
      }
      return area
    }
  }
}

const valueOf = (aggregation: Aggregation.Aggregation, state: Aggregation.State): bigint =>
  Aggregation.totalOf(aggregation, [{ state, counted: "one", carried: 0 }], { start: 0, end: END }).quantity

/** Follows a change of the records as stores do: when the state does not tell the result, they read them again. */
const apply = (
  aggregation: Aggregation.Aggregation,
  state: Aggregation.State | undefined,
  all: ReadonlyArray<Aggregation.Entry>,
): Aggregation.State => state ?? Aggregation.stateOf(aggregation, all)

describe("Aggregation", () => {
  it("gives the same value in any order of adding and removing", () =>
    holds(
      [fc.record({ kind, all: entries, order: fc.infiniteStream(fc.nat()), voided: fc.nat({ max: 4096 }) })],
      ({ all, kind: aggregation, order, voided }) => {
        const { add, remove } = Aggregation.ruleOf(aggregation)
        const waiting = [...all]
        const kept: Array<Aggregation.Entry> = []
        let state = Aggregation.zero
        while (waiting.length > 0) {
          const [entry] = waiting.splice(order.next().value % waiting.length, 1)
          kept.push(entry!)
          state = apply(aggregation, add(state, entry!), kept)
          assert.strictEqual(valueOf(aggregation, state), naive(aggregation, kept))
        }
        for (const [index, entry] of all.entries()) {
          if ((voided >> index) % 2 === 0) continue
          kept.splice(kept.indexOf(entry), 1)
          state = apply(aggregation, remove(state, entry), kept)
          assert.strictEqual(valueOf(aggregation, state), naive(aggregation, kept))
          assert.strictEqual(state.recordCount, kept.length)
        }
        assert.isTrue(Aggregation.isSame(state, Aggregation.stateOf(aggregation, kept)))
      },
    ))

  it("gives the same value for any cut into days", () =>
    holds(
      [fc.record({ kind, all: entries, cuts: fc.uniqueArray(fc.integer({ min: 1, max: 9 })) })],
      ({ all, cuts, kind: aggregation }) => {
        const { merge } = Aggregation.ruleOf(aggregation)
        const boundaries = [0, ...cuts.toSorted((a, b) => a - b), END]
        const state = boundaries.slice(0, -1).reduce((merged, start, index) => {
          const end = boundaries[index + 1]!
          const part = all.filter(({ timestamp }) => start <= timestamp && timestamp < end)
          return merge(merged, Aggregation.stateOf(aggregation, part))
        }, Aggregation.zero)
        assert.isTrue(Aggregation.isSame(state, Aggregation.stateOf(aggregation, all)))
        assert.strictEqual(valueOf(aggregation, state), naive(aggregation, all))
      },
    ))

  it("gives the same value for any cut into batches, in any order, except for levels", () =>
    holds(
      [fc.record({ kind, batches: fc.array(entries, { maxLength: 4 }) })],
      ({ batches, kind: aggregation }) => {
        if (aggregation === "time_weighted") return
        const { merge } = Aggregation.ruleOf(aggregation)
        const named = batches.map((batch, index) =>
          batch.map((entry) => ({ ...entry, id: `${entry.id}${index}` })),
        )
        const states = named.map((batch) => Aggregation.stateOf(aggregation, batch))
        const all = Aggregation.stateOf(aggregation, named.flat())
        assert.isTrue(Aggregation.isSame(states.reduce(merge, Aggregation.zero), all))
        assert.isTrue(Aggregation.isSame(states.reduceRight(merge, Aggregation.zero), all))
      },
    ))

  it("says when the records have to be read again", () => {
    const entry = (timestamp: number, quantity: number): Aggregation.Entry => ({
      timestamp,
      quantity,
      idempotencyKey: null,
      id: `${timestamp}`,
    })
    const both = [entry(1, 5), entry(2, 3)] as const
    const tells = (aggregation: Aggregation.Aggregation) => {
      const { add, remove } = Aggregation.ruleOf(aggregation)
      const state = Aggregation.stateOf(aggregation, both)
      return [
        remove(state, both[0]),
        remove(state, both[1]),
        add(state, entry(0, 9)),
        add(state, entry(3, 9)),
      ].map((changed) => changed !== undefined)
    }
    assert.deepStrictEqual(Object.fromEntries(kinds.map((each) => [each, tells(each)])), {
      sum: [true, true, true, true],
      count: [true, true, true, true],
      max: [false, true, true, true],
      latest: [true, false, true, true],
      unique_count: [true, true, true, true],
      time_weighted: [false, false, false, true],
    })
  })

  it("carries a level over, and counts it for the whole of a period without records", () => {
    const part = (carried: number, all: ReadonlyArray<Aggregation.Entry>): Aggregation.Part => ({
      state: Aggregation.stateOf("time_weighted", all),
      counted: null,
      carried,
    })
    const entry = { timestamp: 104, quantity: 10, idempotencyKey: null, id: "a" }
    const period = { start: 100, end: 110 }
    assert.deepStrictEqual(Aggregation.totalOf("time_weighted", [part(3, [])], period), {
      quantity: 30n,
      recordCount: 0,
    })
    assert.deepStrictEqual(Aggregation.totalOf("time_weighted", [part(3, [entry]), part(1, [])], period), {
      quantity: 3n * 4n + 10n * 6n + 10n,
      recordCount: 1,
    })
  })

  it("counts different values of combinations that have records", () => {
    const part = (counted: string | null, recordCount: number): Aggregation.Part => ({
      state: { ...Aggregation.zero, recordCount },
      counted,
      carried: 0,
    })
    const parts = [part("a", 2), part("a", 1), part("b", 0), part(null, 4), part("c", 1)]
    assert.deepStrictEqual(Aggregation.totalOf("unique_count", parts, { start: undefined, end: undefined }), {
      quantity: 2n,
      recordCount: 8,
    })
  })

  it("compares texts by code points", () => {
    const texts = ["", "A", "a", "ab", "b", "é", "\uffee", "😀"]
    assert.deepStrictEqual(texts.toReversed().sort(Aggregation.compareText), texts)
    assert.deepStrictEqual(["b", null, "a"].sort(Aggregation.compareNullable), [null, "a", "b"])
  })
})

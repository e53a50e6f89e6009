import { Aggregation, Meter, type Rollup, RollupValues } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"

const rollup: Rollup.Rollup = {
  meterId: Meter.MeterId.make(`mtr_${"0".repeat(26)}`),
  meterKey: "seats",
  productId: "app",
  unit: "seat",
  generation: 1,
  aggregation: "time_weighted",
  dimensions: ["user"],
  counted: null,
}

/** A cell with one record, and a count of how often its combination is read. */
const countedCell = (user: string, timestamp: number, quantity: number) => {
  const reads = { count: 0 }
  const combination = new Proxy([user], {
    get: (target, name, receiver) => {
      if (name === "0") reads.count++
      return Reflect.get(target, name, receiver) as unknown
    },
  })
  const entry = { timestamp, quantity, idempotencyKey: null, id: user }
  const state = Aggregation.stateOf("time_weighted", [entry])
  return { cell: { combination, state }, reads }
}

describe("RollupValues.answer", () => {
  it("does not go on reading combinations whose level ended, in any window", () => {
    const readsOf = (windows: number, endsAt: number) => {
      const boundaries = Array.from({ length: windows + 1 }, (_, index) => 1000 + index * 100)
      const ended = countedCell("ended", endsAt, 0)
      const alive = countedCell("alive", endsAt, 2)
      const answer = RollupValues.answer(
        rollup,
        {
          customerId: "cus_" as never,
          meterId: rollup.meterId,
          generation: 1,
          boundaries,
          where: [],
          groupBy: ["user"],
          most: 9,
        },
        ({ end = 0, start = 0 }) => (start <= endsAt && endsAt < end ? [ended.cell, alive.cell] : []),
      )
      assert.strictEqual(answer._tag, "Totals")
      return { ended: ended.reads.count, alive: alive.reads.count }
    }
    for (const endsAt of [500, 1000]) {
      const [few, many] = [readsOf(3, endsAt), readsOf(300, endsAt)]
      assert.strictEqual(many.ended, few.ended)
      assert.isAbove(many.alive, few.alive + 290)
    }
  })
})

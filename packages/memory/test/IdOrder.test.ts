import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { IdOrder } from "../src/IdOrder.ts"
import { runs } from "./property.ts"

interface Row {
  readonly id: string
}

/** Ids of the same length, so that they sort like their numbers. */
const idOf = (number: number): string => String(number).padStart(6, "0")

/** More rows than fit into a piece, many at a time: in order, in reverse order, or anywhere. */
const MAX = 3_000
const step = fc.oneof(
  fc.record({
    do: fc.constantFrom("add" as const, "remove" as const),
    // Whole pieces are added and removed.
    from: fc.oneof(fc.constantFrom(0, 600), fc.nat({ max: MAX })),
    count: fc.oneof(fc.constantFrom(1_500, MAX), fc.nat({ max: 600 })),
    stride: fc.constantFrom(1, -1, 7, -13),
  }),
  fc.record({
    do: fc.constant("look" as const),
    direction: fc.constantFrom("older" as const, "newer" as const),
    at: fc.option(fc.nat({ max: MAX })),
    limit: fc.integer({ min: 1, max: 700 }),
  }),
)

const pageOf = (ids: ReadonlyArray<string>, direction: "older" | "newer", id: string | undefined) => {
  if (id === undefined) return ids.toReversed()
  return direction === "newer"
    ? ids.filter((other) => other > id)
    : ids.filter((other) => other < id).reverse()
}

describe("IdOrder", () => {
  it("has the same rows as a sorted list, after any changes", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12, size: "max" }), (steps) => {
        const order = new IdOrder<Row>()
        const rows = new Map<string, Row>()
        for (const one of steps) {
          const ids = [...rows.keys()].sort()
          if (one.do === "look") {
            const { at, direction, limit } = one
            const id = at === null ? undefined : idOf(at)
            const cursor = id === undefined ? undefined : { direction, id }
            const isEven = (row: Row) => Number(row.id) % 2 === 0
            const expected = pageOf(ids, direction, id)
            const found = [order.slice({ limit, cursor }), order.sliceWhere({ limit, cursor }, isEven)]
            assert.deepStrictEqual(
              found.map((page) => page.map((row) => row.id)),
              [expected, expected.filter((other) => isEven({ id: other }))].map((all) =>
                all.slice(0, limit + 1),
              ),
            )
          } else {
            for (let count = 0; count < one.count; count++) {
              const id = idOf(Math.abs(one.from + count * one.stride) % MAX)
              const known = rows.get(id)
              assert.strictEqual(order.find(id), known)
              if (one.do === "add") {
                const row = { id }
                assert.strictEqual(order.insert(row), known === undefined)
                rows.set(id, known ?? row)
              } else {
                order.remove(known ?? { id })
                rows.delete(id)
              }
            }
          }
          assert.strictEqual(order.size, rows.size)
        }
        assert.deepStrictEqual(
          Array.from(order.values(), ({ id }) => id),
          [...rows.keys()].sort(),
        )
      }),
      { numRuns: runs(60) },
    )
  })
})

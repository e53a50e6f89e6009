import { describe, it } from "@effect/vitest"
import { assert } from "@effect/vitest"
import * as fc from "fast-check"
import { DueGroup, type DueItem, DueParty, DueQueue } from "../src/DueQueue.ts"
import { runs } from "./property.ts"

interface Item extends DueItem {
  readonly group: number
}

const GROUPS = 4
const PARTIES = 2
const partyOf = (group: number): number => group % PARTIES

const action = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("add" as const),
      group: fc.nat({ max: GROUPS - 1 }),
      dueAt: fc.nat({ max: 9 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("remove" as const), which: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("look" as const),
      now: fc.nat({ max: 10 }),
      limit: fc.nat({ max: 8 }),
      limits: fc.tuple(...Array.from({ length: GROUPS }, () => fc.nat({ max: 4 }))),
      partyLimits: fc.tuple(...Array.from({ length: PARTIES }, () => fc.nat({ max: 6 }))),
    }),
  },
)

const inOrder = (a: Item, b: Item): number => a.dueAt - b.dueAt || (a.id < b.id ? -1 : 1)

/** The due items, found by going through all items. */
const expected = (
  items: ReadonlyArray<Item>,
  now: number,
  limit: number,
  limits: ReadonlyArray<number>,
  partyLimits: ReadonlyArray<number>,
) => {
  const left = [...limits]
  const turns = partyLimits.map(() => 0)
  return items
    .toSorted(inOrder)
    .filter((item) => item.dueAt <= now && left[item.group]!-- > 0)
    .map((item) => ({ item, turn: turns[partyOf(item.group)]!++ }))
    .filter(({ item, turn }) => turn < partyLimits[partyOf(item.group)]!)
    .toSorted((a, b) => a.turn - b.turn || inOrder(a.item, b.item))
    .slice(0, limit)
    .map(({ item }) => item)
    .toSorted(inOrder)
}

describe("DueQueue", () => {
  it("finds the same items as a search through all of them, after any changes", () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 80, size: "max" }), (actions) => {
        const queue = new DueQueue<Item>()
        const parties = Array.from({ length: PARTIES }, () => new DueParty<Item>())
        const groups = Array.from({ length: GROUPS }, (_, index) => new DueGroup(parties[partyOf(index)]!))
        let items: ReadonlyArray<Item> = []
        for (const [index, one] of actions.entries()) {
          if (one.do === "add") {
            const item = { id: String(index), group: one.group, dueAt: one.dueAt, heapIndex: -1 }
            queue.add(groups[one.group]!, item)
            items = [...items, item]
          } else if (one.do === "remove") {
            const item = items[one.which % Math.max(items.length, 1)]
            if (item === undefined) continue
            queue.remove(groups[item.group]!, item)
            items = items.filter((other) => other !== item)
          } else {
            const found = queue.due(one.now, {
              inAll: one.limit,
              ofGroup: ({ group }) => one.limits[group]!,
              ofParty: ({ group }) => one.partyLimits[partyOf(group)]!,
            })
            const ids = expected(items, one.now, one.limit, one.limits, one.partyLimits).map(({ id }) => id)
            assert.deepStrictEqual(
              found.map(({ id }) => id),
              ids,
            )
          }
          assert.strictEqual(queue.earliest, items.toSorted(inOrder)[0]?.dueAt)
        }
      }),
      { numRuns: runs(600) },
    )
  })
})

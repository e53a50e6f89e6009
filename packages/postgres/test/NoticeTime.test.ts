/** How much of the time statements notify of their own commits. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { NoticeTime } from "../src/NoticeTime.ts"

/** Begins a statement at each instant that takes so long, or for which none notifies. Gives the sum of those that notified. */
const notified = (time: NoticeTime, statements: ReadonlyArray<readonly [pause: number, took: number]>) => {
  let now = 0
  let sum = 0
  const all: Array<boolean> = []
  for (const [pause, took] of statements) {
    now += pause
    const may = time.begin(now)
    now += took
    if (may) {
      sum += took
      time.end(now)
    }
    all.push(may)
  }
  return { now, sum, all }
}

describe("statements that notify of their own commit", () => {
  it("take a fifth of the time at most, but for what was saved and for the last one", () => {
    const statement = fc.tuple(
      fc.double({ min: 0, max: 100, noNaN: true }),
      fc.double({ min: 0, max: 900, noNaN: true }),
    )
    fc.assert(
      fc.property(fc.array(statement, { maxLength: 200 }), (statements) => {
        const { now, sum } = notified(new NoticeTime(0), statements)
        const longest = Math.max(0, ...statements.map(([, took]) => took))
        assert.isAtMost(sum, now / 5 + 50 + longest + 1e-6)
      }),
    )
  })

  it("pause for 5 seconds at most", () => {
    const time = new NoticeTime(0)
    assert.isTrue(time.begin(0))
    time.end(60_000)
    assert.isFalse(time.begin(64_999))
    assert.isTrue(time.begin(65_001))
  })

  it("begin 5 ms after the last one, one at a time", () => {
    const time = new NoticeTime(0)
    assert.isTrue(time.begin(0))
    assert.isFalse(time.begin(1))
    time.end(2)
    assert.isFalse(time.begin(6.9))
    assert.isTrue(time.begin(7))
  })

  it("go on after one that took long, and pause after several", () => {
    const often = Array.from({ length: 5 }, () => [18, 2] as const)
    const { all } = notified(new NoticeTime(0), [...often, [18, 40], ...often])
    assert.notInclude(all, false)
    const slow = Array.from({ length: 10 }, () => [20, 40] as const)
    assert.deepStrictEqual(notified(new NoticeTime(0), slow).all.slice(0, 4), [true, true, false, false])
  })
})

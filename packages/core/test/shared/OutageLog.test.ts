/**
 * How often an outage is logged.
 */
import { OutageLog } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"

const ERROR = new Error("down")

/** An outage's log, and the lines that it wrote so far. */
const listen = () => {
  const lines: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    const [sentence, error] = [message].flat()
    lines.push(`${logLevel} ${String(sentence)}`)
    if (logLevel === "Error") assert.strictEqual(error, ERROR)
  })
  const log = OutageLog.make("it works")
  return { lines, log, fail: log.failed("it fails", ERROR), layer: Logger.layer([logger]) }
}

describe("an outage", () => {
  it.effect(
    "is logged at its start, then after 1, 2, 4 … minutes with what was left out, up to an hour",
    () => {
      const { fail, layer, lines } = listen()
      return Effect.gen(function* () {
        yield* fail
        yield* fail
        assert.deepStrictEqual(lines, ["Error it fails"])
        for (let minute = 1; minute <= 250; minute++) {
          yield* TestClock.adjust("1 minute")
          yield* fail
        }
        // After minute 1, 3, 7, 15, 31, 63, 123, 183, 243.
        assert.deepStrictEqual(lines.slice(1), [
          "Error it fails (1 failure was not logged)",
          ...[1, 3, 7, 15, 31, 59, 59, 59].map((count) =>
            count === 1
              ? "Error it fails (1 failure was not logged)"
              : `Error it fails (${count} failures were not logged)`,
          ),
        ])
      }).pipe(Effect.provide(layer))
    },
  )

  it.effect(
    "is over once something works and nothing has failed for 10 seconds, and its end is logged once",
    () => {
      const { fail, layer, lines, log } = listen()
      return Effect.gen(function* () {
        yield* log.worked
        assert.deepStrictEqual(lines, [])
        // Half of it works.
        for (let second = 0; second < 30; second++) {
          yield* fail
          yield* log.worked
          yield* TestClock.adjust("1 second")
        }
        assert.deepStrictEqual(lines, ["Error it fails"])
        yield* TestClock.adjust("9 seconds")
        yield* Effect.all([log.worked, log.worked])
        assert.deepStrictEqual(lines.slice(1), ["Info it works (29 failures were not logged)"])
        // The next one is another.
        yield* fail
        assert.deepStrictEqual(lines.slice(2), ["Error it fails"])
        yield* TestClock.adjust("1 minute")
        yield* fail
        assert.deepStrictEqual(lines.slice(3), ["Error it fails"])
      }).pipe(Effect.provide(layer))
    },
  )
})

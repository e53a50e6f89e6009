/** When a frequent operation is a span. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Tracer } from "effect"
import { traced } from "../../src/shared/Operation.ts"

const add = traced("Numbers.add", (a: number, b: number) =>
  Effect.map(Effect.option(Effect.currentSpan), (span) => ({
    sum: a + b,
    span: span._tag === "Some" ? span.value.name : undefined,
  })),
)

describe("a frequent operation", () => {
  it.effect("is a span where a tracer is installed", () =>
    Effect.gen(function* () {
      const begun: Array<string> = []
      const tracer = Tracer.make({
        span: (options) => {
          begun.push(options.name)
          return Tracer.nativeTracer.span(options)
        },
      })
      const result = yield* Effect.provideService(add(2, 3), Tracer.Tracer, tracer)
      assert.deepStrictEqual(result, { sum: 5, span: "Numbers.add" })
      assert.deepStrictEqual(begun, ["Numbers.add"])
    }),
  )

  it.effect("is none elsewhere", () =>
    Effect.map(add(2, 3), (result) => assert.deepStrictEqual(result, { sum: 5, span: undefined })),
  )
})

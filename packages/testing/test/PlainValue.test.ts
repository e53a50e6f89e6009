import { plain, Sample } from "@billwright/testing"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Option } from "effect"

describe("plain", () => {
  it("makes equal instants equal, whatever was read from them before", () => {
    const [asked, other] = [Sample.instant("2026-03-01T00:00:00Z"), Sample.instant("2026-03-01T00:00:00Z")]
    DateTime.toPartsUtc(asked)
    assert.deepStrictEqual(plain([asked]), plain([other]))
    assert.notDeepEqual(plain(asked), plain(DateTime.add(other, { milliseconds: 1 })))
  })

  it("keeps different values different", () => {
    const value = {
      at: Sample.instant("2026-03-01T00:00:00Z"),
      none: Option.none(),
      some: [Option.some(1n)],
      nil: null,
    }
    assert.deepStrictEqual(plain(value), {
      at: "2026-03-01T00:00:00.000Z",
      none: [],
      some: [[1n]],
      nil: null,
    })
  })

  it("distinguishes a missing key from one that is undefined", () => {
    assert.notDeepEqual(plain({ a: undefined }), plain({}))
  })
})

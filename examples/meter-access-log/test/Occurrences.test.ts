import { describe, expect, it } from "vitest"
import { Occurrences } from "../src/Occurrences.ts"

describe("Occurrences", () => {
  it("numbers identical lines separately from different ones", () => {
    const occurrences = new Occurrences()
    const seen = ["a", "b", "a", "a", "b"].map((digest) => occurrences.next(digest, 1).number)
    expect(seen).toEqual([1, 1, 2, 3, 2])
  })

  it("forgets the lines that were not seen for the longest time, and reports lines that may have been forgotten", () => {
    const occurrences = new Occurrences(2)
    occurrences.next("a", 10)
    occurrences.next("b", 11)
    occurrences.next("a", 10)
    // "b" is forgotten.
    occurrences.next("c", 12)
    expect(occurrences.next("a", 10)).toEqual({ number: 3, isLate: false })
    expect(occurrences.next("d", 12)).toEqual({ number: 1, isLate: false })
    expect(occurrences.next("b", 11)).toEqual({ number: 1, isLate: true })
  })
})

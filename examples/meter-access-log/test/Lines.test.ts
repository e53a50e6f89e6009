import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type Line, MAX_LINE_LENGTH, splitLines } from "../src/Lines.ts"

const collect = async (chunks: Iterable<string>, maxLength?: number): Promise<ReadonlyArray<Line>> => {
  const lines: Array<Line> = []
  for await (const line of splitLines(chunks, maxLength)) lines.push(line)
  return lines
}

describe("splitLines", () => {
  it("returns lines with their numbers, including empty ones, and the last one without a line ending", async () => {
    expect(await collect(["a\nb\r\n\nc"])).toEqual([
      { number: 1, text: "a" },
      { number: 2, text: "b" },
      { number: 3, text: "" },
      { number: 4, text: "c" },
    ])
  })

  it("drops a line that is too long, in one chunk or in many, and continues", async () => {
    const lines = [
      { number: 1, text: "abcd" },
      { number: 2, text: undefined },
      { number: 3, text: "e" },
      { number: 4, text: undefined },
    ]
    expect(await collect(["abcd\nabcde\ne\nfffff"], 4)).toEqual(lines)
    expect(await collect(["ab", "cd", "\nab", "cd", "e\n", "e\nff", "ff", "f"], 4)).toEqual(lines)
  })

  it("does not keep an endless line in memory", async () => {
    // More than a string can hold.
    const chunk = "x".repeat(MAX_LINE_LENGTH)
    const chunks = Array.from({ length: 10_000 }, () => chunk)
    expect(await collect(chunks)).toEqual([{ number: 1, text: undefined }])
  })

  it("does not depend on where the chunks end", async () => {
    const chunks = fc.array(fc.string({ unit: fc.constantFrom("a", "\r", "\n", " "), maxLength: 5 }))
    const property = fc.asyncProperty(chunks, async (parts) => {
      expect(await collect(parts, 6)).toEqual(await collect([parts.join("")], 6))
    })
    await fc.assert(property, { seed: 20_261_121, numRuns: 300 })
  })
})

/**
 * Text on lines: which characters stand in which font, where a line ends, and from which side it is read.
 */
import bidiFactory, { type Bidi } from "bidi-js"
import { type Font, fontOf, type Weight } from "./Fonts.ts"

/** Characters of one font beside each other, as they are handed to the font. */
export interface Run {
  readonly font: Font
  readonly text: string
}

/** Says how wide a run is, in points. */
export type Measure = (run: Run) => number

/** Its types describe an ES module, and Node loads a CommonJS one. */
const bidi = (bidiFactory as unknown as () => Bidi)()

/** Hebrew, Arabic and what is related. Other text needs no reordering. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1eeff}]/u

/** Whether a text has letters that are read from right to left. */
export const isRightToLeft = (text: string): boolean => RIGHT_TO_LEFT.test(text)

/** A character in the order in which it is seen. */
interface Seen {
  readonly character: string
  readonly font: Font
  readonly isReversed: boolean
}

/** Characters in the order in which they are seen, from left to right. */
const seen = (line: string, weight: Weight): ReadonlyArray<Seen> => {
  if (!isRightToLeft(line)) {
    return Array.from(line, (character) => ({
      character,
      font: fontOf(character, weight),
      isReversed: false,
    }))
  }
  const levels = bidi.getEmbeddingLevels(line)
  const mirrored = bidi.getMirroredCharactersMap(line, levels.levels)
  // Indices are those of UTF-16. A low surrogate goes with the high one before it.
  return bidi.getReorderedIndices(line, levels).flatMap((index) => {
    const code = line.charCodeAt(index)
    if (code >= 0xdc00 && code <= 0xdfff) return []
    const character = String.fromCodePoint(line.codePointAt(index) ?? code)
    const isReversed = (levels.levels[index] ?? 0) % 2 === 1
    const font = fontOf(character, weight)
    const shown = isReversed && !font.isRightToLeft ? (mirrored.get(index) ?? character) : character
    return [{ character: shown, font, isReversed }]
  })
}

/** The runs of a line, from left to right. Fonts turn letters of right-to-left scripts around by themselves. */
export const runsOf = (line: string, weight: Weight): ReadonlyArray<Run> => {
  const runs: Array<Run> = []
  let last: Seen | undefined
  for (const next of seen(line, weight)) {
    const before = runs.at(-1)
    const isSame =
      before !== undefined &&
      last !== undefined &&
      before.font === next.font &&
      (last.isReversed === next.isReversed || !next.font.isRightToLeft)
    if (!isSame) runs.push({ font: next.font, text: next.character })
    else {
      const isTurned = next.isReversed && next.font.isRightToLeft
      runs[runs.length - 1] = {
        font: next.font,
        text: isTurned ? next.character + before.text : before.text + next.character,
      }
    }
    last = next
  }
  return runs
}

/** Breaks text into lines of a width. Words that are too long are cut. */
export class Breaker {
  readonly #measure: Measure
  readonly #weight: Weight

  constructor(measure: Measure, weight: Weight) {
    this.#measure = measure
    this.#weight = weight
  }

  widthOf(text: string): number {
    return runsOf(text, this.#weight).reduce((sum, run) => sum + this.#measure(run), 0)
  }

  lines(text: string, width: number): ReadonlyArray<string> {
    const lines: Array<string> = []
    let line = ""
    // Spaces that must not break are part of words.
    for (const word of text.split(/[ \t\n\r]+/)) {
      const longer = line === "" ? word : `${line} ${word}`
      if (this.widthOf(longer) <= width) {
        line = longer
        continue
      }
      if (line !== "") lines.push(line)
      const parts = this.#cut(word, width)
      lines.push(...parts.slice(0, -1))
      line = parts.at(-1) ?? ""
    }
    return [...lines, line]
  }

  /** The parts of a word, each at most as wide as a line. */
  #cut(word: string, width: number): ReadonlyArray<string> {
    if (this.widthOf(word) <= width) return [word]
    const parts: Array<string> = []
    let part = ""
    for (const character of word) {
      if (part !== "" && this.widthOf(part + character) > width) {
        parts.push(part)
        part = ""
      }
      part += character
    }
    return [...parts, part]
  }
}

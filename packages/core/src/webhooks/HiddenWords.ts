/**
 * Finds all of many words in a text in one pass, by the automaton of Aho and Corasick (1975).
 *
 * Words and texts come from others, so the cost must not depend on what is in them: at most three steps for each
 * character of the words, and two for each character of a text. A step looks at no more than the different characters
 * that words have at one place, of which headers admit 96.
 */

/** What stands for what is hidden. */
export const MASK = "***"

/** What is left of a word that was cut off is hidden when it is as long as that. */
const MIN_CUT_LENGTH = 4

/** The state in which no word has begun. */
const START = 0
/** No state: nothing leads back to the start along a word. */
const NONE = 0

/** Parts of a text, those that touch as one. Added in the order of their ends. */
class Runs {
  readonly #starts: Array<number> = []
  readonly #ends: Array<number> = []

  add(start: number, end: number): void {
    let first = start
    while (this.#ends.length > 0 && this.#ends.at(-1)! >= first) {
      this.#ends.pop()
      first = Math.min(first, this.#starts.pop()!)
    }
    this.#starts.push(first)
    this.#ends.push(end)
  }

  maskedIn(text: string): string {
    const before = this.#starts.map((start, run) => text.slice(run === 0 ? 0 : this.#ends[run - 1], start))
    return [...before, text.slice(this.#ends.at(-1) ?? 0)].join(MASK)
  }
}

/** Words to hide. Making it costs as much as they are long, once; using it changes nothing. */
export class HiddenWords {
  /** By state: how many characters of a word have been read, and the last of them. */
  readonly #depths: Uint32Array
  readonly #characters: Uint16Array
  /** By state: the first that follows it along a word, and the next that follows the same one. */
  readonly #firsts: Uint32Array
  readonly #others: Uint32Array
  /** By state: the one for the longest end of what has been read that begins a word as well. */
  readonly #fallbacks: Uint32Array
  /** By state: the length of the longest word that ends here. 0: none does. */
  readonly #endings: Uint32Array
  #count = 1

  constructor(words: Iterable<string>) {
    const longestFirst = [...new Set(words)].sort((a, b) => b.length - a.length)
    const size = longestFirst.reduce((sum, word) => sum + word.length, 1)
    this.#depths = new Uint32Array(size)
    this.#characters = new Uint16Array(size)
    this.#firsts = new Uint32Array(size)
    this.#others = new Uint32Array(size)
    this.#fallbacks = new Uint32Array(size)
    this.#endings = new Uint32Array(size)
    const reached = new Uint32Array(longestFirst.length)
    // All words' first characters, then their second ones: a fallback has read fewer, so it is there already.
    for (let depth = 1; depth <= (longestFirst[0]?.length ?? 0); depth++) {
      for (let index = 0; index < longestFirst.length; index++) {
        const word = longestFirst[index]!
        if (word.length < depth) break
        const code = word.charCodeAt(depth - 1)
        const state = this.edge(reached[index]!, code) || this.#add(reached[index]!, code)
        if (word.length === depth) this.#endings[state] = depth
        reached[index] = state
      }
    }
  }

  /**
   * The text with a mask in place of each run of characters that are part of a word. The beginning of a word that the
   * text ends with is part of it too, from 4 characters on: the text was cut there.
   */
  maskedIn(text: string): string {
    const runs = new Runs()
    let state = START
    for (let index = 0; index < text.length; index++) {
      state = this.#next(state, text.charCodeAt(index))
      const length = this.#endings[state]!
      if (length > 0) runs.add(index + 1 - length, index + 1)
    }
    const cut = this.#depths[state]!
    if (cut >= MIN_CUT_LENGTH) runs.add(text.length - cut, text.length)
    return runs.maskedIn(text)
  }

  /** One step: the state that follows along a word, 0 if there is none. Looks at the characters that do. */
  edge(from: number, code: number): number {
    let state = this.#firsts[from]!
    while (state !== NONE && this.#characters[state] !== code) state = this.#others[state]!
    return state
  }

  #add(from: number, code: number): number {
    const state = this.#count++
    const fallback = from === START ? START : this.#next(this.#fallbacks[from]!, code)
    this.#depths[state] = this.#depths[from]! + 1
    this.#characters[state] = code
    this.#others[state] = this.#firsts[from]!
    this.#firsts[from] = state
    this.#fallbacks[state] = fallback
    this.#endings[state] = this.#endings[fallback]!
    return state
  }

  /** The state that follows: along a word, or along a shorter one that what was read ends with. */
  #next(from: number, code: number): number {
    let state = from
    for (;;) {
      const found = this.edge(state, code)
      if (found !== NONE) return found
      if (state === START) return START
      state = this.#fallbacks[state]!
    }
  }
}

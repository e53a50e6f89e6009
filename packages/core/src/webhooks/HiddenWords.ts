/**
 * Finds many words in a text in one pass, by the automaton of Aho and Corasick (1975).
 *
 * Words and texts come from others, so no content may make the search slow. It takes at most three steps for each
 * character of the words, and two for each character of a text. A step compares at most as many characters as words
 * can have at one position. In headers these are 96.
 */

/** The text that replaces hidden words. */
export const MASK = "***"

/** The beginning of a word that was cut off is hidden from this length on, in characters. */
export const MIN_CUT_LENGTH = 4

/** The state in which no word has begun. */
const START = 0
/** Stands for "no state". It equals `START`, because no word leads back to the start. */
const NONE = 0

/** Ranges of a text, added in the order of their ends. Ranges that touch are merged. */
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

/** Words to hide in texts. Building it takes time in proportion to the length of all words. It is immutable. */
export class HiddenWords {
  /** For each state: how many characters of a word have been read, and the last of them. */
  readonly #depths: Uint32Array
  readonly #characters: Uint16Array
  /** For each state: its first successor along a word, and the next successor of the same predecessor. */
  readonly #firsts: Uint32Array
  readonly #others: Uint32Array
  /** For each state: the state of the longest proper suffix of the characters read that also begins a word. */
  readonly #fallbacks: Uint32Array
  /** For each state: the length of the longest word that ends here, or 0 when none does. */
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
    // First all words' first characters, then their second ones: so a fallback, which is shorter, exists already.
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
   * The text with each run of characters that belong to a word replaced by the mask. When the text ends with the first
   * 4 or more characters of a word, they are masked too, because the text may have been cut there.
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

  /** The next state along a word, or 0 if there is none. Takes one comparison for each successor. */
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

  /** The next state: along the same word, or along a word that begins with a suffix of the characters read. */
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

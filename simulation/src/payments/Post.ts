/**
 * What the bank tells by itself, on the way to the host. Notices are lost, repeated, late and out of order. The bank sends
 * each again until it is taken.
 */
import type { Notice } from "@billwright/core"
import type { Choice } from "../world/Choice.ts"
import type { Recorder } from "../world/Recorder.ts"

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** How long after it was not taken a notice is sent again. The last one repeats. */
const AGAIN = [MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, DAY]

interface Letter {
  readonly notice: Notice
  readonly at: number
  /** How often it was sent in vain. */
  readonly tries: number
}

export class Post {
  readonly #choice: Choice
  readonly #recorder: Recorder
  #letters: Array<Letter> = []
  #count = 0

  constructor(choice: Choice, recorder: Recorder) {
    this.#choice = choice
    this.#recorder = recorder
  }

  /** When the next notice arrives. */
  get nextAt(): number {
    return Math.min(...this.#letters.map(({ at }) => at))
  }

  send(about: Omit<Notice, "eventId">, now: number): void {
    const choice = this.#choice
    const notice = { ...about, eventId: `event_${++this.#count}` }
    this.#letters.push({ notice, at: now + this.#delay(), tries: 0 })
    if (!choice.chance(0.15)) return
    this.#recorder.injects("notice: twice")
    this.#letters.push({ notice, at: now + this.#delay(), tries: 0 })
  }

  /** What has arrived. In faults, some of it is lost on the last step. */
  arrived(now: number, isStormy: boolean): ReadonlyArray<Letter> {
    const here = this.#letters.filter(({ at }) => at <= now)
    this.#letters = this.#letters.filter(({ at }) => at > now)
    const lost = isStormy ? here.filter(() => this.#choice.chance(0.2)) : []
    for (const letter of lost) {
      this.#recorder.injects("notice: lost")
      this.again(letter, now)
    }
    return here.filter((letter) => !lost.includes(letter))
  }

  /** It was not taken. */
  again({ notice, tries }: Letter, now: number): void {
    const delay = AGAIN[Math.min(tries, AGAIN.length - 1)]!
    this.#letters.push({ notice, at: now + delay, tries: tries + 1 })
  }

  #delay(): number {
    const choice = this.#choice
    return choice.weighted([
      [4, choice.int(1, 1_000)],
      [2, choice.int(1, 10 * MINUTE)],
      [2, choice.int(1, 2 * DAY)],
    ])
  }
}

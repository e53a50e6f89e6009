/**
 * The only source of random choices in a simulation. They follow from the seed alone.
 */

/** splitmix32: small and seedable, and good enough for choices. */
const splitmix32 = (seed: number) => {
  let state = seed | 0
  return (): number => {
    state = (state + 0x9e3779b9) | 0
    let z = state ^ (state >>> 16)
    z = Math.imul(z, 0x21f0aaad)
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97)
    return (z ^ (z >>> 15)) >>> 0
  }
}

export class Choice {
  readonly #random32: () => number

  constructor(seed: number) {
    this.#random32 = splitmix32(seed)
  }

  /** A number from 0 up to, but not including, 1. */
  next(): number {
    return this.#random32() / 2 ** 32
  }

  /** An integer between the two, both included. */
  int(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1))
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<const Items extends readonly [unknown, ...Array<unknown>]>(items: Items): Items[number]
  pick<A>(items: ReadonlyArray<A>): A | undefined
  pick<A>(items: ReadonlyArray<A>): A | undefined {
    return items[Math.floor(this.next() * items.length)]
  }

  /** One of the items, with a probability in proportion to its weight. */
  weighted<A>(items: ReadonlyArray<readonly [weight: number, item: A]>): A {
    const total = items.reduce((sum, [weight]) => sum + weight, 0)
    let at = this.next() * total
    for (const [weight, item] of items) {
      at -= weight
      if (at < 0) return item
    }
    return items.at(-1)![1]
  }

  /** A new source, seeded by this one. */
  fork(): Choice {
    return new Choice(this.#random32())
  }
}

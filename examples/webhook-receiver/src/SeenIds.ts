/** Ids that were handled, the latest of them: as many as fit. */
export class SeenIds {
  readonly #capacity: number
  /** In the order in which they were added. */
  readonly #ids = new Set<string>()

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  has(id: string): boolean {
    return this.#ids.has(id)
  }

  /** Forgets the oldest if there is no more room. */
  add(id: string): void {
    this.#ids.add(id)
    const [oldest] = this.#ids
    if (this.#ids.size > this.#capacity && oldest !== undefined) this.#ids.delete(oldest)
  }
}

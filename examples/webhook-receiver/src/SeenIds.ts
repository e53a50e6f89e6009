/** The latest handled ids, up to a limit. */
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

  /** Adds an id. Forgets the oldest one if the limit is reached. */
  add(id: string): void {
    this.#ids.add(id)
    const [oldest] = this.#ids
    if (this.#ids.size > this.#capacity && oldest !== undefined) this.#ids.delete(oldest)
  }
}

/**
 * A binary heap whose items store their index, so that any of them can be moved or removed.
 */

/** The field that a heap stores in its items: the index, or −1 outside a heap. An item is in one heap at a time. */
export interface HeapItem {
  heapIndex: number
}

export class Heap<Item extends HeapItem> {
  readonly #items: Array<Item> = []
  readonly #isBefore: (a: Item, b: Item) => boolean

  constructor(isBefore: (a: Item, b: Item) => boolean) {
    this.#isBefore = isBefore
  }

  get first(): Item | undefined {
    return this.#items[0]
  }

  add(item: Item): void {
    this.#items.push(item)
    this.#rise(item, this.#items.length - 1)
  }

  /** Removes an item, if it is in the heap. */
  remove(item: Item): void {
    const index = item.heapIndex
    if (index === -1) return
    const last = this.#items.pop()!
    item.heapIndex = -1
    if (last === item) return
    this.#rise(last, index)
    this.#sink(last, last.heapIndex)
  }

  /** Moves an item in the heap to its right position after it was changed. */
  moved(item: Item): void {
    this.#rise(item, item.heapIndex)
    this.#sink(item, item.heapIndex)
  }

  #place(item: Item, index: number): void {
    this.#items[index] = item
    item.heapIndex = index
  }

  #rise(item: Item, from: number): void {
    let index = from
    while (index > 0) {
      const parent = (index - 1) >>> 1
      if (!this.#isBefore(item, this.#items[parent]!)) break
      this.#place(this.#items[parent]!, index)
      index = parent
    }
    this.#place(item, index)
  }

  #sink(item: Item, from: number): void {
    let index = from
    for (;;) {
      const left = 2 * index + 1
      const right = left + 1
      const hasRight = right < this.#items.length
      const child = hasRight && this.#isBefore(this.#items[right]!, this.#items[left]!) ? right : left
      if (child >= this.#items.length || !this.#isBefore(this.#items[child]!, item)) break
      this.#place(this.#items[child]!, index)
      index = child
    }
    this.#place(item, index)
  }
}

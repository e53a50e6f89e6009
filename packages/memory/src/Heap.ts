/**
 * A binary heap whose items know their place in it, so that any of them can be moved or taken out.
 */

/** What a heap keeps in its items: the index, −1 outside of the heap. An item is in one heap at a time. */
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

  /** Takes an item out, if it is in. */
  remove(item: Item): void {
    const index = item.heapIndex
    if (index === -1) return
    const last = this.#items.pop()!
    item.heapIndex = -1
    if (last === item) return
    this.#rise(last, index)
    this.#sink(last, last.heapIndex)
  }

  /** Puts an item that is in where it belongs since it was changed. */
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

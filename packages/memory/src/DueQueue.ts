/**
 * What is due, and when: pending things by the group that they belong to (deliveries by endpoint).
 *
 * A heap of the things of each group, and a heap of the groups by their first. What is taken costs the logarithm of
 * what waits, and a group that may have no more is stepped over as one, however long its backlog is.
 */
import { Heap, type HeapItem } from "./Heap.ts"

/** Something that becomes due. Changed only while it is out of the queue. */
export interface DueItem extends HeapItem {
  readonly id: string
  /** Epoch milliseconds. */
  dueAt: number
}

/** Things that share a limit. */
export class DueGroup<Item extends DueItem> implements HeapItem {
  heapIndex = -1
  readonly items = new Heap<Item>(isBefore)
}

/** The longest due first; ties by id, so that the order is total. */
const isBefore = (a: DueItem, b: DueItem): boolean => (a.dueAt === b.dueAt ? a.id < b.id : a.dueAt < b.dueAt)

export class DueQueue<Item extends DueItem> {
  readonly #groups = new Heap<DueGroup<Item>>((a, b) => isBefore(a.items.first!, b.items.first!))

  /** When the first is due. */
  get earliest(): number | undefined {
    return this.#groups.first?.items.first?.dueAt
  }

  add(group: DueGroup<Item>, item: Item): void {
    const isEmpty = group.items.first === undefined
    group.items.add(item)
    if (isEmpty) this.#groups.add(group)
    else this.#groups.moved(group)
  }

  remove(group: DueGroup<Item>, item: Item): void {
    // A group without items has no place among the others, so it leaves before its last item does.
    this.#groups.remove(group)
    group.items.remove(item)
    if (group.items.first !== undefined) this.#groups.add(group)
  }

  /**
   * What is due at an instant, the longest due first, up to a limit and to a limit of each group, which any item of
   * the group tells. The queue stays as it is.
   */
  due(now: number, limit: number, limitOf: (item: Item) => number): Array<Item> {
    const found: Array<Item> = []
    const taken = new Map<DueGroup<Item>, Array<Item>>()
    while (found.length < limit) {
      const group = this.#groups.first
      const item = group?.items.first
      if (group === undefined || item === undefined || item.dueAt > now) break
      this.#groups.remove(group)
      const ofGroup = taken.get(group) ?? []
      taken.set(group, ofGroup)
      if (ofGroup.length >= limitOf(item)) continue
      group.items.remove(item)
      ofGroup.push(item)
      found.push(item)
      if (group.items.first !== undefined) this.#groups.add(group)
    }
    for (const [group, items] of taken) {
      this.#groups.remove(group)
      for (const item of items) group.items.add(item)
      this.#groups.add(group)
    }
    return found
  }
}

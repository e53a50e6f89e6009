/**
 * What is due, and when: pending things by the group that they belong to (deliveries by endpoint), and groups by the
 * party that they belong to (endpoints by tenant).
 *
 * A heap of the things of each group, a heap of the groups of each party by their first, and one of the parties. What
 * is taken costs the logarithm of what waits. A group or a party that may have no more is stepped over as one, however
 * long its backlog is.
 */
import { Heap, type HeapItem } from "./Heap.ts"

/** Something that becomes due. Changed only while it is out of the queue. */
export interface DueItem extends HeapItem {
  readonly id: string
  /** Epoch milliseconds. */
  dueAt: number
}

/** Groups that take turns with those of other parties. */
export class DueParty<Item extends DueItem> implements HeapItem {
  heapIndex = -1
  readonly groups = new Heap<DueGroup<Item>>((a, b) => isBefore(a.items.first!, b.items.first!))

  get first(): Item | undefined {
    return this.groups.first?.items.first
  }
}

/** Things that share a limit. */
export class DueGroup<Item extends DueItem> implements HeapItem {
  heapIndex = -1
  readonly items = new Heap<Item>(isBefore)
  readonly party: DueParty<Item>

  constructor(party: DueParty<Item>) {
    this.party = party
  }
}

/** How many things a look may find. Any thing of a group tells the limits of the group and of its party. */
export interface DueLimits<Item> {
  readonly inAll: number
  readonly ofGroup: (item: Item) => number
  readonly ofParty: (item: Item) => number
}

/** The longest due first; ties by id, so that the order is total. */
const isBefore = (a: DueItem, b: DueItem): boolean => (a.dueAt === b.dueAt ? a.id < b.id : a.dueAt < b.dueAt)

export class DueQueue<Item extends DueItem> {
  readonly #parties = new Heap<DueParty<Item>>((a, b) => isBefore(a.first!, b.first!))

  /** When the first is due. */
  get earliest(): number | undefined {
    return this.#parties.first?.first?.dueAt
  }

  add(group: DueGroup<Item>, item: Item): void {
    const { party } = group
    group.items.add(item)
    if (group.heapIndex === -1) party.groups.add(group)
    else party.groups.moved(group)
    if (party.heapIndex === -1) this.#parties.add(party)
    else this.#parties.moved(party)
  }

  remove(group: DueGroup<Item>, item: Item): void {
    const { party } = group
    // Without things, a group has no place among the others, nor has a party: both leave before the last one does.
    this.#parties.remove(party)
    removeFrom(group, item)
    if (party.first !== undefined) this.#parties.add(party)
  }

  /**
   * What is due at an instant, the longest due first. When it is more than the limit, parties take turns: each gets
   * one, the longest due first, before one of them gets another. The queue stays as it is.
   */
  due(now: number, limits: DueLimits<Item>): Array<Item> {
    const look = new Look(now, limits)
    const turns = new Heap<Turn<Item>>((a, b) =>
      a.number === b.number ? isBefore(a.item, b.item) : a.number < b.number,
    )
    const begin = (party: DueParty<Item>, number: number): void => {
      const item = look.takeFrom(party)
      if (item !== undefined && number < limits.ofParty(item))
        turns.add({ heapIndex: -1, number, party, item })
    }
    const parties: Array<DueParty<Item>> = []
    const found: Array<Item> = []
    while (found.length < limits.inAll) {
      const party = this.#parties.first
      const turn = turns.first
      const first = party?.first
      if (
        party !== undefined &&
        first !== undefined &&
        first.dueAt <= now &&
        (turn === undefined || turn.number > 0 || isBefore(first, turn.item))
      ) {
        this.#parties.remove(party)
        parties.push(party)
        begin(party, 0)
      } else if (turn !== undefined) {
        turns.remove(turn)
        found.push(turn.item)
        begin(turn.party, turn.number + 1)
      } else break
    }
    look.giveBack()
    for (const party of parties) this.#parties.add(party)
    return found.sort((a, b) => (isBefore(a, b) ? -1 : 1))
  }
}

/** A party may have something once more. */
interface Turn<Item extends DueItem> extends HeapItem {
  /** How many it had before. */
  readonly number: number
  readonly party: DueParty<Item>
  readonly item: Item
}

/** What one look has taken out of groups. */
class Look<Item extends DueItem> {
  readonly #now: number
  readonly #limits: DueLimits<Item>
  readonly #taken = new Map<DueGroup<Item>, Array<Item>>()

  constructor(now: number, limits: DueLimits<Item>) {
    this.#now = now
    this.#limits = limits
  }

  /** The longest due of a party, of a group that may have more. A group that may not is taken out. */
  takeFrom(party: DueParty<Item>): Item | undefined {
    for (;;) {
      const group = party.groups.first
      const item = group?.items.first
      if (group === undefined || item === undefined || item.dueAt > this.#now) return undefined
      const taken = this.#taken.get(group) ?? []
      this.#taken.set(group, taken)
      if (taken.length < this.#limits.ofGroup(item)) {
        removeFrom(group, item)
        taken.push(item)
        return item
      }
      party.groups.remove(group)
    }
  }

  giveBack(): void {
    for (const [group, items] of this.#taken) {
      group.party.groups.remove(group)
      for (const item of items) group.items.add(item)
      group.party.groups.add(group)
    }
  }
}

const removeFrom = <Item extends DueItem>(group: DueGroup<Item>, item: Item): void => {
  const { groups } = group.party
  groups.remove(group)
  group.items.remove(item)
  if (group.items.first !== undefined) groups.add(group)
}

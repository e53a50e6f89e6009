/**
 * A queue of items by the time when they are due. Items belong to groups (deliveries to endpoints), and groups belong to
 * parties (endpoints to tenants).
 *
 * Each group has a heap of its items, each party a heap of its groups by their first items, and the queue a heap of the
 * parties. Taking an item costs the logarithm of the number that wait. A group or a party that has reached its limit is
 * skipped in one step, however long its backlog is.
 */
import { Heap, type HeapItem } from "./Heap.ts"

/** An item that becomes due. It may be changed only while it is out of the queue. */
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

/** Items that share a limit. */
export class DueGroup<Item extends DueItem> implements HeapItem {
  heapIndex = -1
  readonly items = new Heap<Item>(isBefore)
  readonly party: DueParty<Item>

  constructor(party: DueParty<Item>) {
    this.party = party
  }
}

/** How many items `due` may find. The limits of a group and its party are given for any item of the group. */
export interface DueLimits<Item> {
  readonly inAll: number
  readonly ofGroup: (item: Item) => number
  readonly ofParty: (item: Item) => number
}

/** The longest due item comes first. Ties are decided by id, so that the order is total. */
const isBefore = (a: DueItem, b: DueItem): boolean => (a.dueAt === b.dueAt ? a.id < b.id : a.dueAt < b.dueAt)

export class DueQueue<Item extends DueItem> {
  readonly #parties = new Heap<DueParty<Item>>((a, b) => isBefore(a.first!, b.first!))

  /** When the first item is due. */
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
    // Heaps compare groups and parties by their first items, so both must leave their heaps before the last item does.
    this.#parties.remove(party)
    removeFrom(group, item)
    if (party.first !== undefined) this.#parties.add(party)
  }

  /**
   * The items that are due at an instant, the longest due first. When more are due than the limit, parties take turns:
   * each gets its longest due item before any party gets a second one. The queue does not change.
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

/** A party's turn to get one more item. */
interface Turn<Item extends DueItem> extends HeapItem {
  /** How many items the party got before. */
  readonly number: number
  readonly party: DueParty<Item>
  readonly item: Item
}

/** The items that one call of `due` has taken out of groups for a while. */
class Look<Item extends DueItem> {
  readonly #now: number
  readonly #limits: DueLimits<Item>
  readonly #taken = new Map<DueGroup<Item>, Array<Item>>()

  constructor(now: number, limits: DueLimits<Item>) {
    this.#now = now
    this.#limits = limits
  }

  /** Takes a party's longest due item from the groups below their limits. Groups at their limits are taken out. */
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

/**
 * Where each unit of each grant is. A unit is at one place, and moves from there or not at all: so what the entries of
 * an account say is true of single units, or it is found here.
 */
import type { Credit } from "@billwright/core"
import type { AccountChange, PrepaidBooks } from "./PrepaidBooks.ts"

const AVAILABLE = "available"
/** Gone for good when a hold or an invoice gave them back to a grant that had ended. */
const EXPIRED = "expired"
const VOIDED = "voided"
const TAKEN_BACK = "taken back"
const REPAID = "used for a debt"

type Entry = Credit.StoredEntry

/** Of which the entry is, beside its grant. */
const usedBy = ({ consumptionId, holdId, invoiceId }: Entry): string =>
  `used by ${consumptionId ?? holdId ?? invoiceId ?? "nobody"}`

/** Gone unused at an instant. An invoice for usage before that may burn them yet. */
const unusedAt = (at: number): string => `unused at ${at}`
const wentUnused = (place: string): number => (place.startsWith("unused at ") ? Number(place.slice(10)) : -1)

/** The units of one account. */
class UnitAccount {
  /** How many units of a grant are at a place. */
  readonly #places = new Map<string, Map<string, bigint>>()
  readonly #amounts = new Map<string, bigint>()
  readonly #grants = new Map<string, Credit.StoredGrant>()
  readonly #begun = new Set<string | null>()
  /** What each invoice burnt beyond all units, and did not give back. */
  readonly #burntDebts = new Map<string, bigint>()
  readonly problems: Array<string> = []
  #debt = 0n

  /** Follows a change, and notes what the units contradict. */
  follow({ balance, entries, grants, name }: AccountChange): void {
    for (const grant of grants) this.#grants.set(grant.id, grant)
    for (const entry of entries) this.#followEntry(entry)
    this.#checkAmounts(grants, entries)
    const sum = (isWanted: (place: string) => boolean): bigint =>
      [...this.#places.values()]
        .flatMap((places) => [...places])
        .reduce((all, [place, count]) => (isWanted(place) ? all + count : all), 0n)
    const available = sum((place) => place === AVAILABLE)
    const held = sum((place) => place.startsWith("held"))
    if (available !== balance.available || held !== balance.held || this.#debt !== balance.debt) {
      const has = `${balance.available}/${balance.held}/${balance.debt}`
      this.problems.push(`${name} has ${has}, and units of ${available}/${held}/${this.#debt}`)
    }
  }

  #followEntry(entry: Entry): void {
    const { available, debt, held, holdId, kind } = entry
    const hold = `held by ${holdId}`
    switch (kind) {
      case "grant":
        this.#begun.add(entry.grantId)
        return this.#create(entry, available)
      case "adjust":
        if (available > 0n) return this.#create(entry, available)
        this.#debt += debt
        return this.#move(entry, AVAILABLE, TAKEN_BACK, -available)
      case "expire":
        return this.#expire(entry)
      case "void":
        // What was voided may turn out to be what a plan did not grant.
        if (available > 0n) return this.#move(entry, VOIDED, AVAILABLE, available)
        return this.#move(entry, AVAILABLE, VOIDED, -available)
      case "reserve":
        return this.#move(entry, AVAILABLE, hold, -available)
      case "release":
      case "lapse":
        return this.#move(entry, hold, AVAILABLE, available)
      case "commit":
        this.#debt += debt
        this.#move(entry, hold, usedBy(entry), -held)
        return this.#move(entry, AVAILABLE, usedBy(entry), -available)
      case "repay":
        this.#debt += debt
        return this.#move(entry, AVAILABLE, REPAID, -available)
      case "consume":
        // A charge for tokens may be beyond all units.
        this.#debt += debt
        return this.#move(entry, AVAILABLE, usedBy(entry), -available)
      case "apply":
        return this.#move(entry, AVAILABLE, usedBy(entry), -available)
      case "burn":
        return this.#burn(entry)
      case "restore":
        return this.#restore(entry)
    }
  }

  /** What goes unused by the clock can be burnt later, by an invoice for usage before that. */
  #expire(entry: Entry): void {
    const { at, available, holdId, invoiceId } = entry
    if (available < 0n) {
      const isByClock = holdId === null && invoiceId === null
      return this.#move(entry, AVAILABLE, isByClock ? unusedAt(at) : EXPIRED, -available)
    }
    const places = [...this.#of(entry.grantId)].filter(([place]) => wentUnused(place) >= at)
    let rest = available
    for (const [place, count] of places.toSorted(([a], [b]) => wentUnused(a) - wentUnused(b))) {
      const part = count < rest ? count : rest
      rest -= part
      this.#move(entry, place, AVAILABLE, part)
    }
    if (rest > 0n) this.problems.push(`${entry.id} burns ${rest} that did not go unused since ${at}`)
  }

  /** Usage burns units that could be used before an instant. What it owes, none of those is left for. */
  #burn(entry: Entry): void {
    const { at, available, debt, grantId, id } = entry
    const effectiveAt = this.#grants.get(grantId ?? "")?.effectiveAt ?? 0
    if (grantId !== null && effectiveAt >= at) {
      this.problems.push(`${id} burns ${grantId}, which begins at ${effectiveAt}, for usage before ${at}`)
    }
    this.#move(entry, AVAILABLE, usedBy(entry), -available)
    if (debt === 0n) return
    this.#debt += debt
    this.#owe(entry, debt)
    for (const [one, places] of this.#places) {
      const grant = this.#grants.get(one)
      if (grant === undefined || grant.effectiveAt >= at || grant.status === "voided") continue
      for (const [place, count] of places) {
        const isUsable = place === AVAILABLE || wentUnused(place) >= at
        if (isUsable && count > 0n)
          this.problems.push(`${id} owes ${debt}, and ${count} of ${one} are ${place}`)
      }
    }
  }

  /** Changes what an invoice owes. It gives back no more of that than it owed. */
  #owe({ id, invoiceId }: Entry, by: bigint): void {
    const owed = (this.#burntDebts.get(invoiceId ?? "") ?? 0n) + by
    this.#burntDebts.set(invoiceId ?? "", owed)
    if (owed < 0n) this.problems.push(`${id} gives back ${-owed} more than ${invoiceId} owed`)
  }

  /** What an invoice used goes back to where it came from. What it owed, and others have repaid, makes a grant of its own. */
  #restore(entry: Entry): void {
    const { available, debt, grantId } = entry
    if (grantId === null) {
      this.#debt += debt
      return this.#owe(entry, debt)
    }
    if (!this.#isOfDebt(entry)) return this.#move(entry, usedBy(entry), AVAILABLE, available)
    this.#create(entry, available)
    this.#owe(entry, -available)
  }

  /**
   * Whether an invoice gives back what it owed and others have repaid. The grant of that was granted by nobody. It begins after
   * the invoice has burnt, so an invoice that has burnt of such a grant gives back what it used of it.
   */
  #isOfDebt(entry: Entry): boolean {
    const { grantId } = entry
    const isRest = this.#grants.get(grantId ?? "")?.source?.type === "invoice" && !this.#begun.has(grantId)
    return isRest && !this.#of(grantId).has(usedBy(entry))
  }

  #of(grantId: string | null): Map<string, bigint> {
    const id = grantId ?? "no grant"
    const places = this.#places.get(id) ?? new Map<string, bigint>()
    this.#places.set(id, places)
    return places
  }

  #create({ grantId }: Entry, count: bigint): void {
    const places = this.#of(grantId)
    places.set(AVAILABLE, (places.get(AVAILABLE) ?? 0n) + count)
  }

  #move({ grantId, id, kind }: Entry, from: string, to: string, count: bigint): void {
    if (count === 0n) return
    const places = this.#of(grantId)
    const there = places.get(from) ?? 0n
    if (count < 0n || there < count) {
      this.problems.push(`${id} is a ${kind} of ${count} of ${grantId}, and ${there} are ${from}`)
    }
    places.set(from, there - count)
    places.set(to, (places.get(to) ?? 0n) + count)
  }

  /** What came into being and what was taken back is what the grants are of. */
  #checkAmounts(grants: ReadonlyArray<Credit.StoredGrant>, entries: ReadonlyArray<Entry>): void {
    let expected = 0n
    for (const { amount, id, status } of grants) {
      if (status === "pending") continue
      expected += amount - (this.#amounts.get(id) ?? 0n)
      this.#amounts.set(id, amount)
    }
    const created = entries
      .filter(
        (entry) =>
          entry.kind === "grant" ||
          entry.kind === "adjust" ||
          (entry.kind === "restore" && this.#isOfDebt(entry)),
      )
      .reduce((sum, { available, debt }) => sum + available - debt, 0n)
    if (created !== expected) {
      const ids = grants.map(({ id }) => id).join(", ")
      this.problems.push(`${created} units came into being of ${ids}, which granted ${expected} more`)
    }
  }
}

/** Each unit that was granted is available, held, used, expired or taken back, and at one place only. */
export const unitsAreAtOnePlace = ({ transactions }: PrepaidBooks): ReadonlyArray<string> => {
  const accounts = new Map<string, UnitAccount>()
  for (const change of transactions.flat()) {
    if (change.type !== "account") continue
    const account = accounts.get(change.name) ?? new UnitAccount()
    accounts.set(change.name, account)
    account.follow(change)
  }
  return [...accounts.values()].flatMap(({ problems }) => problems)
}

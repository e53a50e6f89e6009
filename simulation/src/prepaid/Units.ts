/**
 * Where each unit of each grant is. A unit is at one place, and moves from there or not at all: so what the entries of
 * an account say is true of single units, or it is found here.
 */
import type { Credit } from "@billwright/core"
import type { AccountChange, PrepaidBooks } from "./PrepaidBooks.ts"

const AVAILABLE = "available"
const EXPIRED = "expired"
const VOIDED = "voided"
const TAKEN_BACK = "taken back"
const REPAID = "used for a debt"

type Entry = Credit.StoredEntry

/** Of which the entry is, beside its grant. */
const usedBy = ({ consumptionId, holdId, invoiceId }: Entry): string =>
  `used by ${consumptionId ?? holdId ?? invoiceId ?? "nobody"}`

/** The units of one account. */
class UnitAccount {
  /** How many units of a grant are at a place. */
  readonly #places = new Map<string, Map<string, bigint>>()
  readonly #amounts = new Map<string, bigint>()
  readonly problems: Array<string> = []
  #debt = 0n

  /** Follows a change, and notes what the units contradict. */
  follow({ balance, entries, grants, name }: AccountChange): void {
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
        return this.#create(entry, available)
      case "adjust":
        if (available > 0n) return this.#create(entry, available)
        this.#debt += debt
        return this.#move(entry, AVAILABLE, TAKEN_BACK, -available)
      case "expire":
        return this.#move(entry, AVAILABLE, EXPIRED, -available)
      case "void":
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
      case "apply":
        return this.#move(entry, AVAILABLE, usedBy(entry), -available)
      case "restore":
        return this.#move(entry, usedBy(entry), AVAILABLE, available)
    }
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

  /** What came into being and what was taken back is what the grants are of. What is gone unused already is not taken back. */
  #checkAmounts(grants: ReadonlyArray<Credit.StoredGrant>, entries: ReadonlyArray<Entry>): void {
    let expected = 0n
    let gone = 0n
    for (const { amount, id, status } of grants) {
      if (status === "pending") continue
      const before = this.#amounts.get(id)
      this.#amounts.set(id, amount)
      expected += amount - (before ?? 0n)
      const places = this.#of(id)
      if (before !== undefined && amount < before) {
        gone += (places.get(EXPIRED) ?? 0n) + (places.get(VOIDED) ?? 0n)
      }
    }
    const created = entries
      .filter(({ kind }) => kind === "grant" || kind === "adjust")
      .reduce((sum, { available, debt }) => sum + available - debt, 0n)
    if (created < expected || created > expected + gone) {
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

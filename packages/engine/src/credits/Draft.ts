/**
 * A change of an account while it is made: each step moves credits, and writes an entry of what it moved.
 */
import {
  availableBy,
  type CreditAccount,
  type CreditBalance,
  type CreditChange,
  type CreditEntry,
  type CreditGrant,
  type CreditHold,
  type CreditLedger,
  type EntryKind,
  type HoldSlice,
  pays,
} from "./Ledger.ts"
import { unusedSince } from "./Unused.ts"

/** What a step is about. */
export interface Cause {
  readonly kind: EntryKind
  readonly at: number
  readonly holdId?: string
  readonly consumptionId?: string
  readonly invoiceId?: string
  /** What the credits are used or kept for. Only grants that pay for it are used. */
  readonly purpose?: string | null
}

/** How much a grant has to be of since an instant. `end` is when it ends, or rolls over. */
export interface Adjustment extends Pick<CreditGrant, "amount" | "rollover"> {
  readonly at: number
  readonly end: number
  /** The entries of the grant of the kinds `PAST_KINDS`, oldest first, if it is over. Otherwise none are needed. */
  readonly past: ReadonlyArray<CreditEntry>
}

/** The entries that say what has become of a grant that is over. */
export const PAST_KINDS = ["expire", "void", "adjust"] as const satisfies ReadonlyArray<EntryKind>

/** The order in which grants are used: priority, then the soonest expiry, then the oldest. */
export const compareGrants = (a: CreditGrant, b: CreditGrant): number =>
  a.priority - b.priority ||
  compareExpiry(a.expiresAt, b.expiresAt) ||
  a.createdAt - b.createdAt ||
  (a.id < b.id ? -1 : 1)

const compareExpiry = (a: number | null, b: number | null): number => {
  if (a === b) return 0
  if (a === null) return 1
  return b === null ? -1 : a - b
}

const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** What can be available of a grant beside what is held of it, once it has rolled over. */
const roomOf = ({ held, rollover }: CreditGrant): bigint => {
  const maximum = rollover?.maximum ?? 0n
  return held > maximum ? 0n : maximum - held
}

/** A grant with a rollover after its first end. */
export const rolledOver = (grant: CreditGrant): CreditGrant => ({
  ...grant,
  expiresAt: grant.rollover?.expiresAt ?? grant.expiresAt,
  available: smaller(grant.available, roomOf(grant)),
})

const hasRolledOver = ({ expiresAt, rollover }: CreditGrant): boolean =>
  rollover !== null && rollover.expiresAt === expiresAt

/** The debt that changes of a grant have left, and not taken back. */
const owedFor = (entries: ReadonlyArray<CreditEntry>): bigint =>
  entries.reduce((sum, { debt, kind }) => (kind === "adjust" ? sum + debt : sum), 0n)

export class Draft {
  #account: CreditAccount
  readonly #grants: Map<string, CreditGrant>
  readonly #changed = new Map<string, CreditGrant>()
  readonly #holds = new Map<string, CreditHold>()
  readonly #entries: Array<CreditEntry> = []

  constructor({ account, grants }: CreditLedger) {
    this.#account = account
    this.#grants = new Map(grants.map((grant) => [grant.id, grant]))
  }

  get account(): CreditAccount {
    return this.#account
  }

  get grants(): ReadonlyArray<CreditGrant> {
    return [...this.#grants.values()]
  }

  grant(id: string): CreditGrant | undefined {
    return this.#grants.get(id)
  }

  putGrant(grant: CreditGrant): void {
    this.#grants.set(grant.id, grant)
    this.#changed.set(grant.id, grant)
  }

  putHold(hold: CreditHold, opened: -1 | 0 | 1): void {
    this.#holds.set(hold.id, hold)
    this.#account = { ...this.#account, openHolds: this.#account.openHolds + opened }
  }

  /**
   * Moves credits of a grant, or of none, and writes the entry. Moving nothing writes nothing. What is available of a grant with
   * a scope is no part of what the account has available.
   */
  move(
    { at, consumptionId, holdId, invoiceId, kind, purpose }: Cause,
    grantId: string | null,
    by: Partial<CreditBalance>,
  ): void {
    const { available: ofGrant = 0n, debt = 0n, held = 0n } = by
    if (ofGrant === 0n && held === 0n && debt === 0n) return
    const grant = grantId === null ? undefined : this.#grants.get(grantId)
    const isScoped = grant !== undefined && grant.scope !== null
    const [available, scoped] = isScoped ? [0n, ofGrant] : [ofGrant, 0n]
    const before = this.#account
    const sequence = before.sequence + 1
    this.#account = {
      ...before,
      available: before.available + available,
      scoped: before.scoped + scoped,
      held: before.held + held,
      debt: before.debt + debt,
      sequence,
    }
    if (grant !== undefined) {
      this.putGrant({ ...grant, available: grant.available + ofGrant, held: grant.held + held })
    }
    this.#entries.push({
      sequence,
      kind,
      grantId,
      holdId: holdId ?? null,
      consumptionId: consumptionId ?? null,
      invoiceId: invoiceId ?? null,
      purpose: purpose ?? null,
      available,
      scoped,
      held,
      debt,
      at,
    })
  }

  /** The grants that have something available, in the order of their use. */
  get usable(): ReadonlyArray<CreditGrant> {
    return this.grants.filter(({ available }) => available > 0n).sort(compareGrants)
  }

  /** What is available for something. */
  availableFor(purpose: string | null): bigint {
    return this.usable.reduce((sum, grant) => (pays(grant, purpose) ? sum + grant.available : sum), 0n)
  }

  /**
   * The available credits that an amount would be taken from for something, in the order of their use. They may be less.
   */
  slices(amount: bigint, purpose: string | null): ReadonlyArray<HoldSlice> {
    const slices: Array<HoldSlice> = []
    let rest = amount
    for (const { available, id, scope } of this.usable) {
      if (rest === 0n) break
      if (!pays({ scope }, purpose)) continue
      const part = smaller(rest, available)
      slices.push({ grantId: id, amount: part })
      rest -= part
    }
    return slices
  }

  /** Takes an amount from what is available. What is beyond that becomes debt, which `grantId` says the grant of. */
  take(cause: Cause, amount: bigint, grantId: string | null = null): void {
    let rest = amount
    for (const slice of this.slices(amount, cause.purpose ?? null)) {
      this.move(cause, slice.grantId, { available: -slice.amount })
      rest -= slice.amount
    }
    this.move(cause, grantId, { debt: rest })
  }

  /** Uses an amount of what a hold keeps, and gives the rest back. What a grant that has ended gets back is gone at once. */
  settle(cause: Cause, slices: ReadonlyArray<HoldSlice>, used: bigint): void {
    let rest = used
    for (const { amount, grantId } of slices) {
      const part = smaller(rest, amount)
      rest -= part
      this.move(cause, grantId, { held: -part })
      const left = amount - part
      const back = cause.kind === "commit" ? "release" : cause.kind
      this.giveBack({ ...cause, kind: back }, grantId, { held: -left, available: left })
    }
    this.repay(cause.at)
  }

  /** Makes credits of a grant available again. If it has ended, they are gone at once: at an instant, if one is named. */
  giveBack(
    given: Cause,
    grantId: string,
    by: Partial<CreditBalance> & { readonly available: bigint },
    goneAt = given.at,
  ): void {
    this.move(given, grantId, by)
    const cause = { ...given, at: goneAt }
    const grant = this.#grants.get(grantId)
    const gone = { available: -by.available }
    if (grant?.status === "expired") this.move({ ...cause, kind: "expire" }, grantId, gone)
    else if (grant?.status === "voided") this.move({ ...cause, kind: "void" }, grantId, gone)
    else if (grant !== undefined && hasRolledOver(grant)) this.#cut(grant, cause)
  }

  /** Of a grant that has rolled over, what is beyond its maximum is gone. */
  #cut(grant: CreditGrant, cause: Cause): void {
    const { available } = rolledOver(grant)
    this.move({ ...cause, kind: "expire" }, grant.id, { available: available - grant.available })
  }

  /** The first end of a grant with a rollover. What is held of it stays held, and counts for the maximum. */
  rollOver(id: string, at: number): void {
    const grant = this.#grants.get(id)
    if (grant?.status !== "active") return
    this.putGrant({ ...grant, expiresAt: rolledOver(grant).expiresAt })
    this.#cut(grant, { kind: "expire", at })
  }

  /**
   * Changes how much a grant is of, and what stays of it unless that is over. It comes to the same when it is done late, after
   * the grant has ended: what was taken back did not go unused, and what was given was there until the end. What is given takes
   * back the debt first that an earlier change has left.
   */
  adjust(id: string, { amount, at, end, past, rollover }: Adjustment): void {
    const grant = this.#grants.get(id)
    if (grant === undefined) return
    const isOver = grant.status === "expired" || hasRolledOver(grant)
    this.putGrant({ ...grant, amount, rollover: isOver ? grant.rollover : rollover })
    if (grant.status === "pending") return
    const entries = [...past, ...this.#entries.filter(({ grantId }) => grantId === id)]
    if (amount < grant.amount) return this.#takeBack(id, grant.amount - amount, at, entries)
    const cause = { kind: "adjust", at } as const
    const more = amount - grant.amount
    const back = smaller(more, smaller(owedFor(entries), this.#account.debt))
    this.move(cause, id, { debt: -back })
    this.giveBack(cause, id, { available: more - back }, isOver ? end : at)
    this.repay(at)
  }

  /**
   * Takes an amount back of a grant: of what went unused, of what was voided, of what is left of it, and beyond that of what is
   * available. What did not go unused after all is written as an `expire` or a `void` above 0. So it covers once, and no
   * invoice burns it.
   */
  #takeBack(id: string, amount: bigint, at: number, entries: ReadonlyArray<CreditEntry>): void {
    const cause = { kind: "adjust", at } as const
    const voided = entries.reduce((sum, one) => (one.kind === "void" ? sum - availableBy(one) : sum), 0n)
    const covers = { expire: unusedSince(entries, at), void: voided }
    let rest = amount
    for (const kind of ["expire", "void"] as const) {
      const part = smaller(rest, covers[kind])
      this.move({ kind, at }, id, { available: part })
      this.move(cause, id, { available: -part })
      rest -= part
    }
    const left = smaller(rest, this.#grants.get(id)?.available ?? 0n)
    this.move(cause, id, { available: -left })
    this.take(cause, rest - left, id)
  }

  /** Repays debt with what is available for anything. */
  repay(at: number): void {
    const { available, debt } = this.#account
    for (const { amount, grantId } of this.slices(smaller(available, debt), null)) {
      this.move({ kind: "repay", at }, grantId, { available: -amount, debt: -amount })
    }
  }

  /** Ends a grant. What is held of it stays held. */
  end(id: string, status: "expired" | "voided", at: number): void {
    const grant = this.#grants.get(id)
    if (grant === undefined) return
    this.putGrant({ ...grant, status })
    this.move({ kind: status === "expired" ? "expire" : "void", at }, id, { available: -grant.available })
  }

  /** Begins a grant. */
  begin(grant: CreditGrant, at: number): void {
    this.putGrant({ ...grant, status: "active" })
    this.move({ kind: "grant", at }, grant.id, { available: grant.amount })
    this.repay(at)
  }

  get change(): CreditChange {
    return {
      account: this.#account,
      grants: [...this.#changed.values()],
      holds: [...this.#holds.values()],
      entries: this.#entries,
    }
  }
}

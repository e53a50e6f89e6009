/**
 * Credits that usage burns, when an invoice states them: once, in the transaction that issues it. What less usage gives back
 * goes to the grants that it came from, and so does all of it when the invoice is voided.
 */
import {
  availableBy,
  type BurntPart,
  burnCredits,
  type GiveBack,
  type Line,
  unburnCredits,
  unusedSince,
} from "@billwright/engine"
import { Clock, Effect, Option } from "effect"
import type { CustomerId } from "../customers/Customer.ts"
import { InvoiceId, type StoredInvoice } from "../invoices/Invoice.ts"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import {
  type AccountKey,
  CreditGrantId,
  DEFAULT_PRIORITY,
  GRANT_ID_PREFIX,
  type StoredGrant,
} from "./Credit.ts"
import type { CreditBook } from "./CreditBook.ts"
import type { CreditStore, StoredLedger } from "./CreditStore.ts"
import { entriesOf } from "./Entries.ts"

type Read<A> = Effect.Effect<A, StorageError, CurrentTenant>
type Written = ReturnType<typeof writerOf>

/** Takes back what an erased customer was given. */
type CloseIfErased = (
  key: AccountKey,
  now: number,
) => Effect.Effect<void, InvalidInput | StorageError, CurrentTenant>

/** What a line burns, for its charge. `until` is the end of what it bills. */
type Burnt = NonNullable<NonNullable<Line["origin"]>["burns"]> & {
  readonly purpose: string | null
  readonly until: number | null
}

const burntBy = ({ state: { lines } }: StoredInvoice): ReadonlyArray<Burnt> =>
  lines.flatMap(({ charge, origin, periodEnd }) => {
    const burns = origin?.burns ?? null
    return burns === null || burns.amount === 0n ? [] : [{ ...burns, purpose: charge, until: periodEnd }]
  })

/** What lines burn for each charge, in the order of the lines. What they give back is not among it. */
const usesOf = (burnt: ReadonlyArray<Burnt>) => {
  const uses = new Map<string | null, bigint>()
  for (const { amount, purpose } of burnt) {
    if (amount > 0n) uses.set(purpose, (uses.get(purpose) ?? 0n) + amount)
  }
  return Array.from(uses, ([purpose, amount]) => ({ purpose, amount }))
}

/** Lines of an invoice whose usage counts until one instant. */
interface Part {
  readonly invoiceId: InvoiceId
  readonly at: number
  readonly lines: ReadonlyArray<Burnt>
}

/**
 * Lines by the instant until which their usage counts, the oldest first: an invoice may bill several periods, which have credits
 * of their own. `last` is that of the invoice, when lines give back, and no usage counts beyond it.
 */
const byEnd = (burnt: ReadonlyArray<Burnt>, last: number) => {
  const endOf = ({ amount, until }: Burnt) => (amount > 0n && until !== null ? Math.min(until, last) : last)
  return [...Map.groupBy(burnt, endOf)].toSorted(([a], [b]) => a - b)
}

/** The units that lines burn credits of. Accounts are locked in this order, and before those of currencies. */
export const unitsBurnt = (lines: ReadonlyArray<Pick<Line, "origin">>): ReadonlyArray<string> =>
  [...new Set(lines.flatMap(({ origin }) => origin?.burns?.unit ?? []))].toSorted((a, b) => (a < b ? 1 : -1))

/** The instant until which an invoice bills usage. */
const billedUntil = ({ causes }: StoredInvoice, now: number): number =>
  causes.length === 0 ? now : Math.max(...causes.map(({ effect }) => effect.at))

/** The storage has credits. */
const writerOf =
  (book: CreditBook) =>
  (...change: Parameters<CreditBook["write"]>) =>
    Effect.catchTag(book.write(...change), "InvoicingUnsupported", Effect.die)

export class Burns {
  readonly #store: CreditStore["Service"]
  readonly #book: CreditBook
  readonly #write: Written
  readonly #closeIfErased: CloseIfErased

  constructor(store: CreditStore["Service"], book: CreditBook, closeIfErased: CloseIfErased) {
    this.#store = store
    this.#book = book
    this.#closeIfErased = closeIfErased
    this.#write = writerOf(book)
  }

  /** Locks the accounts of units, for an invoice that is issued in the current transaction. */
  lock(
    customerId: CustomerId,
    units: ReadonlyArray<string>,
    now: number,
  ): Read<ReadonlyMap<string, StoredLedger>> {
    const locked = Effect.forEach(units, (unit) =>
      Effect.map(this.#store.lock({ customerId, unit }, now, "open"), (ledger) => [unit, ledger] as const),
    )
    return Effect.map(locked, (all) => new Map(all))
  }

  /** Burns what an invoice states, which the current transaction has just issued, of accounts that it has locked at `now`. */
  burn(issued: StoredInvoice, ledgers: ReadonlyMap<string, StoredLedger>, now: number) {
    const { customerId, id: invoiceId } = issued
    const burnt = burntBy(issued)
    return Effect.forEach(
      unitsBurnt(issued.state.lines),
      (unit) =>
        Effect.gen({ self: this }, function* () {
          const locked = ledgers.get(unit)
          const own = burnt.filter((one) => one.unit === unit)
          if (own.length === 0) return
          if (locked === undefined)
            return yield* Effect.die(new TypeError(`credits of ${unit} are not locked`))
          const key: AccountKey = { customerId, unit }
          for (const [index, [at, lines]] of byEnd(own, billedUntil(issued, now)).entries()) {
            // The transaction holds the account. So this reads it again, as the period before has left it.
            const ledger = index === 0 ? locked : yield* this.#store.lock(key, now, "existing")
            yield* this.#burnUntil(key, ledger, { invoiceId, at, lines }, now)
          }
          yield* this.#closeIfErased(key, now)
        }),
      { discard: true },
    )
  }

  /** Burns what lines state, of what could be used at their instant, and gives back what they give back. */
  #burnUntil(key: AccountKey, ledger: StoredLedger, { at, invoiceId, lines }: Part, now: number) {
    return Effect.gen({ self: this }, function* () {
      const uses = usesOf(lines)
      const unused = uses.length === 0 ? [] : yield* this.#unusedSince(key, ledger, at)
      const { back, grants } = yield* this.#givenBack(key, ledger, lines)
      const rest = back.length === 0 ? null : yield* this.#restOf(key, invoiceId, now)
      const change = burnCredits(ledger, { invoiceId, at, uses, unused, back, rest }, now)
      const known = [...grants, ...unused.map(({ grant }) => grant)]
      yield* this.#write(key, withGrants(ledger, known), change, { grants: rest === null ? [] : [rest] })
    })
  }

  /** Gives back what a voided invoice has burnt. */
  restore(voided: StoredInvoice) {
    const { customerId, id: invoiceId } = voided
    const burnt = burntBy(voided)
    return Effect.forEach(
      unitsBurnt(voided.state.lines),
      (unit) =>
        Effect.gen({ self: this }, function* () {
          const uses = usesOf(burnt.filter((one) => one.unit === unit))
          if (uses.length === 0) return
          const key: AccountKey = { customerId, unit }
          const now = yield* Clock.currentTimeMillis
          const ledger = yield* this.#store.lock(key, now, "existing")
          const { back, grants } = yield* this.#allOf(key, ledger, invoiceId, uses)
          const rest = yield* this.#restOf(key, invoiceId, now)
          const change = unburnCredits(ledger, { invoiceId, back, rest }, now)
          yield* this.#write(key, withGrants(ledger, grants), change, { grants: [rest] })
          yield* this.#closeIfErased(key, now)
        }),
      { discard: true },
    )
  }

  /** Grants, of the ledger or as they are stored. */
  #grants(ledger: StoredLedger, ids: Iterable<string>): Read<ReadonlyArray<StoredGrant>> {
    return Effect.map(
      Effect.forEach(ids, (id) => {
        const live = ledger.grants.find((grant) => grant.id === id)
        return live === undefined
          ? Effect.map(this.#store.findGrant(CreditGrantId.make(id)), Option.toArray)
          : Effect.succeed([live])
      }),
      (found) => found.flat(),
    )
  }

  /** What of grants went unused at an instant or later, because they ended or rolled over, and was not burnt since. */
  #unusedSince(key: AccountKey, ledger: StoredLedger, at: number) {
    return Effect.gen({ self: this }, function* () {
      const ended = yield* entriesOf(this.#store, key, { kind: "expire", since: at })
      const ids = new Set(ended.flatMap(({ grantId }) => grantId ?? []))
      const grants = yield* this.#grants(ledger, ids)
      const parts = yield* Effect.forEach(grants, (grant) =>
        Effect.map(entriesOf(this.#store, key, { kind: "expire", grantId: grant.id }), (entries) => ({
          grant,
          amount: unusedSince(entries.toReversed(), at),
        })),
      )
      return parts.filter(({ amount, grant }) => grant.status !== "voided" && amount > 0n)
    })
  }

  /**
   * What an invoice has burnt of an account for a charge and was not given back, what was taken last first. Debts come before
   * that.
   */
  #partsOf(key: AccountKey, ledger: StoredLedger, invoiceId: InvoiceId, purpose: string | null) {
    return Effect.gen({ self: this }, function* () {
      const entries = yield* entriesOf(this.#store, key, { invoiceId })
      const left = new Map<string | null, bigint>()
      for (const entry of entries) {
        const { debt, grantId, kind } = entry
        if ((kind !== "burn" && kind !== "restore") || entry.purpose !== purpose) continue
        left.set(grantId, (left.get(grantId) ?? 0n) + debt - availableBy(entry))
      }
      const ids = [...left.keys()].filter((id) => id !== null)
      const grants = yield* this.#grants(ledger, ids)
      // A grant that took what was a debt has been given more than was burnt of it.
      const over = [...left.values()].reduce((sum, amount) => (amount < 0n ? sum - amount : sum), 0n)
      const debt = (left.get(null) ?? 0n) - over
      const ofGrants = [...left].flatMap(([id, amount]): ReadonlyArray<BurntPart> => {
        const grant = grants.find((one) => one.id === id)
        return grant === undefined || amount <= 0n ? [] : [{ grant, amount }]
      })
      const parts = debt > 0n ? [{ grant: null, amount: debt }, ...ofGrants] : ofGrants
      return { parts, grants }
    })
  }

  /** All that an invoice has burnt for its charges and was not given back. */
  #allOf(
    key: AccountKey,
    ledger: StoredLedger,
    invoiceId: InvoiceId,
    uses: ReadonlyArray<Pick<Burnt, "purpose">>,
  ) {
    return Effect.gen({ self: this }, function* () {
      const back: Array<GiveBack> = []
      const all: Array<StoredGrant> = []
      for (const { purpose } of uses) {
        const { grants, parts } = yield* this.#partsOf(key, ledger, invoiceId, purpose)
        back.push({ invoiceId, purpose, amount: parts.reduce((sum, { amount }) => sum + amount, 0n), parts })
        all.push(...grants)
      }
      return { back, grants: all }
    })
  }

  /** What lines give back of earlier invoices. A line gives back what the same charge has burnt. */
  #givenBack(key: AccountKey, ledger: StoredLedger, burnt: ReadonlyArray<Burnt>) {
    return Effect.gen({ self: this }, function* () {
      const back: Array<GiveBack> = []
      const grants: Array<StoredGrant> = []
      const given = burnt.filter(({ amount, of }) => amount < 0n && of !== null)
      const groups = Map.groupBy(given, ({ of, purpose }) => JSON.stringify([of?.invoiceId, purpose]))
      for (const [first, ...more] of groups.values()) {
        const invoiceId = InvoiceId.make(first!.of!.invoiceId)
        const { purpose } = first!
        const found = yield* this.#partsOf(key, ledger, invoiceId, purpose)
        const amount = more.reduce((sum, one) => sum - one.amount, -first!.amount)
        back.push({ invoiceId, purpose, amount, parts: found.parts })
        grants.push(...found.grants)
      }
      return { back, grants }
    })
  }

  /** The grant of an invoice for what can't be given back to any other. A new one is written only if something is. */
  #restOf(key: AccountKey, id: InvoiceId, now: number): Read<StoredGrant> {
    const source = { type: "invoice", id, period: null } as const
    return Effect.gen({ self: this }, function* () {
      const known = yield* this.#store.grantOfSource(key, source)
      if (Option.isSome(known)) return known.value
      return {
        ...key,
        id: CreditGrantId.make(yield* this.#book.ids.next(GRANT_ID_PREFIX)),
        kind: "paid",
        amount: 0n,
        priority: DEFAULT_PRIORITY,
        scope: null,
        effectiveAt: now,
        expiresAt: null,
        rollover: null,
        createdAt: now,
        status: "active",
        available: 0n,
        held: 0n,
        source,
        steps: [],
        idempotencyKey: null,
      }
    })
  }
}

/** A ledger that knows more grants. */
const withGrants = (ledger: StoredLedger, more: ReadonlyArray<StoredGrant>): StoredLedger => {
  const known = new Map([...ledger.grants, ...more].map((grant) => [grant.id, grant]))
  return { ...ledger, grants: [...known.values()] }
}

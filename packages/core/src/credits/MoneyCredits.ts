/**
 * Credits in money: what lowers and pays the invoices of a customer, and what invoices and credit notes give. The account is
 * that of the customer and the currency. On a storage without credits, nobody has any.
 */
import {
  applyCredits,
  closeAccount,
  creditUsesOf,
  grantCredits,
  invoiceCreditsOf,
  restoreCredits,
} from "@billwright/engine"
import { Clock, Effect, Layer, Option } from "effect"
import {
  Crediting,
  type Creditor,
  type GivenBy,
  type InvoiceAccounts,
  type MoneyAccount,
  type OpenCredits,
  type Purpose,
} from "../invoices/Crediting.ts"
import type { StoredInvoice } from "../invoices/Invoice.ts"
import { Burns, unitsBurnt } from "./Burns.ts"
import {
  type AccountKey,
  CreditGrantId,
  DEFAULT_PRIORITY,
  GRANT_ID_PREFIX,
  type StoredGrant,
} from "./Credit.ts"
import { type CreditBook, makeCreditBook } from "./CreditBook.ts"
import type { CreditStore } from "./CreditStore.ts"
import { makeTopUpBook, type TopUpBook } from "./TopUpBook.ts"

const keyOf = ({ currency, customerId }: MoneyAccount): AccountKey => ({ customerId, unit: currency })

/** Uses and gives credits of a storage. */
const creditorOf = (store: CreditStore["Service"], book: CreditBook, topUps: TopUpBook): Creditor => {
  /** The storage has credits. */
  const write = (...change: Parameters<CreditBook["write"]>) =>
    Effect.catchTag(book.write(...change), "InvoicingUnsupported", Effect.die)

  /** What an erased customer gets back is gone. */
  const closeIfErased = Effect.fnUntraced(function* (key: AccountKey, at: number) {
    if (yield* book.isKnown(key)) return
    const ledger = yield* store.lock(key, at, "existing")
    yield* write(key, ledger, closeAccount(ledger, at))
  })

  const burns = new Burns(store, book, closeIfErased)

  const open = Effect.fnUntraced(function* (accounts: InvoiceAccounts, purpose: Purpose) {
    const at = yield* Clock.currentTimeMillis
    const key = keyOf(accounts)
    const isLocked = purpose === "issue"
    const units = isLocked ? unitsBurnt(accounts.lines) : []
    const burnt = yield* burns.lock(accounts.customerId, units, at)
    const ledger = yield* isLocked ? store.lock(key, at, "existing") : store.read(key, at)
    const use = ({ id, state }: StoredInvoice) => {
      const uses = creditUsesOf(state)
      if (uses.length === 0) return Effect.void
      if (isLocked) return write(key, ledger, applyCredits(ledger, id, uses, at))
      return Effect.die(new TypeError("the credits of an invoice are not locked"))
    }
    const apply: OpenCredits["apply"] = (issued) => Effect.andThen(burns.burn(issued, burnt, at), use(issued))
    return { ...invoiceCreditsOf(ledger, at), apply }
  })

  const restore = Effect.fnUntraced(function* (voided: StoredInvoice) {
    yield* burns.restore(voided)
    const { customerId, id, state } = voided
    const uses = creditUsesOf(state)
    if (uses.length === 0) return
    const at = yield* Clock.currentTimeMillis
    const key = keyOf({ customerId, currency: state.currency })
    const ledger = yield* store.lock(key, at, "existing")
    const found = yield* Effect.forEach(uses, ({ grantId }) => store.findGrant(CreditGrantId.make(grantId)))
    const used = found.flatMap(Option.toArray)
    const isKnown = (grant: StoredGrant) => ledger.grants.some((one) => one.id === grant.id)
    const grants = [...ledger.grants, ...used.filter((grant) => !isKnown(grant))]
    yield* write(key, { ...ledger, grants }, restoreCredits(ledger, used, id, uses, at))
    yield* closeIfErased(key, at)
  })

  /** Gives paid credits to an account. */
  const grantOf = Effect.fnUntraced(function* (
    { customerId, unit }: AccountKey,
    amount: bigint,
    source: GivenBy,
  ) {
    const at = yield* Clock.currentTimeMillis
    const key = { customerId, unit }
    const ledger = yield* store.lock(key, at, "open")
    const grant: StoredGrant = {
      ...key,
      id: CreditGrantId.make(yield* book.ids.next(GRANT_ID_PREFIX)),
      kind: "paid",
      amount,
      priority: DEFAULT_PRIORITY,
      scope: null,
      effectiveAt: at,
      expiresAt: null,
      rollover: null,
      createdAt: at,
      status: "pending",
      available: 0n,
      held: 0n,
      source: { ...source, period: null },
      steps: [],
      idempotencyKey: null,
    }
    yield* write(key, ledger, grantCredits(ledger, grant, at), { grants: [grant] })
    yield* closeIfErased(key, at)
    return grant.id
  })

  const give = (account: MoneyAccount, amount: bigint, source: GivenBy) =>
    amount === 0n ? Effect.void : Effect.asVoid(grantOf(keyOf(account), amount, source))

  const settleTopUp = Effect.fnUntraced(function* (changed: StoredInvoice) {
    const { id, state } = changed
    if (state.status !== "paid" && state.status !== "void") return
    const topUp = Option.getOrUndefined(yield* topUps.ofInvoice(changed))
    // An invoice may be paid again after its money went back. Its credits come once.
    if (topUp?.status !== "pending") return
    // One that was credited in full is paid as well. Nobody has paid for the credits then, or has the money back.
    const isPaid = state.status === "paid" && state.amountCredited < state.total
    yield* topUps.settle(topUp, isPaid ? yield* grantOf(topUp, topUp.amount, { type: "invoice", id }) : null)
  })

  const noteDeclined = topUps.declined
  const noteMethod = topUps.arm

  return { open, restore, give, settleTopUp, noteDeclined, noteMethod }
}

/** Invoices use and give the credits of a storage that has them. */
export const layer = Layer.effect(
  Crediting,
  Effect.gen(function* () {
    const book = yield* makeCreditBook
    const store = yield* Effect.option(book.port)
    return Option.isSome(store)
      ? creditorOf(store.value, book, yield* makeTopUpBook)
      : Crediting.defaultValue()
  }),
)

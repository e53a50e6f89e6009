/**
 * Credits in money: what lowers and pays the invoices of a customer, and what invoices and credit notes give. The account is
 * that of the customer and the currency. On a storage without credits, nobody has any.
 */
import {
  applyCredits,
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
  type MoneyAccount,
  type OpenCredits,
  type Purpose,
} from "../invoices/Crediting.ts"
import type { StoredInvoice } from "../invoices/Invoice.ts"
import {
  type AccountKey,
  CreditGrantId,
  DEFAULT_PRIORITY,
  GRANT_ID_PREFIX,
  type StoredGrant,
} from "./Credit.ts"
import { type CreditBook, makeCreditBook } from "./CreditBook.ts"
import type { CreditStore } from "./CreditStore.ts"

const keyOf = ({ currency, customerId }: MoneyAccount): AccountKey => ({ customerId, unit: currency })

/** Uses and gives credits of a storage. */
const creditorOf = (store: CreditStore["Service"], book: CreditBook): Creditor => {
  /** The storage has credits. */
  const write = (...change: Parameters<CreditBook["write"]>) =>
    Effect.catchTag(book.write(...change), "InvoicingUnsupported", Effect.die)

  const open = Effect.fnUntraced(function* (account: MoneyAccount, purpose: Purpose) {
    const at = yield* Clock.currentTimeMillis
    const key = keyOf(account)
    const isLocked = purpose === "issue"
    const ledger = yield* isLocked ? store.lock(key, at, "existing") : store.read(key, at)
    const apply: OpenCredits["apply"] = ({ id, state }) => {
      const uses = creditUsesOf(state)
      if (uses.length === 0) return Effect.void
      if (isLocked) return write(key, ledger, applyCredits(ledger, id, uses, at))
      return Effect.die(new TypeError("the credits of an invoice are not locked"))
    }
    return { ...invoiceCreditsOf(ledger, at), apply }
  })

  const restore = Effect.fnUntraced(function* ({ customerId, id, state }: StoredInvoice) {
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
  })

  const give = Effect.fnUntraced(function* (account: MoneyAccount, amount: bigint, source: GivenBy) {
    if (amount === 0n) return
    const at = yield* Clock.currentTimeMillis
    const key = keyOf(account)
    const ledger = yield* store.lock(key, at, "open")
    const grant: StoredGrant = {
      ...key,
      id: CreditGrantId.make(yield* book.ids.next(GRANT_ID_PREFIX)),
      kind: "paid",
      amount,
      priority: DEFAULT_PRIORITY,
      effectiveAt: at,
      expiresAt: null,
      createdAt: at,
      status: "pending",
      available: 0n,
      held: 0n,
      source,
      idempotencyKey: null,
    }
    yield* write(key, ledger, grantCredits(ledger, grant, at), { grant })
  })

  return { open, restore, give }
}

/** Invoices use and give the credits of a storage that has them. */
export const layer = Layer.effect(
  Crediting,
  Effect.gen(function* () {
    const book = yield* makeCreditBook
    const store = yield* Effect.option(book.port)
    return Option.isSome(store) ? creditorOf(store.value, book) : Crediting.defaultValue()
  }),
)

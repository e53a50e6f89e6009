/**
 * Compares balances of credits with their entries, for operators.
 */
import type { CreditAccount, CreditBalance } from "@billwright/engine"
import { Context, Effect, Layer, Schema } from "effect"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import { decoder, type InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { AccountKey, type CreditGrantId } from "./Credit.ts"
import { type AccountSums, CreditStore } from "./CreditStore.ts"

/** Most accounts of one page. */
const MAX_ACCOUNTS = 20

/** The input of `CreditAudit.page`. */
export const AuditCredits = Schema.Struct({
  /** The last account of the page before. Default: begins with the first. */
  startingAfter: Schema.optionalKey(AccountKey),
})
export interface AuditCredits extends Schema.Schema.Type<typeof AuditCredits> {}

const decodeAudit = decoder(AuditCredits)

/** What an account or a grant has. `scoped` of a grant is 0: its `available` has all. */
type Sums = CreditBalance & Pick<CreditAccount, "scoped">

/** An account, or a grant of it, that is not what its entries or its open holds say. */
export interface CreditDiscrepancy extends AccountKey {
  /** `null`: the account itself. */
  readonly grantId: CreditGrantId | null
  readonly problem: string
  /** What the account or the grant has. */
  readonly stated: Sums
  /** The sum of its entries. */
  readonly entries: Sums
}

export interface CreditAuditPage {
  /** How many accounts were compared. */
  readonly accounts: number
  readonly discrepancies: ReadonlyArray<CreditDiscrepancy>
  /** The last account that was read: the next page starts after it. `null`: there is none. */
  readonly last: AccountKey | null
  readonly hasMore: boolean
}

const isSame = (a: Sums, b: Sums): boolean =>
  a.available === b.available && a.scoped === b.scoped && a.held === b.held && a.debt === b.debt

/** What is wrong with an account. */
const problemsOf = ({ account, entries, openHolds }: AccountSums): ReadonlyArray<string> => [
  ...(isSame(account, entries) ? [] : ["is not the sum of its entries"]),
  ...(account.sequence === entries.count && account.sequence === entries.last
    ? []
    : [`counts ${account.sequence} entries, and has ${entries.count} up to the number ${entries.last}`]),
  ...(account.openHolds === openHolds.count && account.held === openHolds.amount
    ? []
    : [
        `counts ${account.openHolds} open holds of ${account.held}, and has ${openHolds.count} of ${openHolds.amount}`,
      ]),
]

const discrepanciesOf = (sums: AccountSums): ReadonlyArray<CreditDiscrepancy> => {
  const { account, entries, grants, key } = sums
  const balanceOf = ({ available, debt, held, scoped }: Sums) => ({ available, scoped, held, debt })
  const own = { ...key, grantId: null, stated: balanceOf(account), entries: balanceOf(entries) }
  return [
    ...problemsOf(sums).map((problem) => ({ ...own, problem })),
    ...grants.map(({ entries: of, id, stated }) => {
      const problem = "is not the sum of its entries"
      const rest = { scoped: 0n, debt: 0n }
      return { ...key, grantId: id, problem, stated: { ...stated, ...rest }, entries: { ...of, ...rest } }
    }),
  ]
}

/** Compares accounts with what they consist of. It only reads, and takes no locks. */
export class CreditAudit extends Context.Service<
  CreditAudit,
  {
    /**
     * Checks at most 20 accounts, by customer and unit: what each has, and what is left of each of its grants, is the sum of
     * the entries, no entry is missing, and what it holds is in its open holds. A difference is found only after a bug, or
     * when the database is damaged.
     */
    readonly page: (
      input?: AuditCredits,
    ) => Effect.Effect<CreditAuditPage, InvalidInput | InvoicingUnsupported | StorageError, CurrentTenant>
  }
>()("@billwright/core/credits/CreditAudit") {
  static readonly layer = Layer.suspend(() => Layer.effect(CreditAudit, makeCreditAudit))
}

/** Makes the comparison. Billing runs use it, too. */
export const makeCreditAudit = Effect.gen(function* () {
  const port = yield* optionalPort(CreditStore)

  const page = Effect.fn("CreditAudit.page")(function* (input: AuditCredits = {}) {
    const { startingAfter } = yield* decodeAudit(input)
    const found = yield* (yield* port).audit(startingAfter, MAX_ACCOUNTS + 1)
    const accounts = found.slice(0, MAX_ACCOUNTS)
    return {
      accounts: accounts.length,
      discrepancies: accounts.flatMap(discrepanciesOf),
      last: accounts.at(-1)?.key ?? null,
      hasMore: found.length > MAX_ACCOUNTS,
    } satisfies CreditAuditPage
  })

  return CreditAudit.of({ page })
})

/**
 * What a run of prepaid credits leaves behind: what each transaction wrote of credits, in the order of commits, and
 * what is stored at the end. Checkers see only this.
 */
import type {
  AutoTopUp,
  Credit,
  CreditAlert,
  RateCard,
  Subscription,
  Tenant,
  TokenUsage,
  TopUp,
} from "@billwright/core"
import type { CreditBalance, Period } from "@billwright/engine"
import type { MemorySnapshot } from "@billwright/memory"
import type { PaymentBooks } from "../payments/PaymentBooks.ts"

interface OfTenant {
  readonly tenant: Tenant.Tenant
}

/** What a transaction did to credits. */
export type Change =
  | {
      readonly type: "account"
      readonly name: string
      /** The instant at which the operation looked at the account. Clocks may be set back. */
      readonly now: number
      readonly balance: CreditBalance
      readonly grants: ReadonlyArray<Credit.StoredGrant>
      readonly entries: ReadonlyArray<Credit.StoredEntry>
    }
  | { readonly type: "top up"; readonly tenant: Tenant.Tenant; readonly topUp: TopUp.TopUp }
  | { readonly type: "auto"; readonly tenant: Tenant.Tenant; readonly auto: AutoTopUp.AutoTopUp }
  /** Token usage as it was recorded. */
  | { readonly type: "token usage"; readonly tenant: Tenant.Tenant; readonly usage: TokenUsage.TokenUsage }
  | { readonly type: "erased"; readonly tenant: Tenant.Tenant; readonly customerId: string }

/** What a transaction did, in its order. */
export type Transaction = ReadonlyArray<Change>

export type AccountChange = Extract<Change, { readonly type: "account" }>

export interface PrepaidBooks extends PaymentBooks {
  /** In the order of commits. */
  readonly transactions: ReadonlyArray<Transaction>
  readonly credits: MemorySnapshot["credits"]
  /** The usage records, as they are in the end. */
  readonly records: MemorySnapshot["records"]
  readonly subscriptions: ReadonlyArray<
    OfTenant & {
      readonly subscription: Subscription.StoredSubscription
      /** All of its periods, in order. */
      readonly periods: ReadonlyArray<Period>
    }
  >
  readonly topUps: ReadonlyArray<OfTenant & { readonly topUp: TopUp.TopUp }>
  readonly autos: ReadonlyArray<OfTenant & { readonly auto: AutoTopUp.AutoTopUp }>
  readonly tokenUsages: ReadonlyArray<OfTenant & { readonly usage: TokenUsage.TokenUsage }>
  /** All versions of rate cards. */
  readonly rateCards: ReadonlyArray<OfTenant & { readonly card: RateCard.RateCard }>
  readonly alerts: ReadonlyArray<OfTenant & { readonly alert: CreditAlert.CreditAlert }>
}

/** The books, and the bugs that fibers died of. */
export interface PrepaidHistory extends PrepaidBooks {
  readonly defects: ReadonlyArray<string>
}

/** The customers who were erased. */
export const erasedIn = ({ transactions }: Pick<PrepaidBooks, "transactions">): ReadonlySet<string> =>
  new Set(transactions.flat().flatMap((change) => (change.type === "erased" ? [change.customerId] : [])))

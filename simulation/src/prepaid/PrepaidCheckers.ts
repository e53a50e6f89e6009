/**
 * The invariants of prepaid credits: J7 of plan grants, top-ups, credits on invoices, usage that burns them, tokens of language
 * models and erased customers, J6 of the payments of top-ups, and J10 of credits.
 */
import { Tenant } from "@billwright/core"
import { creditCheckers } from "../credits/CreditCheckers.ts"
import { judgePayments } from "../payments/PaymentCheckers.ts"
import { alertsFireOnce } from "./AlertCheckers.ts"
import { invoicesBurnWhatTheyState, usageBurnsOnce } from "./BurnCheckers.ts"
import {
  erasedCustomersHaveNothing,
  onlyLiveGrantsAreAvailable,
  paidGrantsAreKnown,
  plansGrantOnce,
} from "./GrantCheckers.ts"
import { erasedIn, type PrepaidHistory } from "./PrepaidBooks.ts"
import { tokensAreChargedOnce, tokensAreRecordedOnce, unratedIsTold } from "./TokenCheckers.ts"
import {
  autosBuyOneAfterAnother,
  autosHaveBought,
  invoicesUseWhatTheyState,
  topUpsArePaid,
} from "./TopUpCheckers.ts"
import { unitsAreAtOnePlace } from "./Units.ts"

const NOTHING = { available: 0n, held: 0n, debt: 0n }

type Check = (history: PrepaidHistory) => ReadonlyArray<string>

/** A charge for tokens has no key, so the storage keeps it in the token usage alone. */
const chargesOf = ({ tokenUsages }: PrepaidHistory, owner: Tenant.Tenant) =>
  tokenUsages.flatMap(({ tenant, usage: { amount, consumptionId, customerId, settledAt, unit } }) =>
    Tenant.tenantKey(tenant) !== Tenant.tenantKey(owner) || consumptionId === null
      ? []
      : [
          {
            id: consumptionId,
            customerId,
            unit,
            amount: amount ?? 0n,
            idempotencyKey: null,
            purpose: null,
            balance: NOTHING,
            createdAt: settledAt?.epochMilliseconds ?? 0,
          },
        ],
  )

const creditBooksOf = (history: PrepaidHistory) => ({
  credits: history.credits.map((rows) => ({
    ...rows,
    consumptions: [...rows.consumptions, ...chargesOf(history, rows.tenant)],
  })),
  events: history.events,
  turns: [],
  told: [],
})

/** Of a customer who was erased, nothing is published any more. */
const ofKnownCustomers = (history: PrepaidHistory): PrepaidHistory => {
  const erased = erasedIn(history)
  const isKnown = ({ customerId }: { readonly customerId: string }) => !erased.has(customerId)
  return {
    ...history,
    alerts: history.alerts.filter(({ alert }) => isKnown(alert)),
    credits: history.credits.map((rows) => ({ ...rows, accounts: rows.accounts.filter(isKnown) })),
  }
}

/** What becomes of payments is published in a simulation of its own, in which nobody is erased. */
const ofMoney = (history: PrepaidHistory) =>
  judgePayments(history).filter(({ invariant }) => invariant !== "J10")

export const prepaidCheckers = {
  /** No fiber dies of a bug. */
  J0: ({ defects }: Pick<PrepaidHistory, "defects">) => defects,
  J6: (history) => ofMoney(history).map(({ invariant, problem }) => `${invariant}: ${problem}`),
  entries: (history) => creditCheckers.entries(creditBooksOf(history)),
  once: (history) => creditCheckers.once(creditBooksOf(history)),
  units: unitsAreAtOnePlace,
  plans: plansGrantOnce,
  origins: paidGrantsAreKnown,
  ends: onlyLiveGrantsAreAvailable,
  paid: topUpsArePaid,
  daily: autosBuyOneAfterAnother,
  bought: autosHaveBought,
  invoices: invoicesUseWhatTheyState,
  burns: invoicesBurnWhatTheyState,
  usage: usageBurnsOnce,
  tokens: tokensAreChargedOnce,
  recorded: tokensAreRecordedOnce,
  unrated: unratedIsTold,
  erased: erasedCustomersHaveNothing,
  alerts: (history) => alertsFireOnce(ofKnownCustomers(history)),
  J10: (history) => creditCheckers.J10(creditBooksOf(ofKnownCustomers(history))),
} satisfies Readonly<Record<string, Check>>

export type PrepaidInvariant = keyof typeof prepaidCheckers

export interface PrepaidViolation {
  readonly invariant: PrepaidInvariant
  readonly problem: string
}

/** Everything that contradicts an invariant of prepaid credits. */
export const judgePrepaid = (history: PrepaidHistory): ReadonlyArray<PrepaidViolation> =>
  Object.entries(prepaidCheckers).flatMap(([name, check]) =>
    check(history).map((problem) => ({ invariant: name as PrepaidInvariant, problem })),
  )

/**
 * All invariants over one history. The checkers are those of the other simulations.
 */
import { bookCheckers } from "../billing/BillingCheckers.ts"
import { checkers } from "../Checkers.ts"
import { paymentCheckers } from "../payments/PaymentCheckers.ts"
import { erasedIn } from "../prepaid/PrepaidBooks.ts"
import { prepaidCheckers } from "../prepaid/PrepaidCheckers.ts"
import type { WholeHistory } from "./WholeBooks.ts"

type Check = (whole: WholeHistory) => ReadonlyArray<string>

/** Of customers who were erased, nothing is published any more, and what was is redacted. */
const ofKnownCustomers = (whole: WholeHistory): WholeHistory => {
  const erased = erasedIn(whole)
  const isKnown = ({ customerId }: { readonly customerId: string }) => !erased.has(customerId)
  return {
    ...whole,
    payments: whole.payments.filter(({ payment }) => isKnown(payment)),
    refunds: whole.refunds.filter(({ refund }) => isKnown(refund)),
    disputes: whole.disputes.filter(({ dispute }) => isKnown(dispute)),
  }
}

const { J0: _ofPayments, J10: paymentsArePublished, ...ofPayments } = paymentCheckers
const { J0: _ofPrepaid, J6: _ofTopUps, ...ofPrepaid } = prepaidCheckers

/** Checkers of another simulation, by names that begin with its name. */
const from = <Books>(
  simulation: string,
  all: Readonly<Record<string, (books: Books) => ReadonlyArray<string>>>,
  booksOf: (whole: WholeHistory) => Books,
): ReadonlyArray<readonly [name: string, check: Check]> =>
  Object.entries(all).map(([name, check]) => [`${simulation}.${name}`, (whole) => check(booksOf(whole))])

const same = (whole: WholeHistory) => whole

/**
 * By name. I0 to I14 have their own names; the others begin with the simulation that they come from: `prepaid.units`. That the
 * outcome is the one without faults (J8) is judged by the simulation of billing alone: here the bank decides what comes of
 * things. What is left of it is that all that is due is done.
 */
export const wholeCheckers: ReadonlyMap<string, Check> = new Map([
  ...Object.entries(checkers).map(
    ([name, check]) => [name, ({ history }: WholeHistory) => check(history)] as const,
  ),
  ...from("billing", bookCheckers, same),
  ["billing.due", ({ overdue }: WholeHistory) => overdue.map((what) => `${what} is due, and was not done`)],
  ...from("payments", ofPayments, same),
  ["payments.J10", (whole: WholeHistory) => paymentsArePublished(ofKnownCustomers(whole))],
  ...from("prepaid", ofPrepaid, same),
])

export interface WholeViolation {
  /** The name of the checker. */
  readonly invariant: string
  readonly problem: string
}

/** Everything that contradicts an invariant. */
export const judgeWhole = (whole: WholeHistory): ReadonlyArray<WholeViolation> =>
  [...wholeCheckers].flatMap(([invariant, check]) => check(whole).map((problem) => ({ invariant, problem })))

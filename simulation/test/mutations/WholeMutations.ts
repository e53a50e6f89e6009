/**
 * Storages and providers with one planted bug each, of those of the other simulations, and the checker of the whole world that
 * finds it there.
 */
import { DeliveryStore } from "@billwright/core"
import { Effect } from "effect"
import type { PaymentMutations } from "../../src/payments/Collecting.ts"
import { billing } from "./BillingMutations.ts"
import { boundaries, contents } from "./ContentMutations.ts"
import { credits } from "./CreditMutations.ts"
import { fencing, results } from "./DeliveryMutations.ts"
import { documents } from "./DocumentMutations.ts"
import { outbox } from "./EventMutations.ts"
import { change } from "./Mutation.ts"
import { payments } from "./PaymentMutations.ts"
import { prepaid } from "./PrepaidMutations.ts"
import { refunds } from "./RefundMutations.ts"
import { shared } from "./SharedMutations.ts"
import { meters } from "./UsageMutations.ts"

export interface WholeBug extends PaymentMutations {
  readonly name: string
  /** The name of the checker that finds it in the whole world. */
  readonly checker: string
}

type Planted = PaymentMutations & { readonly name: string; readonly breaks: ReadonlyArray<string> }

const USAGE: ReadonlyArray<Planted> = [
  ...fencing,
  ...results,
  ...outbox,
  ...meters,
  ...contents,
  ...boundaries,
]

/** A bug of one of the other simulations. */
const planted = (bugs: ReadonlyArray<Planted>, name: string, checker: string): WholeBug => {
  const found = bugs.find((bug) => bug.name === name)
  if (found === undefined) throw new TypeError(`there is no bug: ${name}`)
  const { breakProvider, breakStorage } = found
  return { name, checker, breakProvider, breakStorage }
}

/** What was claimed first of an event is claimed of it for ever. */
const rememberedPayloads = change(DeliveryStore, ({ claimDue }) => {
  const first = new Map<string, string>()
  return {
    claimDue: (claim) =>
      Effect.map(claimDue(claim), (claimed) => ({
        ...claimed,
        deliveries: claimed.deliveries.map((one) => {
          const payload = first.get(one.eventId) ?? one.payload
          first.set(one.eventId, payload)
          return { ...one, payload }
        }),
      })),
  }
})

export const whole: ReadonlyArray<WholeBug> = [
  {
    name: "the bytes of before an erasure are sent after it",
    checker: "I8",
    breakStorage: rememberedPayloads,
  },
  planted(meters, "usage is acknowledged but not stored", "I1"),
  planted(outbox, "the endpoint's filter is ignored", "I2"),
  planted(meters, "idempotency keys of usage are ignored", "I3"),
  planted(outbox, "an event of an undone transaction stays", "I4"),
  planted(outbox, "one of several endpoints is left out", "I5"),
  planted(results, "the number of an attempt is used again", "I6"),
  planted(fencing, "the result under a stale lease is written", "I7"),
  planted(contents, "payloads are rendered again for each attempt", "I8"),
  planted(contents, "a repeated answer has other bytes", "I9"),
  planted(results, "failed attempts are not stored", "I10"),
  planted(boundaries, "events are visible in both modes", "I11"),
  planted(fencing, "a lease never ends", "I12"),
  planted(meters, "a void does not change the roll-up", "I13"),
  planted(boundaries, "secrets are logged", "I14"),
  planted(billing, "the explanation of a line loses its last step but one", "billing.J1"),
  planted(documents, "earlier credit notes of an invoice are not found", "billing.J2"),
  planted(billing, "late usage is not seen, because the total was read before", "billing.J3"),
  planted(billing, "a number is taken although its transaction is rolled back", "billing.J4"),
  planted(billing, "a voided invoice states that nothing was charged", "billing.J5"),
  planted(billing, "every ninth event is not stored", "billing.J10"),
  planted(billing, "invoices are stored in live mode", "billing.J11"),
  planted(documents, "a coupon does not count its redemptions", "billing.coupons"),
  planted(documents, "what a credit has left is not stored", "billing.items"),
  planted(documents, "a credit is taxed by another rate than what it gives back", "billing.taxes"),
  planted(documents, "a test clock that has arrived is behind what was done on its way", "billing.clocks"),
  planted(payments, "a new payment is opened whenever what became of one is not known", "payments.attempts"),
  planted(payments, "more is asked for than is due", "payments.charged"),
  planted(payments, "that a payment has succeeded is not stored", "payments.booked"),
  planted(payments, "a payment that was recorded is stored without its reference", "payments.recorded"),
  planted(refunds, "what a refund reverses is not stored with it", "payments.invoices"),
  planted(payments, "a payment that waits for the bank is not read again", "payments.resolved"),
  planted(payments, "the events of succeeded payments are not stored", "payments.J10"),
  planted(refunds, "a dispute that is lost counts as won", "payments.returned"),
  planted(refunds, "the refunds of a payment are not found", "payments.refunded"),
  planted(prepaid, "what a plan grants more has no entry", "prepaid.entries"),
  planted(prepaid, "a commit is stored with less than it used", "prepaid.once"),
  planted(prepaid, "usage owes what went unused of the grants of its period", "prepaid.units"),
  planted(prepaid, "an invoice states credits that it does not use", "prepaid.invoices"),
  planted(prepaid, "an invoice states that usage burns credits, and does not burn them", "prepaid.burns"),
  planted(prepaid, "a customer who is erased keeps the credits", "prepaid.erased"),
  planted(prepaid, "a runner does not see what others have bought today", "prepaid.daily"),
]

const told = (bugs: ReadonlyArray<Planted>) => bugs.map(({ breaks, name }) => ({ name, checkers: breaks }))

/** All bugs that are planted into storages and providers, by simulation, and the checkers that may find them. */
export const PLANTED = {
  usage: told(USAGE),
  billing: told([...billing, ...documents, ...shared]),
  payments: told([...payments, ...refunds]),
  credits: told(credits),
  prepaid: told(prepaid),
  whole: whole.map(({ checker, name }) => ({ name, checkers: [checker] })),
} satisfies Readonly<
  Record<string, ReadonlyArray<{ readonly name: string; readonly checkers: ReadonlyArray<string> }>>
>

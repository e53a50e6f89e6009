/**
 * The commands of the model test of subscriptions and invoices, as data, so that a failing run can be printed.
 *
 * Commands refer to things by number: number n is the nth subscription, invoice, credit note or claim so far, of any tenant, counted
 * around. Instants are minutes after the creation of samples.
 */
import * as fc from "fast-check"
import { command, thing } from "./CommandParts.ts"

const minute = fc.nat({ max: 60 })
const due = fc.option(minute, { freq: 5 })
const period = fc.nat({ max: 3 })
const limit = fc.integer({ min: 1, max: 6 })

const phase = fc.constantFrom("active" as const, "paused" as const, "ended" as const)
const status = fc.constantFrom("draft" as const, "open" as const, "paid" as const, "void" as const)
/** What a draft has besides its lines: a coupon, or a line that gives back some of an issued invoice. */
const extra = fc.constantFrom("nothing" as const, "coupon" as const, "credit" as const)

const verb = fc.oneof(
  { weight: 4, arbitrary: command("subscribe", { due, isClocked: fc.boolean() }) },
  { weight: 3, arbitrary: command("saveSubscription", { subscription: thing, phase, due }) },
  { weight: 2, arbitrary: command("findSubscription", { subscription: thing }) },
  {
    weight: 2,
    arbitrary: command("listSubscriptions", {
      phase: fc.option(phase),
      after: fc.option(thing),
      limit,
    }),
  },
  {
    weight: 2,
    arbitrary: command("savePeriods", { subscription: thing, numbers: fc.array(period, { maxLength: 3 }) }),
  },
  { weight: 2, arbitrary: command("periodsBefore", { subscription: thing, before: period, limit }) },
  { weight: 6, arbitrary: command("draft", { subscription: thing, period, due }) },
  { weight: 5, arbitrary: command("redraft", { invoice: thing, lines: limit, due, extra }) },
  { weight: 5, arbitrary: command("finalize", { invoice: thing }) },
  { weight: 2, arbitrary: command("void", { invoice: thing }) },
  { weight: 2, arbitrary: command("findInvoice", { invoice: thing }) },
  {
    weight: 2,
    arbitrary: command("listInvoices", {
      status: fc.option(status),
      subscription: fc.option(thing),
      after: fc.option(thing),
      limit,
    }),
  },
  { weight: 3, arbitrary: command("billedLines", { subscription: thing, from: period }) },
  { weight: 2, arbitrary: command("lockDrafts", { subscription: thing }) },
  { weight: 1, arbitrary: command("lockSeries", {}) },
  { weight: 4, arbitrary: command("creditNote", { invoice: thing }) },
  { weight: 1, arbitrary: command("findCreditNote", { note: thing }) },
  {
    weight: 2,
    arbitrary: command("listCreditNotes", { invoice: fc.option(thing), after: fc.option(thing), limit }),
  },
  { weight: 1, arbitrary: command("creditNotesOf", { invoice: thing }) },
  { weight: 2, arbitrary: command("creditsOf", { invoice: thing }) },
  { weight: 2, arbitrary: command("couponUses", { subscription: thing, from: period }) },
  { weight: 5, arbitrary: command("firstDue", {}) },
  { weight: 4, arbitrary: command("fail", { first: thing, retry: due }) },
  { weight: 3, arbitrary: command("holds", { claim: thing }) },
  { weight: 3, arbitrary: command("release", { claim: thing, retry: fc.option(due, { nil: undefined }) }) },
  { weight: 1, arbitrary: command("liveSubscriptions", {}) },
)

const claim = command("claim", { now: minute, lease: fc.integer({ min: 1, max: 30 }), limit })
const nextDue = command("nextDue", {})

export type InvoicingVerb = typeof verb extends fc.Arbitrary<infer Verb> ? Verb : never

/** Commands in a transaction, which may fail at its end. */
export interface InvoicingTransaction {
  readonly command: "transaction"
  readonly commands: ReadonlyArray<InvoicingVerb>
  readonly fails: boolean
}

const transaction: fc.Arbitrary<InvoicingTransaction> = command("transaction", {
  commands: fc.array(verb, { maxLength: 5 }),
  fails: fc.boolean(),
})

const one = fc.oneof(
  { weight: 12, arbitrary: verb },
  { weight: 4, arbitrary: claim },
  { weight: 1, arbitrary: nextDue },
  { weight: 3, arbitrary: transaction },
)

export type InvoicingCommand = typeof one extends fc.Arbitrary<infer Command> ? Command : never

export const invoicingCommands = (maxLength: number): fc.Arbitrary<ReadonlyArray<InvoicingCommand>> =>
  fc.array(one, { minLength: 5, maxLength, size: "max" })

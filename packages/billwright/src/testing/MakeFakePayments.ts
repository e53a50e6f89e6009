/**
 * Implements `fakePayments`, by the provider for tests of core.
 */
import { FakeProvider, type FakeOutcome as CoreOutcome, type Notice } from "@billwright/core"
import type { Billing } from "../Billing.ts"
import { InvalidInputError } from "../errors/BillingError.ts"
import { toPromises } from "../payments/PromisedProvider.ts"
import type {
  FakeCall,
  FakeCard,
  FakeFault,
  FakeOutcome,
  FakePayments,
  FakePaymentsOptions,
} from "./FakePayments.ts"

/** What a fake needs of the billing that it belongs to. */
interface Host {
  readonly billing: Pick<Billing, "paymentMethods" | "payments">
  readonly mode: "live" | "test"
  readonly now: () => Date
}

type Connect = (host: Host) => void

const fakes = new WeakSet<object>()
/** The fakes that belong to no billing yet. */
const free = new WeakMap<object, Connect>()

/**
 * Gives what tells a fake which billing it belongs to; for another provider it does nothing. Throws an `InvalidInputError`
 * when the fake belongs to one already.
 */
export const connecting = (payments: object | undefined): Connect => {
  if (payments === undefined || !fakes.has(payments)) return () => {}
  const connect = free.get(payments)
  if (connect === undefined) {
    throw new InvalidInputError("payments", "must belong to one billing: call fakePayments() again")
  }
  free.delete(payments)
  return connect
}

const FAULTS: ReadonlyArray<FakeFault> = ["lose_request", "lose_reply", "refuse", "break", "twice"]
const CALLS: ReadonlyArray<FakeCall> = [
  "ensureCustomer",
  "startSetup",
  "readSetup",
  "detachMethod",
  "forgetCustomer",
  "openPayment",
  "attemptPayment",
  "readPayment",
  "closePayment",
  "refund",
  "readRefund",
  "readDispute",
]
const STATUSES = ["succeeded", "processing", "requires_action"]

const hasCode = (value: unknown): value is { readonly code: string } =>
  typeof value === "object" &&
  value !== null &&
  "code" in value &&
  typeof value.code === "string" &&
  value.code !== ""

const check = (isRight: boolean, field: string, problem: string): void => {
  if (!isRight) throw new InvalidInputError(field, problem)
}

const oneOf = (words: ReadonlyArray<string>): string => `must be one of ${words.join(", ")}`

/** An outcome as the provider of core has it. */
const toCore = (outcome: FakeOutcome): CoreOutcome => {
  if (typeof outcome === "string" && STATUSES.includes(outcome)) return { status: outcome }
  if (!hasCode(outcome)) {
    throw new InvalidInputError(
      "outcome",
      `${oneOf(STATUSES)}, or a decline such as { code: "expired_card" }`,
    )
  }
  const { advice = null, code, notBefore = null } = outcome
  const at = notBefore === null ? null : new Date(notBefore).getTime()
  check(!Number.isNaN(at), "notBefore", "must be a Date or an instant such as 2026-11-21T09:30:00Z")
  return { status: "declined", code, advice, notBefore: at }
}

/** Refuses a field that is not known, such as a misspelled one. */
const checkFields = (value: object, field: string, known: ReadonlyArray<string>): void => {
  const other = Object.keys(value).find((name) => !known.includes(name))
  if (other === undefined) return
  throw new InvalidInputError(field, `has no field "${other}": its fields are ${known.join(", ")}`)
}

const checkCard = (card: FakeCard): FakeCard => {
  checkFields(card, "card", ["behaviour", "brand", "last4", "expiry"])
  const { behaviour = "works" } = card
  check(
    behaviour === "works" || behaviour === "needs_confirmation" || hasCode(behaviour),
    "card.behaviour",
    'must be works, needs_confirmation, or a decline such as { code: "expired_card" }',
  )
  return card
}

/** What goes wrong, until it has. */
class Faults {
  readonly #waiting: Array<{ readonly fault: FakeFault; readonly call: FakeCall }> = []

  add(fault: FakeFault, call: FakeCall, times: number): void {
    check(FAULTS.includes(fault), "fault", oneOf(FAULTS))
    check(CALLS.includes(call), "call", oneOf(CALLS))
    check(Number.isSafeInteger(times) && times >= 1, "times", "must be an integer of at least 1")
    for (let left = times; left > 0; left--) this.#waiting.push({ fault, call })
  }

  take(call: string): FakeFault | undefined {
    const index = this.#waiting.findIndex((one) => one.call === call)
    return index < 0 ? undefined : this.#waiting.splice(index, 1)[0]?.fault
  }
}

export const makeFakePayments = (options: FakePaymentsOptions): FakePayments => {
  checkFields(options, "options", ["savesMethods"])
  const { savesMethods = true } = options
  const faults = new Faults()
  const outcomes: Array<CoreOutcome> = []
  const refundOutcomes: Array<Parameters<FakePayments["nextRefund"]>[0]> = []
  let host: Host | undefined
  const fake = new FakeProvider({
    hasMethods: savesMethods,
    faultOf: (call) => faults.take(call),
    outcomeOf: () => outcomes.shift(),
    refundOutcomeOf: () => refundOutcomes.shift() ?? "succeeded",
  })

  const requireHost = (): Host => {
    if (host !== undefined) return host
    throw new InvalidInputError("payments", "must be passed to createTestBilling first")
  }
  const sign = (notice: Notice) =>
    fake.sign({ ...notice, mode: host?.mode ?? "test" }, { at: (host?.now() ?? new Date()).getTime() })

  /** Does something at the provider, which then tells what it has changed. */
  const telling = async <A>(work: () => A): Promise<A> => {
    const { billing } = requireHost()
    const before = fake.notices.length
    const done = work()
    for (const notice of fake.notices.slice(before)) await billing.payments.receive(sign(notice))
    return done
  }

  /** The reference of the newest payment of an invoice that is as it has to be. */
  const paymentOf = (invoiceId: string, wanted: string, isWanted: (status: string) => boolean): string => {
    const all = fake.payments.filter((one) => one.invoiceId === invoiceId)
    const found = all.findLast(({ state }) => isWanted(state.status))
    if (found !== undefined) return found.reference
    const is = all.length === 0 ? "it has none" : `it is ${all.at(-1)?.state.status}`
    throw new InvalidInputError("invoiceId", `must have a payment that ${wanted}: ${is}`)
  }
  const waits = (status: string) => status === "requires_action" || status === "processing"
  // A customer who was not there may confirm a declined payment afterwards.
  const waitsForCustomer = (invoiceId: string): string =>
    paymentOf(
      invoiceId,
      "waits for the customer or a bank",
      (status) => waits(status) || status === "declined",
    )
  const taken = (invoiceId: string): string =>
    paymentOf(invoiceId, "has succeeded", (status) => status === "succeeded")

  const setupOf = (paymentMethodId: string) => {
    const setup = fake.methods?.setups.find((one) => one.setupId === paymentMethodId)
    if (fake.methods !== undefined && setup !== undefined) return { methods: fake.methods, setup }
    throw new InvalidInputError("paymentMethodId", "must be a payment method for which startSetup was called")
  }

  const payments: FakePayments = {
    ...toPromises(fake),
    get payments() {
      return fake.payments.map(
        ({ amount, attempts, charges, currency, customerId, invoiceId, paymentId, reference, state }) => ({
          reference,
          paymentId,
          invoiceId,
          customerId,
          amount,
          currency,
          status: state.status,
          attempts: attempts.length,
          charges,
        }),
      )
    },
    get refunds() {
      return fake.refunds
    },
    get disputes() {
      return fake.disputes
    },
    get notices() {
      return fake.notices.map(sign)
    },
    next: (...all) => void outcomes.push(...all.map(toCore)),
    fail: (fault, call = "attemptPayment", times = 1) => faults.add(fault, call, times),
    saveCard: async (customerId, card = {}) => {
      checkCard(card)
      const { paymentMethods } = requireHost().billing
      const { id } = await paymentMethods.create({ customerId })
      await paymentMethods.startSetup(id)
      payments.enterCard(id, card)
      return paymentMethods.refresh(id)
    },
    enterCard: (paymentMethodId, card = {}) => {
      const { methods, setup } = setupOf(paymentMethodId)
      methods.save(setup.reference, checkCard(card))
    },
    refuseCard: (paymentMethodId, code = "card_declined") => {
      const { methods, setup } = setupOf(paymentMethodId)
      methods.fail(setup.reference, code)
    },
    confirm: (invoiceId) => telling(() => fake.settle(waitsForCustomer(invoiceId), "succeeded")),
    refuse: (invoiceId, code = "authentication_failed") =>
      telling(() => fake.settle(waitsForCustomer(invoiceId), { code })),
    dispute: (invoiceId, amount) =>
      telling(() => {
        const reference = taken(invoiceId)
        const most = fake.payments.find((one) => one.reference === reference)?.amount ?? 0n
        const isPossible = amount === undefined || (amount > 0n && amount <= most)
        check(isPossible, "amount", `must be from 1 to the amount of the payment, which is ${most}`)
        return fake.dispute(reference, amount)
      }),
    closeDispute: (reference, status) =>
      telling(() => {
        const isThere = fake.disputes.some((one) => one.reference === reference)
        check(isThere, "reference", "must be that of a dispute")
        check(status === "won" || status === "lost", "status", "must be won or lost")
        fake.closeDispute(reference, status)
      }),
    refundByHand: (invoiceId, amount) =>
      telling(() => {
        const { code, reference } = fake.refundByHand(taken(invoiceId), amount)
        if (reference !== null) return reference
        throw new InvalidInputError("amount", `must be possible to refund: ${code}`)
      }),
    nextRefund: (...all) => {
      for (const one of all) {
        const isKnown = one === "succeeded" || one === "pending" || hasCode(one)
        check(isKnown, "outcome", 'must be succeeded, pending or a code such as { code: "lost_card" }')
      }
      refundOutcomes.push(...all)
    },
    settleRefund: (reference, outcome) =>
      telling(() => {
        const isThere = fake.refunds.some((one) => one.reference === reference)
        check(isThere, "reference", "must be that of a refund")
        fake.settleRefund(reference, outcome)
      }),
    tell: async () => {
      const { billing } = requireHost()
      for (const notice of fake.notices) await billing.payments.receive(sign(notice))
    },
  }
  fakes.add(payments)
  free.set(payments, (given) => void (host = given))
  return payments
}

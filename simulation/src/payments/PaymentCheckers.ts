/**
 * The invariants of payments. What the bank did is told by its own book, and compared with the books of the library.
 */
import { type Payment, Tenant } from "@billwright/core"
import { problemsOfSums } from "@billwright/engine"
import type { BankFact } from "./Bank.ts"
import { BANK } from "./Connection.ts"
import type { PaymentBooks, PaymentHistory } from "./PaymentBooks.ts"
import {
  invoicesArePaidWithWhatIsThere,
  noMoreIsRefundedThanTaken,
  refundsAreResolved,
  returnsAreBooked,
  returnsArePublished,
} from "./RefundCheckers.ts"
import { isInVain, sumOf } from "./Vain.ts"

type Check<B> = (books: B) => ReadonlyArray<string>
type Charge = Extract<BankFact, { readonly type: "charged" }>
type Stored = Payment.StoredPayment

const chargesOf = ({ facts }: PaymentBooks): ReadonlyArray<Charge> =>
  facts.filter((fact) => fact.type === "charged")

const paymentsOf = ({ payments }: PaymentBooks): ReadonlyArray<Stored> =>
  payments.map(({ payment }) => payment)

/** What went back of an invoice at some time, in our books. A host may ask for that again. */
const returnsOf = ({ disputes, refunds }: PaymentBooks, invoiceId: string) => [
  ...refunds.flatMap(({ refund }) =>
    refund.invoiceId === invoiceId && refund.succeededAt !== null ? [refund] : [],
  ),
  ...disputes.flatMap(({ dispute }) => (dispute.invoiceId === invoiceId ? [dispute] : [])),
]

/** An invoice is charged once at most, and never more than it states. What went back may be charged again. */
const nobodyIsChargedTwice: Check<PaymentBooks> = (books) => {
  const totals = new Map(books.invoices.map(({ invoice }) => [invoice.id as string, invoice.state.total]))
  return [...Map.groupBy(chargesOf(books), ({ invoiceId }) => invoiceId)].flatMap(([id, charges]) => {
    const returned = returnsOf(books, id)
    const most = (totals.get(id) ?? 0n) + sumOf(returned.map(({ amount }) => amount))
    const sum = sumOf(charges.map(({ amount }) => amount))
    return [
      ...(charges.length <= 1 + returned.length ? [] : [`${id} was charged ${charges.length} times`]),
      ...(sum <= most ? [] : [`${id} was charged ${sum}, and at most ${most} was due`]),
    ]
  })
}

/**
 * When an attempt of which the bank knows nothing is given up, and another one of the same payment takes its place. It may have
 * been under way for all that time: the bank takes the money of a payment once.
 */
const GIVEN_UP_MILLIS = 23 * 3_600_000

/** What an attempt of an invoice may still come to. */
interface Standing {
  readonly reference: string
  readonly attemptId: string
  readonly status: Extract<BankFact, { readonly type: "stated" }>["status"]
}

/** While an attempt has taken the money or may still take it, no other one of the invoice is sent. */
const oneAttemptAtATime: Check<PaymentBooks> = (books) => {
  const { facts } = books
  const invoiceOf = new Map<string, string>()
  const standing = new Map<string, Standing>()
  const problems: Array<string> = []
  const ofCustomers = new Set<string>()
  const sentAt = new Map<string, number>()
  // Test clocks go faster than the bank.
  const clocked = new Set(
    books.payments.flatMap(({ payment }) =>
      books.clocked?.has(payment.customerId) === true ? [payment.reference] : [],
    ),
  )
  const isGivenUp = ({ at, reference }: Extract<BankFact, { readonly type: "sent" }>, attemptId: string) =>
    clocked.has(reference) || at - (sentAt.get(attemptId) ?? 0) >= GIVEN_UP_MILLIS
  for (const fact of facts) {
    if (fact.type === "stated" && fact.isCustomersTurn) ofCustomers.add(fact.attemptId)
    if (fact.type === "opened") invoiceOf.set(fact.reference, fact.invoiceId)
    if (fact.type === "stated") standing.set(fact.reference, fact)
    if (fact.type === "closed") standing.delete(fact.reference)
    if (fact.type !== "sent") continue
    if (!sentAt.has(fact.attemptId)) sentAt.set(fact.attemptId, fact.at)
    const invoiceId = invoiceOf.get(fact.reference)
    const isReturned = returnsOf(books, invoiceId ?? "").length > 0
    const others = [...standing.values()].filter(
      ({ attemptId, reference, status }) =>
        attemptId !== fact.attemptId &&
        invoiceOf.get(reference) === invoiceId &&
        // What went back is paid by another payment.
        !(isReturned && reference !== fact.reference && status === "succeeded") &&
        // Another payment takes no second attempt, and neither does one that may have taken the money. What a customer
        // does is known only when it is read; the bank takes the money of a payment once.
        (reference !== fact.reference ||
          ((status === "succeeded" || status === "processing") &&
            !ofCustomers.has(attemptId) &&
            !isGivenUp(fact, attemptId))),
    )
    for (const { attemptId, status } of others) {
      problems.push(`${fact.attemptId} was sent while ${attemptId} is ${status}`)
    }
  }
  return problems
}

/** A person may have to look only where the bank refused, was silent for long, or waits for its customer for ever. */
const mayNeedAttention = (books: PaymentBooks, reference: string): boolean => {
  const last = books.facts.findLast((fact) => fact.type === "stated" && fact.reference === reference)
  return isInVain(books, [reference]) || (last?.type === "stated" && last.isCustomersTurn)
}

/**
 * Whether the bank took the money by an attempt that had been given up, because it came only after so long. If the bank tells
 * nothing by itself, it is booked when the payment is read next, for another attempt or to close it.
 */
const wasGivenUp = ({ facts }: PaymentBooks, { isTold, reference }: Charge): boolean => {
  if (isTold) return false
  const taken = facts.find(
    (fact) => fact.type === "stated" && fact.reference === reference && fact.status === "succeeded",
  )
  if (taken?.type !== "stated") return false
  const sent = facts
    .slice(0, facts.indexOf(taken))
    .filter((fact) => fact.type === "sent")
    .filter((fact) => fact.reference === reference)
  const first = sent.find(({ attemptId }) => attemptId === taken.attemptId)
  const last = sent.at(-1)
  return (
    first !== undefined &&
    last !== undefined &&
    last.attemptId !== taken.attemptId &&
    last.at - first.at >= GIVEN_UP_MILLIS
  )
}

/** What the bank took is booked, once and as it was, unless a person has to look. Nothing else is booked. */
const moneyIsBooked: Check<PaymentBooks> = (books) => {
  const ours = paymentsOf(books).filter(({ provider }) => provider === BANK)
  const charges = chargesOf(books)
  const lost = charges.flatMap((charge) => {
    const { amount, currency, invoiceId, reference } = charge
    const booked = ours.filter((one) => (one.reference ?? `${BANK}_${one.id}`) === reference)
    const [payment] = booked
    if (booked.length !== 1 || payment === undefined) return [`${reference} is booked ${booked.length} times`]
    if (payment.collection?.state === "needs_attention") return []
    if (payment.status === "open" && payment.dueAt === null && wasGivenUp(books, charge)) return []
    const isRight =
      payment.status === "succeeded" &&
      payment.amount === amount &&
      payment.currency === currency &&
      payment.invoiceId === invoiceId
    return isRight
      ? []
      : [
          `the bank took ${amount} ${currency} by ${reference}, and ${payment.id} of ${payment.amount} is ${payment.status}`,
        ]
  })
  const invented = ours.filter(
    ({ reference, status }) =>
      status === "succeeded" && !charges.some((charge) => charge.reference === reference),
  )
  return [...lost, ...invented.map(({ id }) => `${id} has succeeded, and the bank took nothing`)]
}

/** What the host recorded is booked once, and what was refused is not. */
const recordsAreBooked: Check<PaymentBooks> = (books) =>
  books.recorded.flatMap(({ amount, invoiceId, outcome, reference }) => {
    const found = paymentsOf(books).filter(
      (one) => one.provider === "manual" && one.invoiceId === invoiceId && one.reference === reference,
    )
    const expected = outcome === "booked" ? 1 : 0
    const isRight = outcome === "unknown" || found.length === expected
    return isRight && found.every((one) => one.amount === amount)
      ? []
      : [`${reference} of ${amount} was ${outcome}, and is booked ${found.length} times`]
  })

/** The amounts of payments add up to what their invoices say, and no invoice has two open ones. */
const invoicesAgree: Check<PaymentBooks> = ({ disputes, invoices, payments, refunds }) =>
  invoices.flatMap(({ invoice: { id, state }, tenant }) => {
    const all = payments.filter(({ payment }) => payment.invoiceId === id)
    const reversals = [...refunds.map(({ refund }) => refund), ...disputes.map(({ dispute }) => dispute)]
    const reversed = sumOf(reversals.map((one) => (one.invoiceId === id ? one.reversed : 0n)))
    const applied = sumOf(all.map(({ payment }) => payment.applied)) - reversed
    const open = all.filter(({ payment }) => payment.status === "open")
    const isAbroad = all.some(
      (one) =>
        Tenant.tenantKey(one.tenant) !== Tenant.tenantKey(tenant) ||
        one.payment.currency !== state.currency ||
        one.payment.customerId !== state.customerId,
    )
    const isSplit = all.some(
      ({ payment: { amount, applied: part, overpaid, status } }) =>
        part < 0n || overpaid < 0n || part + overpaid !== (status === "succeeded" ? amount : 0n),
    )
    const isPaid = state.status === "paid"
    const isOver = state.status === "void" || state.status === "draft"
    const isSettled = isPaid === (state.amountDue === 0n && !isOver)
    return [
      ...problemsOfSums(state).map(({ path, problem }) => `${id}: ${path} ${problem}`),
      ...(applied === state.amountPaid ? [] : [`${id} was paid ${state.amountPaid}, by payments ${applied}`]),
      ...(open.length <= 1 ? [] : [`${id} has ${open.length} open payments`]),
      ...(isAbroad ? [`${id} has a payment of another tenant, customer or currency`] : []),
      ...(isSplit ? [`${id} has a payment whose parts are not its amount`] : []),
      ...(isSettled ? [] : [`${id} is ${state.status}, and ${state.amountDue} is due`]),
    ]
  })

/** States in which nothing is waited for but people. */
const ENDED = new Set(["exhausted", "awaiting_method", "needs_attention"])

/** Longer than a payment takes that nobody helps: a bank works on it for days, and then it waits for the customer for 30. */
const LONGEST = 60 * 86_400_000

/** Once the faults have ended and enough time has passed, everything is resolved, or a person has to look. */
const everythingIsResolved: Check<PaymentBooks> = (books) =>
  paymentsOf(books).flatMap(
    ({ collection, createdAt, customerId, dueAt, failure, id, invoiceId, reference, status }) => {
      const state = collection?.state ?? "none"
      const isDisputed = books.disputes.some(
        ({ dispute }) => dispute.invoiceId === invoiceId && dispute.status !== "won",
      )
      const clock = books.clocked?.get(customerId)
      const isDone = dueAt === null || dueAt > (clock ?? books.now)
      // Credits that end make automatic top-ups buy long after the last command.
      const isYoung = createdAt.epochMilliseconds > books.now - LONGEST
      const isPatient = (clock !== undefined || isYoung) && dueAt !== null && isDone
      const isResolved =
        status !== "open" || ENDED.has(state) || (state === "stopped" && isDisputed) || isPatient
      const isRight =
        state !== "needs_attention" ||
        status !== "open" ||
        clock !== undefined ||
        mayNeedAttention(books, reference ?? `${BANK}_${id}`)
      return [
        ...(isResolved ? [] : [`${id} is ${state}`]),
        ...(isRight ? [] : [`${id} needs attention without a reason`]),
        ...(isDone ? [] : [`${id} is due, and was not done: ${failure?.problem ?? ""}`]),
      ]
    },
  )

interface Payload {
  readonly type: string
  readonly data: { readonly payment?: { readonly id: string; readonly sequence: number } | undefined }
}

/** J10 of payments: what becomes of a payment is published once, with a rising sequence. */
const paymentsArePublished: Check<PaymentBooks> = ({ events, payments }) => {
  const published = events.flatMap(({ event, tenant }) => {
    const { data, type } = JSON.parse(event.payload) as Payload
    return data.payment === undefined ? [] : [{ tenant, type, ...data.payment }]
  })
  return payments.flatMap(({ payment: { id, overpaid, sequence, status }, tenant }) => {
    const own = published.filter(
      (one) => one.id === id && Tenant.tenantKey(one.tenant) === Tenant.tenantKey(tenant),
    )
    const count = (type: string) => own.filter((one) => one.type === type).length
    const isFalling = own.some((one, index) => index > 0 && one.sequence < own[index - 1]!.sequence)
    const isRight =
      count("payment.succeeded") === (status === "succeeded" ? 1 : 0) &&
      count("payment.overpaid") === (overpaid > 0n ? 1 : 0) &&
      own.every((one) => one.sequence <= sequence)
    return isRight && !isFalling
      ? []
      : [
          `${id} is ${status} at ${sequence}, and has ${own.map((one) => `${one.type} ${one.sequence}`).join(", ")}`,
        ]
  })
}

export const paymentCheckers = {
  /** No fiber dies of a bug. */
  J0: ({ defects }: Pick<PaymentHistory, "defects">) => defects,
  charged: nobodyIsChargedTwice,
  attempts: oneAttemptAtATime,
  booked: moneyIsBooked,
  recorded: recordsAreBooked,
  invoices: (books) => [...invoicesAgree(books), ...invoicesArePaidWithWhatIsThere(books)],
  returned: returnsAreBooked,
  refunded: noMoreIsRefundedThanTaken,
  resolved: (books) => [...everythingIsResolved(books), ...refundsAreResolved(books)],
  J10: (books) => [...paymentsArePublished(books), ...returnsArePublished(books)],
} satisfies Readonly<Record<string, Check<PaymentHistory>>>

export type PaymentInvariant = keyof typeof paymentCheckers

export interface PaymentViolation {
  readonly invariant: PaymentInvariant
  readonly problem: string
}

/** Everything that contradicts an invariant of payments. All but `J0` and `J10` are parts of J6. */
export const judgePayments = (history: PaymentHistory): ReadonlyArray<PaymentViolation> =>
  Object.entries(paymentCheckers).flatMap(([name, check]) =>
    check(history).map((problem) => ({ invariant: name as PaymentInvariant, problem })),
  )

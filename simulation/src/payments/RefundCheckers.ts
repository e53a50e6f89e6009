/**
 * The invariants of money that goes back: refunds and disputes.
 */
import { type Payment, type Refund, Tenant } from "@billwright/core"
import { BANK } from "./Connection.ts"
import type { PaymentBooks } from "./PaymentBooks.ts"
import { isInVain, sumOf } from "./Vain.ts"

type Check = (books: PaymentBooks) => ReadonlyArray<string>

const amountsOf = (all: ReadonlyArray<{ readonly amount: bigint }>): bigint =>
  sumOf(all.map(({ amount }) => amount))

const refundsOf = ({ refunds }: PaymentBooks): ReadonlyArray<Refund.Refund> =>
  refunds.map(({ refund }) => refund)

/** What of each refund and dispute the bank stated last. */
const lastOf = <A extends { readonly reference: string | null }>(
  stated: ReadonlyArray<A>,
): ReadonlyArray<A> => [...new Map(stated.map((one) => [one.reference, one])).values()]

const refundsAtBank = ({ facts }: PaymentBooks) =>
  lastOf(facts.flatMap((fact) => (fact.type === "refund" ? [fact.refund] : [])))

const disputesAtBank = ({ facts }: PaymentBooks) =>
  lastOf(facts.flatMap((fact) => (fact.type === "dispute" ? [fact.dispute] : [])))

/** What the bank has given back is booked, once and as it is. Nothing else is. */
export const returnsAreBooked: Check = (books) => {
  const [ours, theirs] = [refundsOf(books), refundsAtBank(books)]
  const refunds = theirs.flatMap(({ amount, currency, reference, refundId, status }) => {
    const booked = ours.filter((one) => one.id === refundId || one.reference === reference)
    const [refund] = booked
    // What somebody made at the bank in vain is nothing that happened.
    if (refundId === null && status === "failed" && booked.length === 0) return []
    if (booked.length !== 1 || refund === undefined) return [`${reference} is booked ${booked.length} times`]
    const isOpen = refund.status === "pending" || refund.status === "unresolved"
    if (isOpen && isInVain(books, [refund.id, reference])) return []
    const isRight = refund.status === status && refund.amount === amount && refund.currency === currency
    return isRight
      ? []
      : [`${reference} of ${amount} is ${status}, and ${refund.id} of ${refund.amount} is ${refund.status}`]
  })
  const invented = ours.filter(
    ({ id, provider, reference, status }) =>
      provider === BANK &&
      status === "succeeded" &&
      !theirs.some((one) => one.refundId === id || one.reference === reference),
  )
  const disputes = disputesAtBank(books).flatMap(({ amount, reference, status }) => {
    const booked = books.disputes.filter(({ dispute }) => dispute.reference === reference)
    const dispute = booked[0]?.dispute
    const isRight = booked.length === 1 && dispute?.status === status && dispute.amount === amount
    return isRight
      ? []
      : [`${reference} of ${amount} is ${status}, and is booked ${booked.length} times as ${dispute?.status}`]
  })
  return [
    ...refunds,
    ...disputes,
    ...invented.map(({ id }) => `${id} has succeeded, and the bank gave nothing back`),
  ]
}

/** No more is refunded than was taken, or than a credit note refunds, and no more is asked of the bank than it has. */
export const noMoreIsRefundedThanTaken: Check = (books) => {
  const held = refundsOf(books).filter(({ status }) => status !== "failed")
  const ofPayments = books.payments.flatMap(({ payment: { amount, id, reference } }) => {
    const ours = amountsOf(held.filter(({ paymentId }) => paymentId === id))
    const theirs = refundsAtBank(books).filter(
      (one) => one.status !== "failed" && one.paymentReference === reference,
    )
    return ours <= amount && (reference === null || amountsOf(theirs) <= amount)
      ? []
      : [`${ours} of ${id} is refunded, at the bank ${amountsOf(theirs)}, and it is ${amount}`]
  })
  const ofNotes = books.creditNotes.flatMap(({ note: { id, refund } }) => {
    const sum = amountsOf(held.filter(({ creditNoteId }) => creditNoteId === id))
    return sum <= refund ? [] : [`${sum} of ${id} is refunded, and it refunds ${refund}`]
  })
  // What others made of the payment meanwhile is not known when a refund is asked for.
  const others = new Set(
    books.facts.flatMap((fact) => {
      if (fact.type === "dispute") return [fact.dispute.paymentReference]
      return fact.type === "refund" && fact.refund.refundId === null ? [fact.refund.paymentReference] : []
    }),
  )
  const refused = books.facts.flatMap((fact) =>
    fact.type === "refused" && !others.has(fact.refund.paymentReference)
      ? [`${fact.refund.refundId} of ${fact.refund.amount} was more than the bank had left`]
      : [],
  )
  return [...ofPayments, ...ofNotes, ...refused]
}

/** What went back of a payment. */
const returnedOf = (books: PaymentBooks, { id }: Payment.StoredPayment) => {
  const refunds = refundsOf(books).filter(
    ({ creditNoteId, paymentId }) => paymentId === id && creditNoteId === null,
  )
  const disputes = books.disputes.flatMap(({ dispute }) => (dispute.paymentId === id ? [dispute] : []))
  const everGone = [...refunds.filter(({ succeededAt }) => succeededAt !== null), ...disputes]
  const isGone = ({ status }: { readonly status: string }) => status === "succeeded" || status === "lost"
  return { gone: amountsOf(everGone.filter(isGone)), ever: amountsOf(everGone) }
}

/** An invoice is not paid with money that has gone back, and is paid with what is still there. */
export const invoicesArePaidWithWhatIsThere: Check = (books) =>
  books.invoices.flatMap(({ invoice: { id, state } }) => {
    const paid = books.payments.flatMap(({ payment }) =>
      payment.invoiceId === id && payment.status === "succeeded" ? [payment] : [],
    )
    const reversedBy = [
      ...books.refunds.map(({ refund }) => refund),
      ...books.disputes.map(({ dispute }) => dispute),
    ]
    // Credit notes say themselves what is paid and goes back nevertheless.
    const isCredited = books.creditNotes.some(({ note }) => note.invoiceId === id)
    return paid.flatMap((payment) => {
      const reversals = reversedBy
        .filter((one) => one.paymentId === payment.id)
        .map(({ reversed }) => reversed)
      const { ever, gone } = returnedOf(books, payment)
      const onInvoice = payment.applied - sumOf(reversals)
      const there = payment.amount > gone ? payment.amount - gone : 0n
      const most = payment.applied < there ? payment.applied : there
      const isSimple = paid.length === 1 && ever <= payment.amount && state.status !== "void"
      const isRight = isCredited || (isSimple ? onInvoice === most : onInvoice <= most)
      return isRight && onInvoice >= 0n
        ? []
        : [
            `${id} is paid with ${onInvoice} of ${payment.id}, of which ${there} of ${payment.amount} is there`,
          ]
    })
  })

/** Once the faults have ended, it is known what came of each refund, unless the bank does not say. */
export const refundsAreResolved: Check = (books) => {
  const theirs = refundsAtBank(books)
  return refundsOf(books).flatMap(({ id, reference, status }) => {
    const isOpen = status === "pending" || status === "unresolved"
    const atBank = theirs.find((one) => one.refundId === id || one.reference === reference)
    const isRight = !isOpen || atBank?.status === "pending" || isInVain(books, [id, reference])
    return isRight ? [] : [`${id} is ${status}`]
  })
}

interface Payload {
  readonly type: string
  readonly data: {
    readonly refund_id?: string
    readonly dispute_id?: string
    readonly sequence?: number
  }
}

/** What becomes of refunds and disputes is published once, with a rising sequence. */
export const returnsArePublished: Check = ({ disputes, events, refunds }) => {
  const published = events.map(({ event, tenant }) => {
    const { data, type } = JSON.parse(event.payload) as Payload
    const id = type.startsWith("refund.") ? data.refund_id : data.dispute_id
    return { type, id, sequence: data.sequence ?? 0, tenant: Tenant.tenantKey(tenant) }
  })
  const expected = [
    ...refunds.map(({ refund: { id, sequence, status, succeededAt }, tenant }) => ({
      id,
      sequence,
      tenant,
      counts: {
        "refund.created": 1,
        "refund.succeeded": succeededAt === null ? 0 : 1,
        "refund.failed": status === "failed" ? 1 : 0,
      },
    })),
    ...disputes.map(({ dispute: { id, sequence }, tenant }) => ({
      id,
      sequence,
      tenant,
      counts: { "dispute.opened": 1 },
    })),
  ]
  return expected.flatMap(({ counts, id, sequence, tenant }) => {
    const own = published.filter((one) => one.id === id && one.tenant === Tenant.tenantKey(tenant))
    const isFalling = own.some((one, index) => index > 0 && one.sequence < own[index - 1]!.sequence)
    const isRight =
      Object.entries(counts).every(
        ([type, count]) => own.filter((one) => one.type === type).length === count,
      ) && own.every((one) => one.sequence <= sequence)
    return isRight && !isFalling
      ? []
      : [`${id} at ${sequence} has ${own.map((one) => `${one.type} ${one.sequence}`).join(", ")}`]
  })
}

/**
 * The invariants of top-ups and of credits on invoices: credits come for money, once, and go back once.
 */
import type { AutoTopUp, TopUp } from "@billwright/core"
import { accountName } from "../credits/CreditBooks.ts"
import { erasedIn, type PrepaidBooks } from "./PrepaidBooks.ts"

const DAY = 86_400_000

type Check = (books: PrepaidBooks) => ReadonlyArray<string>

const sumOf = (amounts: ReadonlyArray<bigint>): bigint => amounts.reduce((sum, amount) => sum + amount, 0n)

/** What the customer paid for an invoice, as the bank and the host tell it. */
const paidFor = ({ facts, recorded }: PrepaidBooks, invoiceId: string): bigint =>
  sumOf([
    ...facts.flatMap((fact) =>
      fact.type === "charged" && fact.invoiceId === invoiceId ? [fact.amount] : [],
    ),
    ...recorded.flatMap((one) =>
      one.invoiceId === invoiceId && one.outcome !== "refused" ? [one.amount] : [],
    ),
  ])

/** What was waived or given back of an invoice. */
const creditedOf = ({ creditNotes }: PrepaidBooks, invoiceId: string): bigint =>
  sumOf(creditNotes.flatMap(({ note }) => (note.invoiceId === invoiceId ? [note.total] : [])))

/** A top-up gives its credits for the money of its invoice, and never without it. */
export const topUpsArePaid: Check = (books) => {
  const invoices = new Map(books.invoices.map(({ invoice }) => [invoice.id as string, invoice.state]))
  const grants = new Map(
    books.credits.flatMap((rows) => rows.grants.map((grant) => [grant.id as string, grant])),
  )
  return books.topUps.flatMap(({ topUp: { grantId, id, invoiceId, price, status } }) => {
    const state = invoices.get(invoiceId)
    if (state === undefined) return [`${id} has no invoice`]
    const paid = paidFor(books, invoiceId)
    const credited = creditedOf(books, invoiceId)
    const given = paid + credited
    const isGranted = status === "granted"
    // All of it was credited before it was paid.
    const isCredited = status === "canceled" && credited >= state.total
    return [
      ...(state.subtotal === price ? [] : [`${id} costs ${price}, and its invoice ${state.subtotal}`]),
      ...(!isGranted || given >= state.total ? [] : [`${id} was granted for ${given} of ${state.total}`]),
      ...(!isGranted || paid > 0n || state.total === 0n ? [] : [`${id} was granted, and nobody paid`]),
      ...(isGranted === (grantId !== null && grants.has(grantId))
        ? []
        : [`${id} is ${status} with ${grantId}`]),
      ...(state.status === "paid" && !isGranted && !isCredited
        ? [`${id} is ${status}, and its invoice is paid`]
        : []),
      ...(state.status === "void" && status === "pending"
        ? [`${id} is pending, and its invoice is void`]
        : []),
    ]
  })
}

interface Bought {
  readonly auto: AutoTopUp.AutoTopUp
  readonly topUps: Map<string, TopUp.TopUp>
}

const dayOf = ({ createdAt }: TopUp.TopUp): number => Math.floor(createdAt.epochMilliseconds / DAY)

/** An automatic top-up buys below its level, one after another, and so often in a UTC day at most. */
export const autosBuyOneAfterAnother: Check = ({ transactions }) => {
  const erased = new Set<string>()
  const autos = new Map<string, Bought>()
  const available = new Map<string, bigint>()
  return transactions.flat().flatMap((change) => {
    if (change.type === "erased") erased.add(change.customerId)
    if (change.type === "account") available.set(change.name, change.balance.available)
    if (change.type === "auto") {
      autos.set(change.auto.id, { auto: change.auto, topUps: autos.get(change.auto.id)?.topUps ?? new Map() })
    }
    if (change.type !== "top up" || change.topUp.autoTopUpId === null) return []
    const { tenant, topUp } = change
    const bought = autos.get(topUp.autoTopUpId!)
    if (bought === undefined) return [`${topUp.id} is of no automatic top-up`]
    const { auto, topUps } = bought
    const isNew = !topUps.has(topUp.id)
    topUps.set(topUp.id, topUp)
    if (!isNew) return []
    const all = [...topUps.values()]
    const pending = all.filter(({ status }) => status === "pending")
    const ofDay = all.filter((one) => dayOf(one) === dayOf(topUp))
    const had = available.get(accountName(tenant, topUp.customerId, topUp.unit)) ?? 0n
    return [
      ...(pending.length <= 1 ? [] : [`${auto.id} has ${pending.length} pending top-ups`]),
      ...(ofDay.length <= auto.maxPerDay ? [] : [`${auto.id} bought ${ofDay.length} times in a day`]),
      ...(had < auto.level ? [] : [`${auto.id} bought with ${had} available`]),
      ...(auto.suspendedAt === null ? [] : [`${auto.id} bought while it was suspended`]),
      ...(erased.has(topUp.customerId) ? [`${auto.id} bought for an erased customer`] : []),
    ]
  })
}

/** At the end, an automatic top-up has bought if less than its level is available, unless something holds it back. */
export const autosHaveBought: Check = ({ autos, credits, now, topUps, transactions }) => {
  const erased = erasedIn({ transactions })
  return autos.flatMap(({ auto }) => {
    const { customerId, id, level, maxPerDay, suspendedAt, unit } = auto
    const account = credits
      .flatMap(({ accounts }) => accounts)
      .find((one) => one.customerId === customerId && one.unit === unit)
    const own = topUps.filter(({ topUp }) => topUp.autoTopUpId === id).map(({ topUp }) => topUp)
    const newest = own.toSorted((a, b) => b.createdAt.epochMilliseconds - a.createdAt.epochMilliseconds)[0]
    const isWaiting =
      suspendedAt !== null ||
      // Somebody voided its invoice: it buys again when the level is crossed again.
      newest?.status === "canceled" ||
      erased.has(customerId) ||
      own.some(({ status }) => status === "pending") ||
      own.filter((one) => dayOf(one) >= Math.floor(now / DAY)).length >= maxPerDay
    const has = account?.available ?? 0n
    return isWaiting || has >= level ? [] : [`${id} has not bought with ${has} of ${level} available`]
  })
}

/** What invoices use of credits in money is what they state, and what void ones gave back is that, once. */
export const invoicesUseWhatTheyState: Check = ({ credits, invoices }) => {
  const entries = credits.flatMap((rows) => rows.entries)
  return invoices.flatMap(({ invoice: { id, state } }) => {
    const own = entries.filter(({ invoiceId, unit }) => invoiceId === id && unit === state.currency)
    const of = (kind: string) => sumOf(own.flatMap((entry) => (entry.kind === kind ? [entry.available] : [])))
    const stated = sumOf([
      ...state.discounts.flatMap(({ amount, type }) => (type === "promotional_credit" ? [amount] : [])),
      ...state.applied.flatMap(({ amount, type }) => (type === "paid_credit" ? [amount] : [])),
    ])
    const used = state.status === "draft" ? 0n : stated
    const restored = state.status === "void" ? used : 0n
    return [
      ...(-of("apply") === used ? [] : [`${id} states credits of ${used}, and used ${-of("apply")}`]),
      ...(of("restore") === restored
        ? []
        : [`${id} has to give back ${restored}, and gave ${of("restore")}`]),
    ]
  })
}

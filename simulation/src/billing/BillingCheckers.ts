/**
 * The invariants of billing. Each has a checker, which takes the books and returns everything that contradicts it.
 */
import { type Invoice, Tenant } from "@billwright/core"
import { problemsOfCreditNotes, problemsOfLines, problemsOfSeries, problemsOfSums } from "@billwright/engine"
import type { BillingHistory, Books } from "./Books.ts"
import { clocksAreFollowed, migrationsAreWhole } from "./ClockCheckers.ts"
import { couponsGiveWhatTheyPromise } from "./CouponCheckers.ts"
import { groupsShareInvoices } from "./GroupCheckers.ts"
import { itemsComeToWhatWasGiven, taxesAreRight } from "./ItemCheckers.ts"
import { costsOf, subjectOf } from "./Ledger.ts"
import { statedIn } from "./Reading.ts"
import { type NoteSnapshot, readNotes, readSnapshots, type Snapshot } from "./Snapshots.ts"

type Check<B> = (books: B) => ReadonlyArray<string>
type OneInvoice = Books["invoices"][number]

const nameOf = ({ invoice, tenant }: OneInvoice): string => `${Tenant.tenantKey(tenant)} ${invoice.id}`

/** Problems of each invoice. */
const ofInvoices =
  (
    problemsOf: (invoice: Invoice.StoredInvoice["state"]) => ReadonlyArray<{ path: string; problem: string }>,
  ) =>
  ({ invoices }: Books) =>
    invoices.flatMap((one) =>
      problemsOf(one.invoice.state).map(({ path, problem }) => `${nameOf(one)}: ${path} ${problem}`),
    )

const byTenant = <A extends { readonly tenant: Tenant.Tenant }>(all: ReadonlyArray<A>) =>
  Map.groupBy(all, ({ tenant }) => Tenant.tenantKey(tenant))

/** What credit notes gave back of the lines of an invoice. */
const forgivenOf = ({ creditNotes }: Books, invoiceId: string): ReadonlyMap<string, bigint> => {
  const sums = new Map<string, bigint>()
  for (const { note } of creditNotes) {
    if (note.invoiceId !== invoiceId) continue
    for (const { amount, lineId } of note.lines) sums.set(lineId, (sums.get(lineId) ?? 0n) + amount)
  }
  return sums
}

/** J2: an invoice, and its credit notes, which never exceed it. */
const sumsAreRight: Check<Books> = (books) => [
  ...ofInvoices(problemsOfSums)(books),
  ...ofInvoices((state) =>
    problemsOfCreditNotes(
      state,
      books.creditNotes.filter(({ note }) => note.invoiceId === state.id).map(({ note }) => note),
    ),
  )(books),
  ...creditsFit(books),
]

/** What credit notes and credits of later invoices give back of a line is never more than was charged. */
const creditsFit: Check<Books> = (books) => {
  const given = new Map<string, bigint>()
  for (const { invoice } of books.invoices) {
    for (const { amount, creditOf } of invoice.state.lines) {
      if (creditOf === null || invoice.state.status === "void") continue
      const name = `${creditOf.invoiceId} ${creditOf.lineId}`
      given.set(name, (given.get(name) ?? 0n) - amount)
    }
  }
  return books.invoices.flatMap((one) => {
    const forgiven = forgivenOf(books, one.invoice.id)
    return one.invoice.state.lines.flatMap(({ amount, discount, id }) => {
      const back = (forgiven.get(id) ?? 0n) + (given.get(`${one.invoice.id} ${id}`) ?? 0n)
      const most = amount - discount
      return back <= most || back === 0n
        ? []
        : [`${nameOf(one)}: ${back} of ${id} was given back, of ${most}`]
    })
  })
}

/** J3: what the invoices of a subscription state of a period is what the period costs, once late usage is settled. */
const documentsGiveTheCosts: Check<Books> = (books) =>
  books.subscriptions.flatMap((one) => {
    const { customerId, id } = one.subscription
    const slack = books.clockSlack ?? 0
    const invoices = books.invoices.filter(({ invoice }) =>
      invoice.causes.some(({ subscriptionId }) => subscriptionId === id),
    )
    const until = Math.max(...invoices.map(({ invoice }) => invoice.causes[0]?.effect.at ?? 0))
    const last = Math.max(...invoices.map(({ invoice }) => invoice.state.issuedAt ?? 0))
    const isUnsettled = books.records.some(({ record, writtenAt }) => {
      const written =
        writtenAt ?? Math.max(record.createdAt.epochMilliseconds, record.voidedAt?.epochMilliseconds ?? 0)
      return (
        record.customerId === customerId &&
        record.timestamp.epochMilliseconds < until &&
        written + slack >= last
      )
    })
    if (invoices.length === 0 || isUnsettled) return []
    const documented = new Map<string, { gross: bigint; left: bigint }>()
    for (const { invoice } of invoices) {
      const forgiven = forgivenOf(books, invoice.id)
      for (const { amount, charge, creditOf, discount, id: lineId, origin } of invoice.state.lines) {
        if (origin?.subscriptionId !== id) continue
        // A void invoice has given nothing back.
        if (creditOf !== null && invoice.state.status === "void") continue
        const subject = subjectOf(origin.period, origin.segment, charge, origin.group)
        const { gross, left } = documented.get(subject) ?? { gross: 0n, left: 0n }
        const isCharged = invoice.state.status !== "void"
        const net = amount - discount - (forgiven.get(lineId) ?? 0n)
        documented.set(subject, { gross: gross + origin.gross, left: left + (isCharged ? net : 0n) })
      }
    }
    const costs = costsOf(books, one, until)
    return [...new Set([...costs.keys(), ...documented.keys()])].flatMap((subject) => {
      const cost = costs.get(subject) ?? 0n
      const { gross, left } = documented.get(subject) ?? { gross: 0n, left: 0n }
      // Where nothing is left of the lines, there is nothing to give back.
      if (gross === cost || (gross > cost && left <= 0n)) return []
      return [`${id}: the documents state ${gross} of ${subject}, which costs ${cost}`]
    })
  })

/** J4: the numbers of each series are consecutive, and their instants never fall but for those of test clocks. */
const numbersAreConsecutive: Check<Books> = ({ creditNoteFormat, creditNotes, invoices, numberFormat }) => {
  const issued = invoices.flatMap(({ invoice: { state }, tenant }) =>
    state.number === null || state.issuedAt === null
      ? []
      : [{ tenant, number: state.number, issuedAt: state.issuedAt }],
  )
  const notes = creditNotes.map(({ note: { issuedAt, number }, tenant }) => ({ tenant, number, issuedAt }))
  return [...problemsOfNumbers(numberFormat, issued), ...problemsOfNumbers(creditNoteFormat, notes)]
}

const problemsOfNumbers = (
  format: string,
  all: ReadonlyArray<{ readonly tenant: Tenant.Tenant; readonly number: string; readonly issuedAt: number }>,
): ReadonlyArray<string> =>
  [...byTenant(all)].flatMap(([tenant, documents]) => {
    const inOrder = documents
      .map((one) => (one.tenant.mode === "test" ? { ...one, issuedAt: 0 } : one))
      .toSorted((a, b) => (a.number < b.number ? -1 : 1))
    return problemsOfSeries(format, inOrder).map(({ path, problem }) => `${tenant}: ${path} ${problem}`)
  })

/** J5: an issued invoice never changes, and neither does a credit note. */
const issuedDocumentsStay: Check<Books> = (books) => {
  const keyOf = ({ id, tenant }: Books["seen"][number]) => `${Tenant.tenantKey(tenant)} ${id}`
  const texts = new Map(statedIn(books).map((one) => [keyOf(one), one.text]))
  return books.seen.flatMap((one) => {
    const text = texts.get(keyOf(one))
    return text === one.text ? [] : [`${keyOf(one)} stated ${one.text}, and states ${text ?? "nothing"}`]
  })
}

/** J8: the outcome is the same without faults, whatever came between. */
const outcomeIsTheSame: Check<BillingHistory> = ({ outcome, overdue, undisturbed }) => {
  const problems = overdue.map((what) => `${what} is due, and was not done`)
  const missing = undisturbed.filter((line) => !outcome.includes(line))
  const surplus = outcome.filter((line) => !undisturbed.includes(line))
  const isReordered = outcome.join("\n") !== undisturbed.join("\n")
  if (isReordered && missing.length + surplus.length === 0) problems.push("the outcome has another order")
  return [
    ...problems,
    ...missing.map((line) => `without faults there was: ${line}`),
    ...surplus.map((line) => `without faults there was not: ${line}`),
  ]
}

/** The events that an invoice must have, by what it is. */
const expectedOf = ({ amountDue, status }: Invoice.StoredInvoice["state"]): ReadonlyArray<string> => {
  const issued = ["invoice.created", "invoice.finalized"]
  if (status === "draft") return ["invoice.created"]
  if (status === "void") return [...issued, "invoice.voided"]
  if (status === "uncollectible") return [...issued, "invoice.marked_uncollectible"]
  return status === "paid" && amountDue === 0n ? [...issued, "invoice.paid"] : issued
}

/**
 * Whether an invoice has an event as often as it must: once, and what follows a reopening once more. It is reopened when what it
 * was paid with went back. Then it must be paid again, and may be marked as uncollectible again.
 */
const isToldOnce = (type: string, types: ReadonlyArray<string>): boolean => {
  const counts = [0]
  for (const other of types) {
    if (other === "invoice.reopened") counts.push(0)
    else if (other === type) counts[counts.length - 1]!++
  }
  if (type === "invoice.paid") return counts.every((count) => count === 1)
  if (type === "invoice.marked_uncollectible") {
    return counts.every((count) => count <= 1) && counts.at(-1) === 1
  }
  return counts.reduce((sum, count) => sum + count, 0) === 1
}

const eventsOfInvoice = (
  one: OneInvoice,
  all: ReadonlyArray<Snapshot>,
  notes: ReadonlyArray<NoteSnapshot>,
  isCollected: boolean,
): ReadonlyArray<string> => {
  const { state } = one.invoice
  const types = all.map(({ type }) => type)
  const expected = expectedOf(state)
  const last = all.at(-1)
  const sequence = Math.max(last?.sequence ?? 0, ...notes.map((note) => note.sequence))
  // Where its payment is, and what is paid in part or went back, is told by the events of payments, refunds and disputes.
  const isSame =
    sequence === state.sequence || (isCollected && sequence < state.sequence && last?.status === state.status)
  return [
    ...(expected.every((type) => isToldOnce(type, types))
      ? []
      : [`${nameOf(one)} is ${state.status}, and has the events ${types.join(", ")}`]),
    ...(state.status === "draft" || (isSame && last?.total === String(state.total))
      ? []
      : [`${nameOf(one)} has changed since its last event`]),
  ]
}

/** J10: each change of a subscription and of an invoice has published its event, with a rising sequence. */
const changesArePublished: Check<Books> = (books) => {
  const snapshots = readSnapshots(books)
  const of = (tenant: Tenant.Tenant, id: string) => snapshots.get(`${Tenant.tenantKey(tenant)} ${id}`) ?? []
  const falling = [...snapshots].flatMap(([name, all]) =>
    // Of a payment, several events have one sequence.
    all[0]!.type.startsWith("payment.") ||
    all.every(({ sequence }, index) => index === 0 || sequence > all[index - 1]!.sequence)
      ? []
      : [`the sequences of ${name} do not rise: ${all.map(({ sequence }) => sequence).join(", ")}`],
  )
  // Of customers who were erased, nothing is published any more, and what was is redacted.
  const erased = new Set(books.customers.flatMap(({ id, isErased }) => (isErased === true ? [id] : [])))
  const isKnown = ({ customerId }: { readonly customerId: string }) => !erased.has(customerId)
  const subscriptions = books.subscriptions.flatMap(({ subscription, tenant }) => {
    const { id, state } = subscription
    if (!isKnown(subscription)) return []
    const all = of(tenant, id)
    const last = all.at(-1)
    return all.length === state.sequence && last?.sequence === state.sequence && last.phase === state.phase
      ? []
      : [`${id} is ${state.phase} at ${state.sequence}, and its last event is ${JSON.stringify(last)}`]
  })
  const ofNotes = readNotes(books)
  const notesOf = (tenant: Tenant.Tenant, id: string) =>
    ofNotes.get(`${Tenant.tenantKey(tenant)} ${id}`) ?? []
  const collected = new Set(books.payments?.map(({ payment }) => payment.invoiceId))
  const invoices = books.invoices.flatMap((one) => {
    const { id } = one.invoice
    const isCollected = collected.has(id)
    return isKnown(one.invoice)
      ? eventsOfInvoice(one, of(one.tenant, id), notesOf(one.tenant, id), isCollected)
      : []
  })
  const notes = books.creditNotes.flatMap(({ note, tenant }) => {
    if (!isKnown(note)) return []
    const found = notesOf(tenant, note.invoiceId).filter(({ id }) => id === note.id)
    return found.length === 1 && found[0]!.total === String(note.total)
      ? []
      : [`${note.id} has the events ${JSON.stringify(found)}`]
  })
  return [...falling, ...subscriptions, ...invoices, ...notes]
}

/** Items, redemptions and credit notes whose customer, currency or mode is not that of their invoice or subscription. */
const belongings: Check<Books> = (books) => {
  const keyed = (tenant: Tenant.Tenant, id: string) => `${Tenant.tenantKey(tenant)} ${id}`
  const invoices = new Map(books.invoices.map(({ invoice, tenant }) => [keyed(tenant, invoice.id), invoice]))
  const subscriptions = new Map(
    books.subscriptions.map(({ subscription, tenant }) => [keyed(tenant, subscription.id), subscription]),
  )
  const items = books.items.filter(({ item, tenant }) => {
    const invoice = item.invoiceId === null ? undefined : invoices.get(keyed(tenant, item.invoiceId))
    const isOurs = invoice?.customerId === item.customerId && invoice.state.currency === item.currency
    return item.invoiceId !== null && !isOurs
  })
  const redemptions = books.redemptions.filter(({ redemption, tenant }) => {
    const of = subscriptions.get(keyed(tenant, redemption.subscriptionId))
    return of?.customerId !== redemption.customerId || of.state.currency !== redemption.currency
  })
  const notes = books.creditNotes.filter(({ note, tenant }) => {
    const invoice = invoices.get(keyed(tenant, note.invoiceId))
    return invoice?.customerId !== note.customerId || invoice.state.currency !== note.currency
  })
  const redeemed = new Map(
    books.redemptions.map(({ redemption, tenant }) => [keyed(tenant, redemption.id), redemption]),
  )
  const discounted = books.invoices.filter(({ invoice: { causes, state }, tenant }) => {
    const billed = new Set<string | undefined>(causes.map(({ subscriptionId }) => subscriptionId))
    return state.discounts.some(
      ({ id, type }) => type === "coupon" && !billed.has(redeemed.get(keyed(tenant, id))?.subscriptionId),
    )
  })
  const clocked = books.customers.filter(
    ({ tenant, testClockId }) =>
      testClockId !== null &&
      !books.clocks.some((one) => keyed(one.tenant, one.clock.id) === keyed(tenant, testClockId)),
  )
  return [
    ...items.map(({ item }) => item.id),
    ...redemptions.map(({ redemption }) => redemption.id),
    ...notes.map(({ note }) => note.id),
    ...discounted.map(({ invoice }) => `a coupon of ${invoice.id}`),
    ...clocked.map(({ id }) => id),
  ].map((id) => `${id} belongs to another customer, currency, tenant or mode`)
}

/**
 * Whether a draft may be gone though no event says so: of customers who were erased, nothing is published any more. Drafts
 * that bill subscriptions are never deleted. `erased` has tenants and ids.
 */
const isDeletedUntold = ({ object, status, tenant }: Snapshot, erased: ReadonlySet<string>): boolean => {
  const billed = object["subscription_ids"]
  return (
    status === "draft" &&
    Array.isArray(billed) &&
    billed.length === 0 &&
    erased.has(`${Tenant.tenantKey(tenant)} ${String(object["customer_id"])}`)
  )
}

/** J11: nothing crosses accounts, modes or currencies. */
const nothingIsShared: Check<Books> = (books) => {
  const keyed = (tenant: Tenant.Tenant, id: string) => `${Tenant.tenantKey(tenant)} ${id}`
  const customers = new Set(books.customers.map(({ id, tenant }) => keyed(tenant, id)))
  const erased = new Set(
    books.customers.flatMap(({ id, isErased, tenant }) => (isErased === true ? [keyed(tenant, id)] : [])),
  )
  const subscriptions = new Map(
    books.subscriptions.map(({ subscription, tenant }) => [keyed(tenant, subscription.id), subscription]),
  )
  const invoices = new Set(books.invoices.map(({ invoice, tenant }) => keyed(tenant, invoice.id)))
  const payments = new Set(books.payments?.map(({ payment, tenant }) => keyed(tenant, payment.id)))
  const problems: Array<string> = []
  for (const { subscription, tenant } of books.subscriptions) {
    if (!customers.has(keyed(tenant, subscription.customerId)))
      problems.push(`${subscription.id} has no customer`)
  }
  for (const one of books.invoices) {
    const { causes, customerId, state } = one.invoice
    const billed = new Set<string | undefined>(causes.map((cause) => cause.subscriptionId))
    const owners = causes.map((cause) => subscriptions.get(keyed(one.tenant, cause.subscriptionId)))
    const isOurs =
      customers.has(keyed(one.tenant, customerId)) &&
      owners.every((owner) => owner?.customerId === customerId && owner.state.currency === state.currency)
    if (!isOurs) problems.push(`${nameOf(one)} has another customer, subscription or currency`)
    const isAbroad = state.lines.some(
      ({ creditOf, origin }) =>
        (origin !== null && !billed.has(origin.subscriptionId)) ||
        (creditOf !== null && !invoices.has(keyed(one.tenant, creditOf.invoiceId))),
    )
    if (isAbroad) problems.push(`${nameOf(one)} has a line of another subscription`)
  }
  problems.push(...belongings(books))
  for (const [name, all] of readSnapshots(books)) {
    const last = all.at(-1)!
    const isDeleted = last.type === "invoice.deleted"
    const isKnown = invoices.has(name) || subscriptions.has(name) || payments.has(name)
    const isRight = isKnown ? !isDeleted : isDeleted || isDeletedUntold(last, erased)
    if (!isRight)
      problems.push(`there are events of ${name}, which its tenant ${isDeleted ? "has" : "has not"}`)
    const currencies = new Set(all.map(({ currency }) => currency))
    if (currencies.size > 1) problems.push(`the events of ${name} have several currencies`)
  }
  return problems
}

/** The invariants that hold for any books: those of real processes, too. */
export const bookCheckers = {
  J1: ofInvoices(problemsOfLines),
  J2: sumsAreRight,
  J3: documentsGiveTheCosts,
  J4: numbersAreConsecutive,
  J5: issuedDocumentsStay,
  J10: changesArePublished,
  J11: nothingIsShared,
  coupons: couponsGiveWhatTheyPromise,
  items: itemsComeToWhatWasGiven,
  groups: groupsShareInvoices,
  taxes: taxesAreRight,
  clocks: clocksAreFollowed,
  migrations: migrationsAreWhole,
} satisfies Readonly<Record<string, Check<Books>>>

export const billingCheckers = {
  /** No fiber dies of a bug. */
  J0: ({ defects }: Pick<BillingHistory, "defects">) => defects,
  ...bookCheckers,
  J8: outcomeIsTheSame,
} satisfies Readonly<Record<string, Check<BillingHistory>>>

export type BillingInvariant = keyof typeof billingCheckers

export interface BillingViolation {
  readonly invariant: BillingInvariant
  readonly problem: string
}

const judgedBy = <B>(checkers: Readonly<Record<string, Check<B>>>, books: B) =>
  Object.entries(checkers).flatMap(([name, check]) =>
    check(books).map((problem) => ({ invariant: name as BillingInvariant, problem })),
  )

/** Everything that contradicts an invariant. */
export const judgeBilling = (history: BillingHistory): ReadonlyArray<BillingViolation> =>
  judgedBy(billingCheckers, history)

/** Everything in the books that contradicts an invariant. */
export const judgeBooks = (books: Books): ReadonlyArray<BillingViolation> => judgedBy(bookCheckers, books)

/**
 * The invariants of billing. Each has a checker, which takes the books and returns everything that contradicts it.
 */
import { type Invoice, Tenant } from "@billwright/core"
import { issuedText, problemsOfLines, problemsOfSeries, problemsOfSums } from "@billwright/engine"
import type { BillingHistory, Books } from "./Books.ts"
import { costsOf, subjectOf } from "./Ledger.ts"
import { readSnapshots, type Snapshot } from "./Snapshots.ts"

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

/** J3: what the invoices of a subscription state of a period is what the period costs, once late usage is settled. */
const documentsGiveTheCosts: Check<Books> = (books) =>
  books.subscriptions.flatMap((one) => {
    const { customerId, id } = one.subscription
    const invoices = books.invoices.filter(({ invoice }) => invoice.subscriptionId === id)
    const until = Math.max(...invoices.map(({ invoice }) => invoice.cause?.at ?? 0))
    const last = Math.max(...invoices.map(({ invoice }) => invoice.state.issuedAt ?? 0))
    const isUnsettled = books.records.some(({ record }) => {
      const written = Math.max(record.createdAt.epochMilliseconds, record.voidedAt?.epochMilliseconds ?? 0)
      return record.customerId === customerId && record.timestamp.epochMilliseconds < until && written >= last
    })
    if (invoices.length === 0 || isUnsettled) return []
    const documented = new Map<string, { gross: bigint; left: bigint }>()
    for (const { invoice } of invoices) {
      for (const { charge, net, origin } of invoice.state.lines) {
        if (origin?.subscriptionId !== id) continue
        const subject = subjectOf(origin.period, origin.segment, charge, origin.group)
        const { gross, left } = documented.get(subject) ?? { gross: 0n, left: 0n }
        const isCharged = invoice.state.status !== "void"
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

/** J4: numbers are consecutive, and their instants never fall. */
const numbersAreConsecutive: Check<Books> = ({ invoices, numberFormat }) =>
  [...byTenant(invoices)].flatMap(([tenant, all]) => {
    const issued = all
      .flatMap(({ invoice: { state } }) =>
        state.number === null || state.issuedAt === null
          ? []
          : [{ number: state.number, issuedAt: state.issuedAt }],
      )
      .toSorted((a, b) => (a.number < b.number ? -1 : 1))
    return problemsOfSeries(numberFormat, issued).map(({ path, problem }) => `${tenant}: ${path} ${problem}`)
  })

/** J5: an issued invoice never changes. */
const issuedInvoicesStay: Check<Books> = ({ invoices, seen }) => {
  const texts = new Map(
    invoices.map((one) => [
      nameOf(one),
      one.invoice.state.status === "draft" ? "a draft" : issuedText(one.invoice.state),
    ]),
  )
  return seen.flatMap(({ id, tenant, text }) => {
    const name = `${Tenant.tenantKey(tenant)} ${id}`
    return texts.get(name) === text
      ? []
      : [`${name} stated ${text}, and states ${texts.get(name) ?? "nothing"}`]
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

const eventsOfInvoice = (one: OneInvoice, all: ReadonlyArray<Snapshot>): ReadonlyArray<string> => {
  const { state } = one.invoice
  const types = all.map(({ type }) => type)
  const expected = expectedOf(state)
  const last = all.at(-1)
  return [
    ...(expected.every((type) => types.filter((other) => other === type).length === 1)
      ? []
      : [`${nameOf(one)} is ${state.status}, and has the events ${types.join(", ")}`]),
    ...(state.status === "draft" || (last?.sequence === state.sequence && last.total === String(state.total))
      ? []
      : [`${nameOf(one)} has changed since its last event`]),
  ]
}

/** J10: each change of a subscription and of an invoice has published its event, with a rising sequence. */
const changesArePublished: Check<Books> = (books) => {
  const snapshots = readSnapshots(books)
  const of = (tenant: Tenant.Tenant, id: string) => snapshots.get(`${Tenant.tenantKey(tenant)} ${id}`) ?? []
  const falling = [...snapshots].flatMap(([name, all]) =>
    all.every(({ sequence }, index) => index === 0 || sequence > all[index - 1]!.sequence)
      ? []
      : [`the sequences of ${name} do not rise: ${all.map(({ sequence }) => sequence).join(", ")}`],
  )
  const subscriptions = books.subscriptions.flatMap(({ subscription, tenant }) => {
    const { id, state } = subscription
    const all = of(tenant, id)
    const last = all.at(-1)
    return all.length === state.sequence && last?.sequence === state.sequence && last.phase === state.phase
      ? []
      : [`${id} is ${state.phase} at ${state.sequence}, and its last event is ${JSON.stringify(last)}`]
  })
  const invoices = books.invoices.flatMap((one) => eventsOfInvoice(one, of(one.tenant, one.invoice.id)))
  return [...falling, ...subscriptions, ...invoices]
}

/** J11: nothing crosses accounts, modes or currencies. */
const nothingIsShared: Check<Books> = (books) => {
  const keyed = (tenant: Tenant.Tenant, id: string) => `${Tenant.tenantKey(tenant)} ${id}`
  const customers = new Set(books.customers.map(({ id, tenant }) => keyed(tenant, id)))
  const subscriptions = new Map(
    books.subscriptions.map(({ subscription, tenant }) => [keyed(tenant, subscription.id), subscription]),
  )
  const invoices = new Set(books.invoices.map(({ invoice, tenant }) => keyed(tenant, invoice.id)))
  const problems: Array<string> = []
  for (const { subscription, tenant } of books.subscriptions) {
    if (!customers.has(keyed(tenant, subscription.customerId)))
      problems.push(`${subscription.id} has no customer`)
  }
  for (const one of books.invoices) {
    const { customerId, state, subscriptionId } = one.invoice
    const owner = subscriptionId === null ? undefined : subscriptions.get(keyed(one.tenant, subscriptionId))
    const isOurs =
      customers.has(keyed(one.tenant, customerId)) &&
      (subscriptionId === null ||
        (owner?.customerId === customerId && owner.state.currency === state.currency))
    if (!isOurs) problems.push(`${nameOf(one)} has another customer, subscription or currency`)
    const isAbroad = state.lines.some(
      ({ creditOf, origin }) =>
        (origin !== null && origin.subscriptionId !== subscriptionId) ||
        (creditOf !== null && !invoices.has(keyed(one.tenant, creditOf.invoiceId))),
    )
    if (isAbroad) problems.push(`${nameOf(one)} has a line of another subscription`)
  }
  for (const [name, all] of readSnapshots(books)) {
    const isKnown = invoices.has(name) || subscriptions.has(name)
    if (!isKnown) problems.push(`there are events of ${name}, which its tenant has not`)
    const currencies = new Set(all.map(({ currency }) => currency))
    if (currencies.size > 1) problems.push(`the events of ${name} have several currencies`)
  }
  return problems
}

/** The invariants that hold for any books: those of real processes, too. */
const bookCheckers = {
  J1: ofInvoices(problemsOfLines),
  J2: ofInvoices(problemsOfSums),
  J3: documentsGiveTheCosts,
  J4: numbersAreConsecutive,
  J5: issuedInvoicesStay,
  J10: changesArePublished,
  J11: nothingIsShared,
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

/**
 * Writes invoices: drafts, their finalization, and what happens to them afterwards. Each publishes its events.
 */
import {
  applyToInvoice,
  assemble,
  type DiscountInput,
  draftOf,
  dueAtOf,
  type Invoice as EngineInvoice,
  type InvoiceInput,
  type LineInput,
  type LineOrigin,
  redraft,
  stepsOfAmount,
  taxLines,
  type TaxCustomer,
} from "@billwright/engine"
import * as Engine from "@billwright/engine"
import { DateTime, Effect, Option } from "effect"
import { type Customer, type CustomerId, customers } from "../customers/Customer.ts"
import { Outbox } from "../events/Outbox.ts"
import { ActionUnavailable } from "../shared/ActionUnavailable.ts"
import { type CollectionOf, Collections } from "../shared/Collections.ts"
import { IdGenerator } from "../shared/Id.ts"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { Collecting, type PaymentCollector } from "./Collecting.ts"
import { Crediting, type Creditor, NO_CREDITS, type OpenCredits, type Purpose } from "./Crediting.ts"
import { overdueAtOf, type StoredInvoice } from "./Invoice.ts"
import { dataOf, invoiceEvents } from "./InvoiceEvents.ts"
import { type InvoiceItem, invoiceItems } from "./InvoiceItem.ts"
import { InvoiceSettings, type Settings } from "./InvoiceSettings.ts"
import type { InvoiceStore } from "./InvoiceStore.ts"
import { ItemLines, type ItemsOfSubscription, lineOfItem, withinTotal } from "./ItemLines.ts"
import { nextNumber } from "./NextNumber.ts"
import { givenLines } from "./OneOffInvoice.ts"
import { type Prover, Proving } from "./Proving.ts"
import { type BilledTo, type Rates, ratesOf, type TaxAnswer, type TaxesUnknown } from "./Taxes.ts"

/**
 * The lines with amounts of 0, and without quantities: they bill nothing of what was used. Those of the items are left
 * out, because a later invoice has them.
 */
const zeroed = (
  { currency, lines }: EngineInvoice,
  items: ReadonlyArray<InvoiceItem>,
): ReadonlyArray<LineInput> => {
  const digits = Engine.Currency.exponentOf(currency) ?? 0
  const kept = lines.filter(({ id }) => !items.some((item) => item.id === id))
  return kept.map((line) => ({
    ...line,
    quantity: null,
    receipt: null,
    amount: 0n,
    origin: line.origin === null ? null : zeroedOrigin(line.origin),
    steps: stepsOfAmount(0n, digits),
  }))
}

const zeroedOrigin = ({ burns = null, ...origin }: LineOrigin): LineOrigin => ({
  ...origin,
  gross: 0n,
  ...(burns === null ? {} : { burns: { ...burns, amount: 0n, gross: 0n } }),
})

/** Whether an invoice bills credits that the customer buys. */
export const isTopUp = (lines: ReadonlyArray<LineInput>): boolean =>
  lines.some(({ kind }) => kind === "top_up")

type Written<A> = Effect.Effect<A, InvalidInput | StorageError, CurrentTenant>

/** A draft with its amounts computed again. */
export interface Redrafted {
  readonly draft: StoredInvoice
  /** The items that it has. */
  readonly items: ReadonlyArray<InvoiceItem>
  /** Why it can't be issued yet. */
  readonly unknown?: TaxesUnknown | undefined
  /** When its customer has to pay. */
  readonly terms: PaymentTerms
  /** The credits that it was computed with. */
  readonly credits: OpenCredits
  /** Whether it is stored. If it is not, it has to be finalized in the same transaction. */
  readonly isStored: boolean
}

/** When a customer has to pay: the end of a day where it is, so many days after the invoice is issued. */
type PaymentTerms = Pick<Settings, "netDays" | "timezone">

/** What lowers an invoice, besides its lines. */
export type Deductions = Pick<DiscountInput, "coupons">

/** How a draft is computed again. */
export interface Redrafting {
  readonly answer?: TaxAnswer | undefined
  readonly deductions?: Deductions | undefined
  readonly purpose: Purpose
}

/** When a draft is made. */
export interface Making {
  /** When it was due to be made, in epoch milliseconds. `null`: it has no items. */
  readonly itemsUntil: number | null
  /** The instant by which it may be issued at once, in epoch milliseconds. `undefined`: it waits for its turn. */
  readonly issueBy?: number | undefined
}

/** What taxes depend on, besides the lines. */
interface Taxing {
  /** The items among the lines. */
  readonly items: ReadonlyArray<InvoiceItem>
  readonly customerId: CustomerId
  readonly currency: string
  /** When the supply counts as made, in epoch milliseconds. */
  readonly at: number
  readonly before?: StoredInvoice["taxedBy"]
  readonly answer?: TaxAnswer | undefined
  readonly deductions?: Deductions | undefined
  readonly purpose: Purpose
}

/** A customer of whom nothing is known any more. */
const UNKNOWN_CUSTOMER: TaxCustomer = { country: null, taxId: null, taxStatus: "taxable" }

/** Writes invoices in the current transaction. */
export class InvoiceBook {
  readonly #store: InvoiceStore["Service"]
  readonly #outbox: Outbox["Service"]
  readonly #customers: CollectionOf<typeof customers>
  readonly #items: ItemLines
  readonly #settings: Settings
  readonly #collecting: PaymentCollector
  readonly #credits: Creditor
  readonly #proving: Prover

  constructor(
    store: InvoiceStore["Service"],
    outbox: Outbox["Service"],
    customerStore: CollectionOf<typeof customers>,
    items: ItemLines,
    settings: Settings,
    collecting: PaymentCollector,
    credits: Creditor,
    proving: Prover,
  ) {
    this.#store = store
    this.#outbox = outbox
    this.#customers = customerStore
    this.#items = items
    this.#settings = settings
    this.#collecting = collecting
    this.#credits = credits
    this.#proving = proving
  }

  /**
   * Makes a draft, unless it has no lines. It picks up the items that were created by `itemsUntil`, in epoch milliseconds:
   * when it was due to be made (`null`: none). So it does not matter how late that is done. Stores the draft, unless its taxes are known
   * and it is due by `issueBy`: then the caller finalizes it in the same transaction, and it is stored only then.
   */
  draft(
    fields: Omit<StoredInvoice, "state" | "failure" | "pastDueSince" | "taxedBy" | keyof Endings>,
    header: Omit<Engine.InvoiceHeader, "id" | "customerId" | "subscriptionId">,
    lines: ReadonlyArray<LineInput>,
    { issueBy, itemsUntil, ...deductions }: Deductions & Making,
  ): Written<Redrafted | undefined> {
    return Effect.gen({ self: this }, function* () {
      const { causes, createdAt, customerId, id, subscriptionId } = fields
      const at = causes[0]?.effect.at ?? createdAt.epochMilliseconds
      const { currency } = header
      const of = { customerId, subscriptionIds: causes.map((cause) => cause.subscriptionId), currency }
      const items =
        itemsUntil === null
          ? []
          : yield* this.#items.take({ ...of, createdBy: itemsUntil }, id, lines.length > 0)
      const all = [...lines, ...items.map(lineOfItem)]
      if (all.length === 0) return undefined
      const isDue = isDueBy(fields, issueBy)
      const purpose = isDue ? "issue" : "read"
      const taxing = { items, customerId, currency, at, deductions, purpose } as const
      const { amounts, credits, rates, terms } = yield* this.#priced(all, taxing)
      const state = draftOf({ ...header, id, customerId, subscriptionId }, amounts)
      const stored: StoredInvoice = {
        ...fields,
        state,
        taxedBy: rates.stored,
        pastDueSince: null,
        voidedAt: null,
        writtenOffAt: null,
        failure: null,
      }
      const isStored = !isDue || rates.unknown !== undefined
      if (isStored) yield* this.#store.insert(stored)
      yield* this.#publish(stored, "invoice.created")
      return { draft: stored, items, unknown: rates.unknown, terms, credits, isStored }
    })
  }

  /**
   * The draft with other lines of its subscription, those of its items and those that it was made with, and taxes as they
   * are now. When all lines but credits of items have
   * fallen away, it keeps those that it has, with amounts of 0: it was announced, so that it is issued, too.
   */
  redraft(
    stored: StoredInvoice,
    given: ReadonlyArray<LineInput>,
    { answer, deductions, purpose }: Redrafting,
  ): Effect.Effect<Redrafted, StorageError, CurrentTenant> {
    return Effect.gen({ self: this }, function* () {
      const { causes, customerId, state, taxedBy } = stored
      const { epochMilliseconds: now } = yield* DateTime.now
      const items = yield* this.#items.of(stored.id)
      const lines = [...given, ...givenLines(state.lines)]
      const all = [...lines, ...items.map(lineOfItem)]
      const hasCharges = lines.length > 0 || items.some(({ amount }) => amount > 0n)
      const { amounts, credits, rates, terms } = yield* this.#priced(
        hasCharges ? all : zeroed(state, items),
        {
          items,
          customerId,
          currency: state.currency,
          at: causes[0]?.effect.at ?? now,
          before: taxedBy,
          answer: answer ?? answerOf(taxedBy),
          deductions,
          purpose,
        },
      )
      const draft = { ...stored, state: redraft(state, amounts), taxedBy: rates.stored }
      return { draft, items, unknown: rates.unknown, terms, credits, isStored: true }
    })
  }

  /** The amounts of lines. A draft has at least one. */
  #priced(
    lines: ReadonlyArray<LineInput>,
    { answer, at, before, currency, customerId, deductions, items, purpose }: Taxing,
  ) {
    return Effect.gen({ self: this }, function* () {
      const found = yield* this.#customers.find(customerId)
      const customer = Option.match(found, {
        onNone: () => before?.customer ?? UNKNOWN_CUSTOMER,
        onSome: taxCustomerOf,
      })
      const { netDays, tax, timezone } = this.#settings
      const own = Option.getOrUndefined(found)
      const terms = { netDays: own?.netDays ?? netDays, timezone: own?.timezone ?? timezone }
      const taxPoint = Engine.LocalTime.format(Engine.LocalTime.ofInstant(at, timezone)).slice(0, 10)
      // Credits are bought with money, and not with credits.
      const credits = isTopUp(lines)
        ? NO_CREDITS
        : yield* this.#credits.open({ customerId, currency, lines }, purpose)
      const { paid, promotional } = credits
      const waiting = new Set<string>(items.map(({ id }) => id))
      const lowered = { ...deductions, promotional, waiting }
      // Nobody has to be asked about lines that are not taxed, as of credits in a currency.
      const isTaxed = lines.some(({ fixedTax }) => fixedTax?.rate !== "0")
      const taxed = ratesOf(
        isTaxed ? tax : null,
        { currency, taxPoint, customer, lines: taxLines({ ...lowered, lines }) },
        answer,
      )
      const billedTo = own === undefined ? before?.billedTo : billedToOf(own)
      const rates: Rates =
        billedTo === undefined ? taxed : { ...taxed, stored: { ...taxed.stored, billedTo } }
      const ofLines = (some: ReadonlyArray<LineInput>) =>
        assemble({ ...lowered, lines: some, quote: rates.quote, paid })
      const amounts = ofLines(withinTotal(lines, items, currency, (some) => ofLines(some)?.total ?? 0n))
      if (amounts === undefined) return yield* Effect.die(new TypeError("a draft has no lines"))
      return { amounts, credits, rates, terms }
    })
  }

  /** Gives a draft of subscriptions, which is to be issued, what invoices before it left of credits. See `ItemLines`. */
  takeRests({ causes, customerId, id, state }: StoredInvoice, itemsUntil: number) {
    const subscriptionIds = causes.map(({ subscriptionId }) => subscriptionId)
    const { currency } = state
    // What was created at that very instant may have been created after the draft.
    const createdBy = itemsUntil - 1
    return this.#items.takeRests({ customerId, subscriptionIds, currency, createdBy }, id)
  }

  /** Leaves the items of a subscription that has ended to its customer's other invoices. It has no other ones than its drafts. */
  unbindItems(
    of: ItemsOfSubscription,
    drafts: ReadonlyArray<StoredInvoice>,
  ): Effect.Effect<void, StorageError, CurrentTenant> {
    return this.#items.unbind(
      of,
      drafts.map(({ id }) => id),
    )
  }

  /** Stores a draft that was made again. */
  save(stored: StoredInvoice): Effect.Effect<void, StorageError, CurrentTenant> {
    return this.#store.save(stored)
  }

  /**
   * Issues a draft that the current transaction holds: it gets its number, and is paid at once if nothing is due. Fails
   * with `TaxesUnknown` if its taxes are not known.
   */
  finalize({
    credits,
    draft,
    isStored,
    items,
    terms,
    unknown,
  }: Redrafted): Effect.Effect<StoredInvoice, InvalidInput | StorageError | TaxesUnknown, CurrentTenant> {
    const { numberFormat, timezone } = this.#settings
    return Effect.gen({ self: this }, function* () {
      if (unknown !== undefined) return yield* unknown
      yield* this.#items.settle(items, draft.state.lines)
      const style = { format: numberFormat, timezone }
      const { issuedAt, number } = yield* nextNumber(this.#store, "invoice", style)
      const dueAt = dueAtOf(issuedAt, terms.netDays, terms.timezone)
      const input: InvoiceInput = { action: "finalize", number, issuedAt, dueAt }
      const issued = yield* this.#change(draft, input, isStored ? this.#store.save : this.#store.insert).pipe(
        Effect.catchTag("ActionUnavailable", Effect.die),
      )
      yield* this.#proving.prove(issued)
      yield* credits.apply(issued)
      const { customerId, id, state } = issued
      const account = { customerId, currency: state.currency }
      yield* this.#credits.give(account, state.credited, { type: "invoice", id })
      return yield* this.#collecting.begin(issued, this.#store)
    })
  }

  /** Marks a draft that the current transaction holds as ready: the next billing run issues it. */
  markReady({ draft }: Redrafted): Effect.Effect<StoredInvoice, StorageError, CurrentTenant> {
    return Effect.gen({ self: this }, function* () {
      const updatedAt = yield* DateTime.now
      const ready = { ...draft, dueAt: updatedAt.epochMilliseconds, failure: null, updatedAt }
      yield* this.#store.save(ready)
      return ready
    })
  }

  /** Removes a draft that the current transaction holds. Its items are pending again. */
  remove(draft: StoredInvoice): Written<void> {
    return Effect.gen({ self: this }, function* () {
      const { id, state } = draft
      yield* this.#items.release(id)
      yield* this.#store.remove(id)
      yield* this.#credits.settleTopUp({ ...draft, state: { ...state, status: "void" } })
      const removed = { ...draft, state: { ...state, sequence: state.sequence + 1 } }
      yield* this.#publish(removed, "invoice.deleted")
    })
  }

  /**
   * Takes note that the due date of an issued invoice is over, which is done once. The current transaction holds the
   * invoice. If it is open, its payment is late.
   */
  noteDueDate(stored: StoredInvoice): Written<void> {
    return Effect.gen({ self: this }, function* () {
      const { state } = stored
      const noted = { ...stored, dueAt: null, failure: null }
      if (state.status !== "open") return yield* this.#store.save(noted)
      const overdue: StoredInvoice = {
        ...noted,
        state: { ...state, sequence: state.sequence + 1 },
        pastDueSince: stored.pastDueSince ?? stored.dueAt,
        updatedAt: yield* DateTime.now,
      }
      yield* this.#store.save(overdue)
      yield* this.#publish(overdue, "invoice.overdue")
    })
  }

  /** Applies an action to an invoice that the current transaction holds. */
  apply(
    stored: StoredInvoice,
    input: InvoiceInput,
  ): Effect.Effect<StoredInvoice, ActionUnavailable | InvalidInput | StorageError, CurrentTenant> {
    return this.#change(stored, input, this.#store.save)
  }

  #change(
    stored: StoredInvoice,
    input: InvoiceInput,
    write: InvoiceStore["Service"]["save"],
  ): Effect.Effect<StoredInvoice, ActionUnavailable | InvalidInput | StorageError, CurrentTenant> {
    return Effect.gen({ self: this }, function* () {
      const change = applyToInvoice(stored.state, input)
      if (change.type === "rejected") {
        const problem = `${input.action} is not possible: the invoice ${change.problem}`
        return yield* new ActionUnavailable({ object: "invoice", id: stored.id, problem })
      }
      const updatedAt = yield* DateTime.now
      const changed: StoredInvoice = {
        ...stored,
        state: change.invoice,
        dueAt: dueAfter(stored, change.invoice),
        failure: null,
        ...endingsAfter(stored, change.invoice, updatedAt.epochMilliseconds),
        updatedAt,
      }
      yield* write(changed)
      if (input.action === "void") {
        yield* this.#items.giveBack(stored.id)
        yield* this.#credits.restore(changed)
      }
      if (stored.state.status !== changed.state.status) yield* this.#credits.settleTopUp(changed)
      if (input.action !== "finalize") yield* this.#collecting.review(changed)
      const { events } = change
      for (const [index, event] of events.entries()) {
        const sequence = changed.state.sequence - (events.length - 1 - index)
        yield* this.#publish({ ...changed, state: { ...changed.state, sequence } }, event)
      }
      return changed
    })
  }

  #publish(stored: StoredInvoice, event: keyof typeof invoiceEvents): Written<void> {
    const { customerId } = stored
    return Effect.asVoid(this.#outbox.publish(invoiceEvents[event], dataOf(stored), { customerId }))
  }
}

/** When the due date of an invoice has to be noted after a change: once, while it is open. */
const dueAfter = ({ dueAt, state }: StoredInvoice, changed: EngineInvoice): number | null => {
  if (changed.status !== "open") return null
  return state.status === "draft" ? overdueAtOf(changed) : dueAt
}

type Endings = Pick<StoredInvoice, "voidedAt" | "writtenOffAt">

/** When an invoice was voided and written off, after a change at an instant. One that is open again never was. */
const endingsAfter = (before: StoredInvoice, { status }: EngineInvoice, at: number): Endings => {
  const writtenOffAt = before.state.status === "uncollectible" ? before.writtenOffAt : at
  return {
    voidedAt: status === "void" ? at : null,
    writtenOffAt: status === "uncollectible" ? writtenOffAt : status === "open" ? null : before.writtenOffAt,
  }
}

const isDueBy = ({ dueAt }: Pick<StoredInvoice, "dueAt">, by: number | undefined): boolean =>
  dueAt !== null && by !== undefined && dueAt <= by

const taxCustomerOf = ({ country, taxId, taxStatus }: Customer): TaxCustomer => ({
  country,
  taxId,
  taxStatus,
})

const billedToOf = ({ address, locale, name, timezone }: Customer): BilledTo => ({
  name,
  address,
  locale,
  timezone,
})

const answerOf = ({ asked, quote }: StoredInvoice["taxedBy"]): TaxAnswer | undefined =>
  asked === null || quote === null ? undefined : { asked, quote }

/** What makes the book of a store. */
export const invoiceBooks = Effect.gen(function* () {
  const outbox = yield* Outbox
  const collections = yield* Collections
  const items = new ItemLines(collections.of(invoiceItems), yield* IdGenerator)
  const settings = yield* InvoiceSettings
  const collecting = yield* Collecting
  const credits = yield* Crediting
  const proving = yield* Proving
  return (store: InvoiceStore["Service"]): InvoiceBook =>
    new InvoiceBook(store, outbox, collections.of(customers), items, settings, collecting, credits, proving)
})

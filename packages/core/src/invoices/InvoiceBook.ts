/**
 * Writes invoices: drafts, their finalization, and what happens to them afterwards. Each publishes its events.
 */
import {
  applyToInvoice,
  type Assembled,
  assemble,
  draftOf,
  dueAtOf,
  type Invoice as EngineInvoice,
  type InvoiceInput,
  type LineInput,
  redraft,
  stepsOfAmount,
  taxLines,
  type TaxRate,
} from "@billwright/engine"
import * as Engine from "@billwright/engine"
import { DateTime, Effect } from "effect"
import type { Outbox } from "../events/Outbox.ts"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { ActionUnavailable } from "./ActionUnavailable.ts"
import type { StoredInvoice } from "./Invoice.ts"
import { dataOf, invoiceEvents } from "./InvoiceEvents.ts"
import type { InvoicesOptions } from "./InvoiceSettings.ts"
import type { InvoiceStore } from "./InvoiceStore.ts"
import { nextNumber } from "./NextNumber.ts"

/** There is no tax. */
const NO_TAX: TaxRate = { category: "O", rate: "0", country: null, reason: "Not subject to tax" }

/** The amounts of lines. `undefined` if there are none. */
const assembled = (lines: ReadonlyArray<LineInput>): Assembled | undefined =>
  assemble({
    lines,
    quote: {
      behavior: "exclusive",
      rates: Object.fromEntries(taxLines({ lines }).map(({ id }) => [id, NO_TAX])),
    },
  })

/** The lines with amounts of 0, and without quantities: they bill nothing of what was used. */
const zeroed = ({ currency, lines }: EngineInvoice): ReadonlyArray<LineInput> => {
  const digits = Engine.Currency.exponentOf(currency) ?? 0
  return lines.map((line) => ({
    ...line,
    quantity: null,
    amount: 0n,
    origin: line.origin === null ? null : { ...line.origin, gross: 0n },
    steps: stepsOfAmount(0n, digits),
  }))
}

type Written<A> = Effect.Effect<A, InvalidInput | StorageError, CurrentTenant>

/** Writes invoices in the current transaction. */
export class InvoiceBook {
  readonly #store: InvoiceStore["Service"]
  readonly #outbox: Outbox["Service"]
  readonly #settings: Required<InvoicesOptions>

  constructor(
    store: InvoiceStore["Service"],
    outbox: Outbox["Service"],
    settings: Required<InvoicesOptions>,
  ) {
    this.#store = store
    this.#outbox = outbox
    this.#settings = settings
  }

  /** Stores a draft, unless it has no lines. */
  draft(
    fields: Omit<StoredInvoice, "state" | "failure">,
    header: Omit<Engine.InvoiceHeader, "id" | "customerId" | "subscriptionId">,
    lines: ReadonlyArray<LineInput>,
  ): Written<void> {
    const amounts = assembled(lines)
    if (amounts === undefined) return Effect.void
    const { customerId, id, subscriptionId } = fields
    const state = draftOf({ ...header, id, customerId, subscriptionId }, amounts)
    const stored: StoredInvoice = { ...fields, state, failure: null }
    return Effect.andThen(this.#store.insert(stored), this.#publish(stored, "invoice.created"))
  }

  /**
   * The draft with other lines. When they have all fallen away, it keeps those that it has, with amounts of 0: it was
   * announced, so that it is issued, too.
   */
  redraft(stored: StoredInvoice, lines: ReadonlyArray<LineInput>): StoredInvoice {
    const amounts = assembled(lines)
    const state = amounts ?? assembled(zeroed(stored.state))
    return state === undefined ? stored : { ...stored, state: redraft(stored.state, state) }
  }

  /** Stores a draft that was made again. */
  save(stored: StoredInvoice): Effect.Effect<void, StorageError, CurrentTenant> {
    return this.#store.save(stored)
  }

  /** Issues a draft that the current transaction holds: it gets its number, and is paid at once if nothing is due. */
  finalize(draft: StoredInvoice): Written<StoredInvoice> {
    const { netDays, numberFormat, timezone } = this.#settings
    return Effect.gen({ self: this }, function* () {
      const style = { format: numberFormat, timezone }
      const { issuedAt, number, save } = yield* nextNumber(this.#store, "invoice", style)
      const dueAt = dueAtOf(issuedAt, netDays, timezone)
      const input: InvoiceInput = { action: "finalize", number, issuedAt, dueAt }
      const issued = yield* this.apply(draft, input).pipe(Effect.catchTag("ActionUnavailable", Effect.die))
      yield* save
      return issued
    })
  }

  /** Applies an action to an invoice that the current transaction holds. */
  apply(
    stored: StoredInvoice,
    input: InvoiceInput,
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
        dueAt: null,
        failure: null,
        updatedAt,
      }
      yield* this.#store.save(changed)
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

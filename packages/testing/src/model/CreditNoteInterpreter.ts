/**
 * Runs commands about credit notes, and about what invoices have taken off and given back, on a storage and on the
 * reference, and compares their answers.
 */
import {
  type CreditNote,
  CreditNoteStore,
  type Invoice,
  InvoiceStore,
  type Subscription,
  type Tenant,
  Transactor,
} from "@billwright/core"
import { Effect, Option } from "effect"
import { asTenant, same } from "../contract/ContractTest.ts"
import { creditedBy, creditNoteOf, seriesOf } from "../contract/InvoicingProbe.ts"
import type { InvoicingVerb } from "./InvoicingCommand.ts"
import {
  type InvoicingServices,
  type InvoicingWorld,
  isOf,
  nth,
  ofOwner,
  pageFrom,
} from "./InvoicingWorld.ts"

type CommandOf<Name extends InvoicingVerb["command"]> = Extract<InvoicingVerb, { readonly command: Name }>

/** Credits the next part of an issued invoice, if as much is left of it. */
const credit = Effect.fnUntraced(function* (
  { creditNotes, reference }: InvoicingWorld,
  tenant: Tenant.Tenant,
  id: string,
) {
  const [notes, invoices] = [yield* CreditNoteStore, yield* InvoiceStore]
  const found = Option.getOrUndefined(yield* invoices.lockWithSubscriptions(id as Invoice.InvoiceId))
  same(found, reference.invoice(tenant, id))
  if (found?.state.status !== "open") return
  const counter = (reference.series(tenant, "credit_note")?.last ?? 0) + 1
  const made = yield* creditNoteOf(found, counter)
  const note = { ...made, number: `CN-2026-${String(counter).padStart(4, "0")}` }
  const count = reference.creditNotesOf(tenant, id).length + 1
  const [first] = found.state.lines
  const credited = note.total * BigInt(count)
  if (credited > found.state.total || credited > first!.amount - first!.discount) return
  const known = yield* invoices.lockSeries("credit_note")
  same(Option.getOrUndefined(known), reference.series(tenant, "credit_note"))
  const value = creditedBy(found, count)
  const series = seriesOf("CN-", counter)
  reference.saveInvoice(tenant, value)
  reference.insertCreditNote(tenant, note)
  reference.saveSeries(tenant, "credit_note", series)
  creditNotes.push({ tenant, id: note.id })
  yield* invoices.save(value)
  yield* notes.insert(note)
  yield* invoices.saveSeries("credit_note", series)
})

export const creditNoteVerb = Effect.fnUntraced(function* (
  world: InvoicingWorld,
  command: CommandOf<
    "creditNote" | "findCreditNote" | "listCreditNotes" | "creditNotesOf" | "creditsOf" | "couponUses"
  >,
): Effect.fn.Return<unknown, unknown, InvoicingServices> {
  const { creditNotes, invoices, reference, subscriptions, tenants } = world
  const [store, invoiceStore] = [yield* CreditNoteStore, yield* InvoiceStore]
  const transactor = yield* Transactor
  const { tenant } = tenants[command.tenant]!
  const theirs = asTenant(tenant)
  switch (command.command) {
    case "creditNote":
      return yield* ofOwner(nth(invoices, command.invoice), (id, owner) =>
        transactor.atomically(credit(world, owner, id)),
      )
    case "findCreditNote": {
      const id = nth(creditNotes, command.note)?.id as CreditNote.CreditNoteId
      if (id === undefined) return
      return same(Option.getOrUndefined(yield* theirs(store.find(id))), reference.creditNote(tenant, id))
    }
    case "listCreditNotes": {
      const own = creditNotes.filter((one) => isOf(tenant, one, reference))
      const after = command.after === null ? undefined : nth(own, command.after)
      const invoiceId =
        command.invoice === null ? undefined : (nth(invoices, command.invoice)?.id as Invoice.InvoiceId)
      const page = yield* theirs(store.list({ invoiceId }, pageFrom(command.limit, after)))
      const isAsked = (note: CreditNote.CreditNote) => invoiceId === undefined || note.invoiceId === invoiceId
      const asked = { limit: command.limit, after: after?.id }
      return same(page, reference.listCreditNotes(tenant, isAsked, asked))
    }
    case "creditNotesOf": {
      const id = nth(invoices, command.invoice)?.id as Invoice.InvoiceId
      if (id === undefined) return
      return same(yield* theirs(store.ofInvoice(id)), reference.creditNotesOf(tenant, id))
    }
    case "creditsOf": {
      const id = nth(invoices, command.invoice)?.id as Invoice.InvoiceId
      if (id === undefined) return
      return same(yield* theirs(invoiceStore.creditsOf(id)), reference.creditsOf(tenant, id))
    }
    case "couponUses": {
      const id = nth(subscriptions, command.subscription)?.id as Subscription.StoredSubscription["id"]
      if (id === undefined) return
      const found = yield* theirs(invoiceStore.couponUses(id, command.from))
      return same(found, reference.couponUses(tenant, id, command.from))
    }
  }
})

/**
 * Implements `billing.creditNotes`.
 */
import {
  CreditNote as Core,
  CreditNotes as CreditNotesService,
  creditNoteView,
  Documents,
} from "@billwright/core"
import { Effect } from "effect"
import type { Calls } from "../runtime/Calls.ts"
import * as Ids from "../runtime/Ids.ts"
import { toAmount, toInput, toOptionalInput } from "../runtime/Input.ts"
import { makeListing } from "../runtime/ListingPages.ts"
import type { CreateCreditNote, CreditNotes } from "./CreditNotes.ts"

const toId = Ids.of(Core.CREDIT_NOTE_ID_PREFIX)

const toCreate = (input: CreateCreditNote): Core.CreateCreditNote => {
  const { amount, lines, refund } = input
  return toInput({
    ...input,
    amount: toAmount(amount),
    refund: toAmount(refund),
    lines: Array.isArray(lines)
      ? lines.map((line: object) => ({
          ...line,
          amount: toAmount("amount" in line ? line.amount : undefined),
        }))
      : lines,
  })
}

export const makeCreditNotes = (calls: Calls): CreditNotes => {
  const notes = calls.service(CreditNotesService)
  const documents = calls.service(Documents)
  return {
    create: (input, options) =>
      calls.run(() => Effect.map(notes.create(toCreate(input)), creditNoteView), options),
    get: (id, options) => calls.run(() => Effect.map(notes.get(toId(id)), creditNoteView), options),
    pdf: (id, options) =>
      calls.runAsIs(() => Effect.flatMap(documents.creditNote(toId(id)), documents.pdf), options),
    ubl: (id, options) =>
      calls.run(() => Effect.flatMap(documents.creditNoteAsEInvoice(toId(id)), documents.ubl), options),
    cii: (id, options) =>
      calls.run(() => Effect.flatMap(documents.creditNoteAsEInvoice(toId(id)), documents.cii), options),
    facturX: (id, options) =>
      calls.runAsIs(
        () => Effect.flatMap(documents.creditNoteAsEInvoice(toId(id)), documents.facturX),
        options,
      ),
    html: (id, options) =>
      calls.run(
        () =>
          documents.creditNote(toId(id)).pipe(
            Effect.flatMap(documents.page),
            Effect.map(({ html }) => html),
          ),
        options,
      ),
    list: (query, options) =>
      makeListing(query, (page) =>
        calls.run(
          () =>
            Effect.map(notes.list(toOptionalInput(page)), ({ data, hasMore }) => ({
              data: data.map(creditNoteView),
              hasMore,
            })),
          options,
        ),
      ),
  }
}

/**
 * Credit notes: they give back a part of an issued invoice, or all of it. Their rules and arithmetic are those of
 * `@billwright/engine`.
 */
import { CREDIT_NOTE_REASONS, type CreditNote as EngineCreditNote } from "@billwright/engine"
import { type DateTime, Schema } from "effect"
import { CustomerId } from "../customers/Customer.ts"
import * as Id from "../shared/Id.ts"
import * as NotFound from "../shared/NotFound.ts"
import { pageFields } from "../shared/Page.ts"
import { InvoiceId } from "./Invoice.ts"

/** The prefix of the ids of credit notes. */
export const CREDIT_NOTE_ID_PREFIX = "crn"
/** Most credit notes of one invoice. Each new one is compared with all earlier ones. */
export const MAX_CREDIT_NOTES = 100
/** Most lines that one input names: as many as an invoice can have. */
const MAX_CREDITED_LINES = 10_000

export const CreditNoteId = Id.schema(CREDIT_NOTE_ID_PREFIX).pipe(Schema.brand("CreditNoteId"))
export type CreditNoteId = typeof CreditNoteId.Type

/** Why money is given back. `usage_corrected`: less usage than was billed. */
export const CreditNoteReason = Schema.Literals(CREDIT_NOTE_REASONS)
export type CreditNoteReason = typeof CreditNoteReason.Type

/** A credit note. It never changes. Amounts are integers of the currency's minor unit. */
export interface CreditNote extends Omit<EngineCreditNote, "id" | "customerId" | "invoiceId"> {
  readonly id: CreditNoteId
  readonly customerId: CustomerId
  readonly invoiceId: InvoiceId
  readonly createdAt: DateTime.Utc
}

const amountMessage = { message: "must be an integer from 1 to 10^30" }
const refundMessage = { message: "must be an integer from 0 to 10^30" }
const MAX_AMOUNT = 10n ** 30n
const Amount = Schema.BigInt.annotate(amountMessage).check(
  Schema.isBetweenBigInt({ minimum: 1n, maximum: MAX_AMOUNT }, amountMessage),
)
const Refund = Schema.BigInt.annotate(refundMessage).check(
  Schema.isBetweenBigInt({ minimum: 0n, maximum: MAX_AMOUNT }, refundMessage),
)
const linesMessage = { message: `must have 1 to ${MAX_CREDITED_LINES} lines` }

/** The input of `CreditNotes.create`. Without `lines` and `amount`, all that is left of the invoice is credited. */
export const CreateCreditNote = Schema.Struct({
  invoiceId: InvoiceId,
  /**
   * What to credit of lines. Amounts are those of lines after discounts: with tax if the taxes of the invoice are
   * inclusive, and without otherwise.
   */
  lines: Schema.optionalKey(
    Schema.Array(Schema.Struct({ lineId: Schema.String, amount: Amount })).check(
      Schema.isBetweenLength(1, MAX_CREDITED_LINES, linesMessage),
    ),
  ),
  /** One amount instead, as those of lines are: it is spread over the lines in proportion to what is left of each. */
  amount: Schema.optionalKey(Amount),
  reason: CreditNoteReason,
  /**
   * How much of what the customer paid is refunded: what was paid, at most. The refunds are created with the note. What is neither due nor refunded becomes
   * paid credits of the customer. Default: 0.
   */
  refund: Schema.optionalKey(Refund),
})
export interface CreateCreditNote extends Schema.Schema.Type<typeof CreateCreditNote> {}

/** Which credit notes to list. */
export const ListCreditNotes = Schema.Struct({
  ...pageFields,
  customerId: Schema.optionalKey(CustomerId),
  invoiceId: Schema.optionalKey(InvoiceId),
})
export interface ListCreditNotes extends Schema.Schema.Type<typeof ListCreditNotes> {}

/** The tenant has no credit note with this id. */
export class CreditNoteNotFound extends NotFound.make("CreditNoteNotFound", "credit note") {}

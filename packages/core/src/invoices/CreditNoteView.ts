/**
 * A credit note as the REST API and promises show it.
 */
import type { DateTime } from "effect"
import { ofMillis } from "../shared/Instant.ts"
import type { CreditNote } from "./CreditNote.ts"

export interface CreditNoteView extends Omit<CreditNote, "issuedAt"> {
  readonly issuedAt: DateTime.Utc
}

export const creditNoteView = (note: CreditNote): CreditNoteView => ({
  ...note,
  issuedAt: ofMillis(note.issuedAt),
})

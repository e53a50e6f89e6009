/**
 * The REST definition of the books.
 */
import {
  BOOK_ACCOUNTS,
  JOURNAL_FORMATS,
  JOURNAL_KINDS,
  MAX_JOURNAL_DOCUMENTS,
  UsagePeriod,
} from "@billwright/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { readErrors } from "./ErrorBody.ts"
import { RequiredPermission } from "./Permission.ts"
import * as Wire from "./Wire.ts"

/** The longest id, in characters. */
const MAX_ID_LENGTH = 100

const dates = {
  startDate: Schema.optionalKey(
    UsagePeriod.CalendarDate.annotate({
      description: "The first day in UTC, YYYY-MM-DD. Default: the first that there is.",
    }),
  ),
  endDate: Schema.optionalKey(
    UsagePeriod.CalendarDate.annotate({
      description:
        "The last day in UTC, YYYY-MM-DD, inclusive. Default: today. Later days have what will be recognized.",
    }),
  ),
}
const dateKeys = { startDate: "start_date", endDate: "end_date" } as const

const JournalQuery = Schema.Struct({
  ...dates,
  startingAfter: Schema.optionalKey(
    Wire.text(MAX_ID_LENGTH).annotate({
      description: "The `last` of the page before. Default: the newest invoice.",
    }),
  ),
}).pipe(Schema.encodeKeys({ ...dateKeys, startingAfter: "starting_after" }))

const ExportQuery = Schema.Struct({
  ...dates,
  format: Schema.optionalKey(
    Schema.Literals(JOURNAL_FORMATS).annotate({
      description:
        "`csv`, the default: a row for each posting. `hledger`: a journal of hledger. `json`: one entry a line. Amounts are decimals of the currency's unit.",
    }),
  ),
}).pipe(Schema.encodeKeys(dateKeys))

const PostingBody = Schema.Struct({
  account: Schema.Literals(BOOK_ACCOUNTS).annotate({ description: "The account that changes." }),
  amount: Wire.exactInteger({
    minimum: -Number.MAX_VALUE,
    maximum: Number.MAX_VALUE,
    problem: "must be an integer",
    description: `In the minor unit of the currency: a debit is above 0, a credit below. ${Wire.LARGE_INTEGERS}`,
  }),
})

const EntryBody = Schema.Struct({
  day: UsagePeriod.CalendarDate.annotate({ description: "The day in UTC." }),
  kind: Schema.Literals(JOURNAL_KINDS).annotate({ description: "What it books." }),
  document_id: Wire.text(MAX_ID_LENGTH).annotate({
    description: "The id of the invoice, credit note, payment, refund, dispute or grant of credits.",
  }),
  invoice_id: Schema.NullOr(Wire.text(MAX_ID_LENGTH)).annotate({
    description: "The invoice that it is about. `null` for entries of credits.",
  }),
  customer_id: Wire.text(MAX_ID_LENGTH).annotate({ description: "The customer." }),
  currency: Wire.text(3).annotate({ description: "The ISO 4217 code of the currency." }),
  postings: Schema.Array(PostingBody)
    .check(Schema.isMaxLength(BOOK_ACCOUNTS.length))
    .annotate({ description: "One for each account that changes. They sum to 0." }),
}).annotate({ identifier: "JournalEntry", description: "An entry of the journal." })

/** An invoice may have an entry for each day of many years. */
const MAX_ENTRIES = Number.MAX_SAFE_INTEGER

const JournalBody = Schema.Struct({
  object: Schema.Literal("journal_page"),
  entries: Schema.Array(EntryBody).check(Schema.isMaxLength(MAX_ENTRIES)).annotate({
    description: "Those of an invoice or a grant are together, in the order of their days.",
  }),
  last: Schema.NullOr(Wire.text(MAX_ID_LENGTH)).annotate({
    description: "The last invoice or grant that was read. `null`: there is none.",
  }),
  has_more: Schema.Boolean.annotate({ description: "Whether there are more, after `last`." }),
  livemode: Wire.Livemode,
}).annotate({ identifier: "JournalPage", description: "The entries of some invoices and grants of credits." })

const ExportBody = Wire.text(Number.MAX_SAFE_INTEGER).pipe(
  HttpApiSchema.asText({ contentType: "text/plain" }),
)

export const BooksApi = HttpApiGroup.make("books")
  .add(
    HttpApiEndpoint.get("getJournal", "/journal", {
      query: JournalQuery,
      success: JournalBody,
      error: readErrors("conflict"),
    })
      .annotate(RequiredPermission, "invoices:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get a page of the journal",
          description: `Returns the entries of at most ${MAX_JOURNAL_DOCUMENTS} invoices, newest first, and after the last invoice those of at most ${MAX_JOURNAL_DOCUMENTS} grants of credits. Double entry, derived from what is stored: what it says of a day can change when something that happened then is corrected later. A page may have no entries and be followed by others.`,
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("exportJournal", "/journal/export", {
      query: ExportQuery,
      success: ExportBody,
      error: readErrors("conflict"),
    })
      .annotate(RequiredPermission, "invoices:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Export the journal",
          description:
            "Returns all entries of the days as text, which is sent while it is read. An answer that breaks off is not whole: an error can't be told any more then.",
        }),
      ),
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Books",
      description: "The journal for finance: double entry, derived from invoices, payments and credits.",
    }),
  )

export type JournalBody = typeof JournalBody.Encoded

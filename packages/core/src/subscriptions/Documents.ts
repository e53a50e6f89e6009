/**
 * Invoices and credit notes as documents for people.
 */
import type { LineKind, Recipient } from "@billwright/engine"
import type { BillingDocument, LineTable } from "@billwright/engine/documents"
import type {
  EInvoiceCreditNoteInput,
  EInvoiceInput,
  EInvoiceProblem,
  En16931Invoice,
} from "@billwright/engine/einvoices"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { type Customer, type CustomerId, customers } from "../customers/Customer.ts"
import type { CreditNoteNotFound } from "../invoices/CreditNote.ts"
import { CreditNotes } from "../invoices/CreditNotes.ts"
import { CreditNoteStore } from "../invoices/CreditNoteStore.ts"
import type { Invoice, InvoiceId, InvoiceNotFound } from "../invoices/Invoice.ts"
import { Invoices } from "../invoices/Invoices.ts"
import { InvoiceSettings } from "../invoices/InvoiceSettings.ts"
import { InvoiceStore } from "../invoices/InvoiceStore.ts"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import type { SubscriptionId } from "../invoices/SubscriptionId.ts"
import type { StoredTax } from "../invoices/Taxes.ts"
import { PaymentStore } from "../payments/PaymentStore.ts"
import { Collections } from "../shared/Collections.ts"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { SubscriptionNotFound } from "./Subscription.ts"
import { SubscriptionStore } from "./SubscriptionStore.ts"

type Failure = InvoicingUnsupported | StorageError

/** Kinds of lines that say what was used, and what that costs. */
const OF_USAGE: ReadonlySet<LineKind> = new Set(["usage", "adjustment", "true_up"])

/** The words and the style of documents, which are loaded with the first one. */
const writing = Effect.promise(() => import("@billwright/engine/documents"))

/** E-invoices, which are loaded with the first one. */
const electronic = Effect.promise(() => import("@billwright/engine/einvoices"))

/**
 * Makes a PDF of a document: `documentPdf` of `@billwright/pdf`. It may reject with `PdfUnavailable`. With `facturX`, the XML
 * of the same document as an e-invoice, the PDF is one of Factur-X.
 */
export type MakePdf = (document: BillingDocument, facturX?: string) => Promise<Uint8Array<ArrayBuffer>>

/** What makes PDF. `null`: nothing does. */
export class PdfMaker extends Context.Reference<MakePdf | null>("@billwright/core/subscriptions/PdfMaker", {
  defaultValue: () => null,
}) {}

/** There is nothing that makes PDF: the optional package is not installed, or was not passed. */
export class PdfUnavailable extends Schema.TaggedError<PdfUnavailable>()(
  "PdfUnavailable",
  {},
  { httpApiStatus: 409 },
) {
  override get message(): string {
    return "PDF needs the package @billwright/pdf: install it with npm install @billwright/pdf"
  }
}

const problemText = ({ field, name, problem, term }: EInvoiceProblem): string =>
  `${field} ${problem} (${term}, ${name})`

/**
 * The invoice or the credit note can't be an e-invoice as it is: it is a draft or void, or something that EN 16931 wants
 * is missing. `problems` has all of it. An issued invoice keeps what it says of its customer, and the seller is that of
 * the settings now.
 */
export class EInvoiceIncomplete extends Schema.TaggedError<EInvoiceIncomplete>()(
  "EInvoiceIncomplete",
  {
    problems: Schema.Array(
      Schema.Struct({
        term: Schema.String,
        name: Schema.String,
        field: Schema.String,
        problem: Schema.String,
      }),
    ),
  },
  { httpApiStatus: 409 },
) {
  override get message(): string {
    return `there is no e-invoice: ${this.problems.map(problemText).join("; ")}`
  }
}

/** An e-invoice: its model by EN 16931, and its pages as they were when it was issued. */
export interface EInvoice {
  readonly document: En16931Invoice
  readonly page: BillingDocument
}

/** A document as HTML. */
export interface DocumentPage {
  readonly html: string
  /** The content security policy that the page also names itself. */
  readonly policy: string
}

/** What a subscription has come to by now. */
export interface UpcomingDocument {
  /** The invoice that it gets next, as it stands. */
  readonly document: BillingDocument
  /** The lines of it that are about usage. */
  readonly usage: LineTable
  readonly invoice: Invoice
}

/** Documents of the current tenant, in the language of the customer, with what was paid and credited by now. */
export class Documents extends Context.Service<
  Documents,
  {
    /** Of an invoice. A draft has the lines and taxes that it would be issued with now. */
    readonly invoice: (id: string) => Effect.Effect<BillingDocument, InvoiceNotFound | Failure, CurrentTenant>

    /**
     * Of the invoice that a subscription gets next, with the usage that is recorded by now. `null` if it gets none. `locale`
     * is a language tag for a reader who wants another language than that of the customer.
     */
    readonly upcoming: (
      subscriptionId: string,
      locale?: string,
    ) => Effect.Effect<UpcomingDocument | null, InvalidInput | SubscriptionNotFound | Failure, CurrentTenant>

    readonly creditNote: (
      id: string,
    ) => Effect.Effect<BillingDocument, CreditNoteNotFound | InvoiceNotFound | Failure, CurrentTenant>

    /** Of an issued invoice, by EN 16931: as it was issued, without what was paid and credited later. */
    readonly invoiceAsEInvoice: (
      id: string,
    ) => Effect.Effect<EInvoice, InvoiceNotFound | EInvoiceIncomplete | Failure, CurrentTenant>

    readonly creditNoteAsEInvoice: (
      id: string,
    ) => Effect.Effect<
      EInvoice,
      CreditNoteNotFound | InvoiceNotFound | EInvoiceIncomplete | Failure,
      CurrentTenant
    >

    /** An e-invoice as UBL 2.1. The same e-invoice always has the same bytes. */
    readonly ubl: (eInvoice: EInvoice) => Effect.Effect<string>

    /** An e-invoice as a Cross Industry Invoice. The same e-invoice always has the same bytes. */
    readonly cii: (eInvoice: EInvoice) => Effect.Effect<string>

    /** An e-invoice as Factur-X: the PDF of its pages, with the CII within. */
    readonly facturX: (eInvoice: EInvoice) => Effect.Effect<Uint8Array<ArrayBuffer>, PdfUnavailable>

    /** A page for screens and for paper. It has no script and needs no other file. */
    readonly page: (document: BillingDocument) => Effect.Effect<DocumentPage>

    /** A PDF, tagged for screen readers. The same document always has the same bytes. */
    readonly pdf: (document: BillingDocument) => Effect.Effect<Uint8Array<ArrayBuffer>, PdfUnavailable>
  }
>()("@billwright/core/subscriptions/Documents") {
  static readonly layer = Layer.effect(
    Documents,
    Effect.gen(function* () {
      const invoices = yield* Invoices
      const notes = yield* CreditNotes
      const invoiceStore = yield* optionalPort(InvoiceStore)
      const noteStore = yield* optionalPort(CreditNoteStore)
      const paymentStore = yield* optionalPort(PaymentStore)
      const subscriptionStore = yield* optionalPort(SubscriptionStore)
      const owners = (yield* Collections).of(customers)
      const { locale: fallback, seller, timezone } = yield* InvoiceSettings
      const settings = { seller, locale: fallback, timezone }

      /** Whom an invoice is addressed to: as it says itself, or the customer as it is now. */
      const recipientOf = Effect.fnUntraced(function* (invoiceId: InvoiceId, customerId: CustomerId) {
        const stored = Option.getOrUndefined(yield* (yield* invoiceStore).find(invoiceId))
        if (stored?.taxedBy.billedTo !== undefined && stored.state.status !== "draft") {
          return recipientAsBilled(stored.taxedBy, stored.taxedBy.billedTo)
        }
        return Option.match(yield* owners.find(customerId), {
          onNone: () => unknownRecipient(customerId),
          onSome: recipientOfCustomer,
        })
      })

      const timezonesOf = Effect.fnUntraced(function* (ids: ReadonlyArray<SubscriptionId>) {
        const store = yield* subscriptionStore
        const zones: Record<string, string> = {}
        for (const id of ids) {
          const found = Option.getOrUndefined(yield* store.find(id))
          if (found !== undefined) zones[id] = found.state.periods.timezone
        }
        return zones
      })

      const invoice = Effect.fn("Documents.invoice")(function* (id: string) {
        const found = yield* invoices.get(id)
        const payments = yield* (yield* paymentStore).ofInvoice(found.id)
        const creditNotes = yield* (yield* noteStore).ofInvoice(found.id)
        const { invoiceDocument } = yield* writing
        return invoiceDocument({
          invoice: found,
          customer: yield* recipientOf(found.id, found.customerId),
          settings,
          payments: payments.flatMap(({ applied, paidAt }) =>
            paidAt === null ? [] : [{ amount: applied, paidAt }],
          ),
          creditNotes,
          timezones: yield* timezonesOf(found.subscriptionIds),
        })
      })

      const upcoming = Effect.fn("Documents.upcoming")(function* (subscriptionId: string, locale?: string) {
        const found = yield* invoices.upcoming(subscriptionId)
        if (found === null) return null
        const { invoiceDocument } = yield* writing
        const customer = yield* recipientOf(found.id, found.customerId)
        const input = {
          invoice: found,
          customer: locale === undefined ? customer : { ...customer, locale },
          settings,
          payments: [],
          creditNotes: [],
          timezones: yield* timezonesOf(found.subscriptionIds),
        }
        const lines = found.lines.filter(({ kind }) => OF_USAGE.has(kind))
        const usage = invoiceDocument({ ...input, invoice: { ...found, lines } }).lines
        return { document: invoiceDocument(input), usage, invoice: found }
      })

      const creditNote = Effect.fn("Documents.creditNote")(function* (id: string) {
        const found = yield* notes.get(id)
        const { creditNoteDocument } = yield* writing
        return creditNoteDocument({
          creditNote: found,
          invoice: yield* invoices.get(found.invoiceId),
          customer: yield* recipientOf(found.invoiceId, found.customerId),
          settings,
        })
      })

      const eInvoiceOf = (input: EInvoiceInput | EInvoiceCreditNoteInput, page: () => BillingDocument) =>
        Effect.flatMap(electronic, ({ toEn16931 }) => {
          const result = toEn16931(input)
          return result.type === "problems"
            ? Effect.fail(new EInvoiceIncomplete({ problems: result.problems }))
            : Effect.succeed({ document: result.document, page: page() })
        })

      const invoiceAsEInvoice = Effect.fn("Documents.invoiceAsEInvoice")(function* (id: string) {
        const found = yield* invoices.get(id)
        const { invoiceDocument } = yield* writing
        const input = {
          invoice: asIssued(found),
          customer: yield* recipientOf(found.id, found.customerId),
          settings,
          payments: [],
          creditNotes: [],
          timezones: yield* timezonesOf(found.subscriptionIds),
        }
        return yield* eInvoiceOf(input, () => invoiceDocument(input))
      })

      const creditNoteAsEInvoice = Effect.fn("Documents.creditNoteAsEInvoice")(function* (id: string) {
        const found = yield* notes.get(id)
        const { creditNoteDocument } = yield* writing
        const credited = yield* invoices.get(found.invoiceId)
        const input = {
          creditNote: found,
          invoice: credited,
          customer: yield* recipientOf(found.invoiceId, found.customerId),
          settings,
          timezones: yield* timezonesOf(credited.subscriptionIds),
        }
        return yield* eInvoiceOf(input, () => creditNoteDocument(input))
      })

      const ubl = ({ document }: EInvoice) => Effect.map(electronic, ({ ublXml }) => ublXml(document))
      const cii = ({ document }: EInvoice) => Effect.map(electronic, ({ ciiXml }) => ciiXml(document))

      const page = (document: BillingDocument) =>
        Effect.map(writing, ({ DOCUMENT_POLICY, documentHtml }) => ({
          html: documentHtml(document),
          policy: DOCUMENT_POLICY,
        }))

      const makePdf = yield* PdfMaker

      const pdfOf = (document: BillingDocument, xml?: string) =>
        makePdf === null
          ? Effect.fail(new PdfUnavailable())
          : Effect.tryPromise({ try: () => makePdf(document, xml), catch: (error) => error }).pipe(
              Effect.catch((error) =>
                error instanceof PdfUnavailable ? Effect.fail(error) : Effect.die(error),
              ),
            )

      const pdf = (document: BillingDocument) => pdfOf(document)
      const facturX = (eInvoice: EInvoice) =>
        Effect.flatMap(cii(eInvoice), (xml) => pdfOf(eInvoice.page, xml))

      return Documents.of({
        invoice,
        upcoming,
        creditNote,
        invoiceAsEInvoice,
        creditNoteAsEInvoice,
        ubl,
        cii,
        facturX,
        page,
        pdf,
      })
    }),
  )
}

/** An invoice as it was issued. A void one stays void: it has no e-invoice. */
const asIssued = (invoice: Invoice): Invoice => {
  const { applied, credited, status, total } = invoice
  if (status === "draft" || status === "void") return invoice
  const amountDue = applied.reduce((due, { amount }) => due - amount, total + credited)
  return {
    ...invoice,
    status: amountDue > 0n ? "open" : "paid",
    amountPaid: 0n,
    amountCredited: 0n,
    amountWaived: 0n,
    amountDue,
  }
}

const recipientAsBilled = (
  { customer: { country, taxId } }: StoredTax,
  billedTo: NonNullable<StoredTax["billedTo"]>,
): Recipient => ({ ...billedTo, country, taxId })

const recipientOfCustomer = ({ address, country, locale, name, taxId, timezone }: Customer): Recipient => ({
  name,
  address,
  country,
  taxId,
  locale,
  timezone,
})

/** A customer that was erased. */
const unknownRecipient = (name: string): Recipient => ({
  name,
  address: null,
  country: null,
  taxId: null,
  locale: null,
  timezone: null,
})

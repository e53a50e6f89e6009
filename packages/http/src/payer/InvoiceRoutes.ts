/**
 * The page of an invoice: how it stands, its PDF, and paying it.
 */
import { Customers, Documents, type Invoice, Invoices, OutageLog, Payments } from "@billwright/core"
import type { BillingDocument } from "@billwright/engine/documents"
import { Format, invoicePage, noticePage, type PayState, type PayWays } from "@billwright/engine/payer"
import { Effect } from "effect"
import { leaving, makeCards } from "./Cards.ts"
import type { AllRights } from "./PayerPageOptions.ts"
import { byPayer, NOWHERE, type Visit, type Visited } from "./Visit.ts"

/** What a payer sees of the state of a payment. */
const STATES: Readonly<Record<Invoice.Invoice["collection"], PayState>> = {
  idle: "due",
  collecting: "waiting",
  paid: "paid",
  retrying: "declined",
  awaiting_method: "due",
  awaiting_customer: "confirmation",
  processing: "processing",
  unresolved: "waiting",
  exhausted: "declined",
  needs_attention: "waiting",
  stopped: "due",
}

const stateOf = ({ collection, pastDueSince, status }: Invoice.Invoice): PayState => {
  if (status === "paid" || status === "void") return status
  const state = STATES[collection]
  return state === "due" && pastDueSince !== null ? "overdue" : state
}

/** States in which the payer is asked to pay. */
const ASKED = new Set<PayState>(["due", "overdue", "declined", "confirmation"])

export const makeInvoiceRoutes = (allow: AllRights) =>
  Effect.gen(function* () {
    const customers = yield* Customers
    const invoices = yield* Invoices
    const documents = yield* Documents
    const payments = yield* Payments
    const cards = yield* makeCards
    const none: PayWays = { pay: null, methods: [], addCard: null }

    /** Whether this process can make PDF. It is found out by the first page of which one is made. */
    let makesPdf: boolean | undefined
    const outage = OutageLog.make("PDF can be made again for the pages of invoices")

    /** Makes a PDF once, to see whether it can be made. A page comes without its link rather than not at all. */
    const canMakePdf = (document: BillingDocument) =>
      makesPdf === undefined
        ? documents.pdf(document).pipe(
            Effect.andThen(outage.worked),
            Effect.as(true),
            Effect.catchTag("PdfUnavailable", () => Effect.succeed(false)),
            Effect.tap((makes) => Effect.sync(() => void (makesPdf = makes))),
            // What is wrong may be wrong with this document only, so the next page tries again.
            Effect.catchDefect((defect) =>
              Effect.as(outage.failed("the page of an invoice has no PDF: it can't be made", defect), false),
            ),
          )
        : Effect.succeed(makesPdf)

    const waysOf = Effect.fnUntraced(function* ({ path }: Visit, invoice: Invoice.Invoice, state: PayState) {
      const isPossible = allow.pay && ASKED.has(state) && invoice.availableActions.includes("pay")
      if (!isPossible || cards.provider === null) return none
      if (cards.provider.methods === undefined) return { ...none, pay: `${path}/pay` }
      // No card is saved for a customer who was erased.
      const isThere = yield* customers.get(invoice.customerId).pipe(
        Effect.as(true),
        Effect.catchTag("CustomerNotFound", () => Effect.succeed(false)),
      )
      if (!isThere) return none
      const addCard = allow.methods ? `${path}/card` : null
      const saved = yield* cards.saved(invoice.customerId)
      const hasDefault = saved[0]?.isDefault === true
      if (hasDefault && (state === "confirmation" || !allow.methods))
        return { ...none, pay: `${path}/pay`, addCard }
      if (!allow.methods) return none
      const methods = saved.map(({ brand, id, last4, type }) => ({
        brand: brand ?? type,
        last4,
        pay: `${path}/pay/${id}`,
      }))
      return { ...none, methods, addCard }
    })

    const show = Effect.fnUntraced(function* (visit: Visit, invoice: Invoice.Invoice) {
      const document = yield* documents.invoice(invoice.id)
      const frame = visit.frame(document.language)
      const format = new Format(frame.locale, invoice.currency)
      const state = stateOf(invoice)
      const page = invoicePage(frame, {
        document,
        state,
        amountDue: format.money(invoice.amountDue),
        dueDate: invoice.dueAt === null ? null : format.date(invoice.dueAt, document.customerTimezone),
        pdf: (yield* canMakePdf(document)) ? `${visit.path}/pdf` : null,
        ways: yield* waysOf(visit, invoice, state),
      })
      return visit.answers.page(200, page)
    })

    const pdf = Effect.fnUntraced(function* ({ answers }: Visit, { id, number }: Invoice.Invoice) {
      const bytes = yield* documents.invoice(id).pipe(Effect.flatMap(documents.pdf))
      return answers.pdf(bytes, number ?? id)
    })

    const languageOf = ({ id }: Invoice.Invoice) =>
      Effect.map(documents.invoice(id), ({ language }) => language)

    /** Answers a form that the page does not have now. Whoever clicks twice is told how the first click fares. */
    const impossible = (visit: Visit, language: string | null, invoice: Invoice.Invoice) =>
      ASKED.has(stateOf(invoice))
        ? visit.answers.page(409, noticePage(visit.frame(language), "impossible", visit.path))
        : visit.answers.seeOther(visit.path)

    /** Charges at most once, however often the form arrives: an attempt under way refuses another one. */
    const pay = Effect.fnUntraced(function* (visit: Visit, invoice: Invoice.Invoice, method?: string) {
      const language = yield* languageOf(invoice)
      if (method !== undefined && (yield* cards.find(method, invoice.customerId)) === undefined)
        return visit.answers.seeOther(visit.path)
      const input = {
        returnUrl: `${visit.address}/return`,
        ...(method && { paymentMethodId: method as never }),
      }
      return yield* payments.startPayment(invoice.id, input).pipe(
        Effect.map((started) => leaving(visit, language, started) ?? visit.answers.seeOther(visit.path)),
        Effect.catchTag("ActionUnavailable", () =>
          Effect.map(invoices.get(invoice.id), (now) => impossible(visit, language, now)),
        ),
      )
    })

    /** Begins a card only where the page offers it: who has the link of a paid invoice gives its customer no new default. */
    const addCard = Effect.fnUntraced(function* (visit: Visit, invoice: Invoice.Invoice) {
      const language = yield* languageOf(invoice)
      const ways = yield* waysOf(visit, invoice, stateOf(invoice))
      if (ways.addCard === null) return impossible(visit, language, invoice)
      return yield* cards.begin(visit, language, invoice.customerId)
    })

    /** The payer is back from a page of the provider, which is read. */
    const returned = Effect.fnUntraced(function* (visit: Visit, invoice: Invoice.Invoice, method?: string) {
      if (method !== undefined) yield* cards.returned(method, invoice.customerId)
      else {
        yield* payments.refresh(invoice.id).pipe(
          // Billing runs read it again. The page shows what is known.
          Effect.catchTag(["ActionUnavailable", "PaymentProviderUnavailable"], () => Effect.void),
        )
      }
      return visit.answers.seeOther(visit.path)
    })

    const post = Effect.fnUntraced(function* (visit: Visit, invoice: Invoice.Invoice) {
      const [action, id, ...more] = visit.rest
      if (!allow.pay || more.length > 0) return NOWHERE
      if (action === "pay" && id === undefined) return yield* pay(visit, invoice)
      if (!allow.methods) return NOWHERE
      if (action === "pay") return yield* pay(visit, invoice, id)
      return action === "card" && id === undefined ? yield* addCard(visit, invoice) : NOWHERE
    })

    const get = Effect.fnUntraced(function* (visit: Visit, invoice: Invoice.Invoice) {
      const [action, id, ...more] = visit.rest
      if (more.length > 0) return NOWHERE
      if (action === undefined) return yield* show(visit, invoice)
      if (action === "pdf" && id === undefined) return yield* pdf(visit, invoice)
      return action === "return" ? yield* returned(visit, invoice, id) : NOWHERE
    })

    return (visit: Visit): Visited =>
      invoices.get(visit.claims.id).pipe(
        Effect.catchTag("InvoiceNotFound", () => Effect.succeed(null)),
        Effect.flatMap((invoice): Visited => {
          if (invoice === null || invoice.status === "draft") return Effect.succeed(NOWHERE)
          const visited = visit.isPost ? post(visit, invoice) : get(visit, invoice)
          return byPayer(visit, invoice.customerId, visited)
        }),
      )
  })

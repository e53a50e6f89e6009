/**
 * The page of an invoice for the payer: how it stands, what can be done, and the document below.
 */
import type { BillingDocument } from "../documents/Document.ts"
import { html, type Markup } from "../documents/Markup.ts"
import { fill } from "../documents/Texts.ts"
import { aboveDocument, button, type Frame, link, textsOf } from "./Frame.ts"
import { type MethodView, methodName } from "./Method.ts"

/** How the payment of an invoice stands. */
export type PayState =
  | "paid"
  | "void"
  | "due"
  | "overdue"
  | "declined"
  | "confirmation"
  | "processing"
  | "waiting"

export interface InvoicePageView {
  readonly document: BillingDocument
  readonly state: PayState
  /** What is due, written out. */
  readonly amountDue: string
  /** The last day to pay, written out. */
  readonly dueDate: string | null
  /** The path of the PDF. `null`: nothing makes PDF. */
  readonly pdf: string | null
  readonly ways: PayWays
}

/** How it can be paid here. */
export interface PayWays {
  /** The path of the form that pays without naming a method: a confirmation, or a provider without saved methods. */
  readonly pay: string | null
  /** Saved methods, each with the path of the form that pays with it. */
  readonly methods: ReadonlyArray<MethodView & { readonly pay: string }>
  /** The path of the form that begins another card. */
  readonly addCard: string | null
}

/** States in which something is to be paid here. */
const OPEN: ReadonlyArray<PayState> = ["due", "overdue", "declined", "confirmation"]

const wordsOf = (frame: Frame, { amountDue, dueDate, state }: InvoicePageView): readonly [string, string] => {
  const texts = textsOf(frame)
  const amount = fill(texts.due, { amount: amountDue })
  const by = (text: string) => (dueDate === null ? "" : fill(text, { date: dueDate }))
  switch (state) {
    case "paid":
      return [texts.paid, texts.nothingDue]
    case "void":
      return [texts.void, texts.nothingDue]
    case "due":
      return [amount, by(texts.dueBy)]
    case "overdue":
      return [amount, by(texts.wasDue)]
    case "declined":
      return [amount, texts.declined]
    case "confirmation":
      return [amount, texts.confirmation]
    case "processing":
      return [amount, texts.processing]
    case "waiting":
      return [amount, texts.waiting]
  }
}

const formsOf = (frame: Frame, view: InvoicePageView): ReadonlyArray<Markup> => {
  const { amountDue, state, ways } = view
  if (!OPEN.includes(state)) return []
  const texts = textsOf(frame)
  const confirm = state === "confirmation" ? texts.confirm : fill(texts.pay, { amount: amountDue })
  const [first, ...others] = [
    ...(ways.pay === null ? [] : [{ path: ways.pay, label: confirm }]),
    ...ways.methods.map((method) => ({
      path: method.pay,
      label: fill(texts.payWith, { method: methodName(method, texts) }),
    })),
    ...(ways.addCard === null
      ? []
      : [
          {
            path: ways.addCard,
            label: ways.methods.length === 0 && ways.pay === null ? texts.payByCard : texts.otherCard,
          },
        ]),
  ]
  return first === undefined
    ? []
    : [button(first.path, first.label, "main"), ...others.map(({ label, path }) => button(path, label))]
}

/** The page of an invoice. */
export const invoicePage = (frame: Frame, view: InvoicePageView): string => {
  const texts = textsOf(frame)
  const [words, more] = wordsOf(frame, view)
  const card = html`<section class="card" aria-label="${texts.payment}">
    <div class="words">
      <p class="state">${words}</p>
      <p class="more">${more}</p>
    </div>
    <div class="actions">${formsOf(frame, view)}${view.pdf === null ? null : link(view.pdf, texts.pdf)}</div>
  </section>`
  return aboveDocument(frame, view.document, card)
}

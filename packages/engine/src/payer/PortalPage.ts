/**
 * The pages of a customer: plan, usage, invoices and payment methods, and the question before a cancellation.
 */
import type { LineTable } from "../documents/Document.ts"
import { lines } from "../documents/Html.ts"
import { html, type Markup } from "../documents/Markup.ts"
import { fill } from "../documents/Texts.ts"
import { button, type Frame, framed, link, textsOf } from "./Frame.ts"
import { type MethodView, methodName } from "./Method.ts"
import type { PayerTexts } from "./Texts.ts"

/** A row of the next invoice: a label and an amount. */
export interface AmountView {
  readonly label: string
  readonly value: string
  readonly isSum: boolean
}

/** A subscription, written out. */
export interface PlanView {
  readonly name: string
  /** Such as `€49.00 a month`. Empty for a plan without a fixed price. */
  readonly price: string
  /** How it stands, such as that it ends. */
  readonly notes: ReadonlyArray<string>
  /** `null`: there is no next invoice. */
  readonly next: { readonly text: string; readonly amounts: ReadonlyArray<AmountView> } | null
  /** `null`: usage is not shown. */
  readonly usage: UsageView | null
  /** The path of the question before a cancellation. `null`: it can't be canceled here. */
  readonly cancel: string | null
  /** The path of the form that takes a cancellation back. */
  readonly uncancel: string | null
}

/** Usage of a period, with what it costs and why. */
export interface UsageView {
  readonly period: string
  readonly table: LineTable
  /** How a computation is headed. */
  readonly explanation: string
}

export interface InvoiceView {
  readonly number: string
  readonly date: string
  readonly total: string
  readonly status: keyof PayerTexts["statuses"]
  readonly href: string
  /** What is to be paid, written out. `null`: nothing, or not by payers. */
  readonly pay: string | null
}

export interface PortalMethod extends MethodView {
  /** The last month in which it is valid, written out. */
  readonly validUntil: string | null
  readonly isDefault: boolean
  /** The path of the form that makes it the default. `null`: it is, or that is not for payers. */
  readonly makeDefault: string | null
}

export interface PortalPageView {
  /** The name of the customer. */
  readonly customer: string
  readonly plans: ReadonlyArray<PlanView>
  readonly invoices: ReadonlyArray<InvoiceView>
  /** Paths of other pages of the list of invoices. */
  readonly older: string | null
  readonly newest: string | null
  /** `null`: payment methods are not shown. */
  readonly methods: {
    readonly list: ReadonlyArray<PortalMethod>
    /** The path of the form that begins another one. */
    readonly add: string | null
  } | null
}

const amounts = (rows: ReadonlyArray<AmountView>): Markup =>
  html`<dl>
    ${rows.map(({ isSum, label, value }) => {
      const kind = isSum ? "sum" : ""
      return html`<dt class="${kind}" dir="auto">${label}</dt>
        <dd class="${kind}">${value}</dd>`
    })}
  </dl>`

/** The unit price stands below the description, so that the table is not wider than a phone. The period stands above. */
const narrow = (table: LineTable, period: string, caption: string): LineTable => ({
  ...table,
  caption,
  unitPrice: null,
  tax: null,
  rows: table.rows.map((row) => {
    const price = row.unitPrice === null ? [] : [`${row.quantity ?? ""} × ${row.unitPrice}`.trim()]
    return { ...row, details: [...price, ...row.details.filter((detail) => detail !== period)] }
  }),
})

const usageOf = (texts: PayerTexts, { explanation, period, table }: UsageView): Markup =>
  html`<section>
    <h4>${texts.usage}</h4>
    <p>${period}</p>
    ${
      table.rows.length === 0
        ? html`<p>${texts.noUsage}</p>`
        : html`<p>${texts.asOfNow}</p>
            ${lines(narrow(table, period, texts.usage), explanation)}`
    }
  </section>`

const planOf = (texts: PayerTexts, plan: PlanView): Markup =>
  html`<section>
    <h3 dir="auto">${plan.name}</h3>
    ${plan.price === "" ? null : html`<p>${plan.price}</p>`}
    ${plan.notes.map((note) => html`<p><strong>${note}</strong></p>`)}
    ${plan.usage === null ? null : usageOf(texts, plan.usage)}
    ${
      plan.next === null
        ? null
        : html`<section>
            <h4>${texts.nextInvoice}</h4>
            <p>${plan.next.text}</p>
            ${amounts(plan.next.amounts)}
          </section>`
    }
    ${
      plan.cancel === null && plan.uncancel === null
        ? null
        : html`<div class="actions">
            ${plan.cancel === null ? null : link(plan.cancel, fill(texts.cancel, { plan: plan.name }))}
            ${plan.uncancel === null ? null : button(plan.uncancel, fill(texts.uncancel, { plan: plan.name }), "main")}
          </div>`
    }
  </section>`

const invoiceOf = (texts: PayerTexts, { date, href, number, pay, status, total }: InvoiceView): Markup =>
  html`<li>
    <a href="${href}">${fill(texts.invoiceOf, { number, date })}</a>
    <span class="worth">
      ${total} <span class="badge">${texts.statuses[status]}</span>
      ${pay === null ? null : html`<a class="button main small" href="${href}">${fill(texts.pay, { amount: pay })}</a>`}
    </span>
  </li>`

const invoicesOf = (texts: PayerTexts, { invoices, newest, older }: PortalPageView): Markup =>
  html`<section aria-labelledby="invoices">
    <h2 id="invoices">${texts.invoices}</h2>
    ${
      invoices.length === 0
        ? html`<p>${texts.noInvoices}</p>`
        : html`<ul>
            ${invoices.map((invoice) => invoiceOf(texts, invoice))}
          </ul>`
    }
    ${
      older === null && newest === null
        ? null
        : html`<div class="actions">
            ${newest === null ? null : link(newest, texts.newest)}${older === null ? null : link(older, texts.older)}
          </div>`
    }
  </section>`

const methodsOf = (texts: PayerTexts, { add, list }: NonNullable<PortalPageView["methods"]>): Markup =>
  html`<section aria-labelledby="methods">
    <h2 id="methods">${texts.methods}</h2>
    ${
      list.length === 0
        ? html`<p>${texts.noMethods}</p>`
        : html`<ul>
            ${list.map((method) => {
              const name = methodName(method, texts)
              const valid =
                method.validUntil === null ? "" : `, ${fill(texts.validUntil, { date: method.validUntil })}`
              return html`<li>
                <span>${name}${valid}</span>
                ${method.isDefault ? html`<span class="badge">${texts.isDefault}</span>` : null}
                ${
                  method.makeDefault === null
                    ? null
                    : html`<div class="actions">
                        ${button(method.makeDefault, fill(texts.makeDefault, { method: name }))}
                      </div>`
                }
              </li>`
            })}
          </ul>`
    }
    ${add === null ? null : html`<div class="actions">${button(add, texts.addMethod)}</div>`}
  </section>`

/** The pages of a customer, as one. */
export const portalPage = (frame: Frame, view: PortalPageView): string => {
  const texts = textsOf(frame)
  return framed(
    frame,
    texts.account,
    html`<main class="account">
      <h1 dir="auto">${view.customer}</h1>
      <h2>${texts.plan}</h2>
      ${
        view.plans.length === 0
          ? html`<section><p>${texts.noPlan}</p></section>`
          : view.plans.map((plan) => planOf(texts, plan))
      }
      ${invoicesOf(texts, view)}${view.methods === null ? null : methodsOf(texts, view.methods)}
    </main>`,
  )
}

/** What is asked before a plan is canceled. */
export interface CancelPageView {
  readonly plan: string
  /** The day on which it would end, written out. */
  readonly date: string
  /** The path of the form. */
  readonly cancel: string
  /** The path to go back to. */
  readonly back: string
}

export const cancelPage = (frame: Frame, { back, cancel, date, plan }: CancelPageView): string => {
  const texts = textsOf(frame)
  const title = fill(texts.cancelNamed, { plan })
  return framed(
    frame,
    title,
    html`<main class="notice">
      <h1 dir="auto">${title}</h1>
      <p>${fill(texts.cancelMore, { date })}</p>
      <div class="actions">
        ${button(cancel, fill(texts.cancelNow, { date }), "main")} ${link(back, fill(texts.keep, { plan }))}
      </div>
    </main>`,
  )
}

/** The pages of the shop. */
import type { Invoice, PaymentMethod, Subscription } from "billwright"
import { type Html, html } from "./Html.ts"
import { type Offer, OFFERS } from "./Plans.ts"
import type { User } from "./Users.ts"

/** What the browser needs to talk to Stripe. */
export interface StripeScript {
  /** Stripe.js, or what stands in for it. */
  readonly src: string
  readonly publishableKey: string
  /** Where the fake of Stripe's API is. */
  readonly api?: string
}

export const money = (cents: number | bigint, currency = "EUR"): string =>
  new Intl.NumberFormat("en-GB", { style: "currency", currency }).format(Number(cents) / 100)

const day = (date: Date): Html =>
  html`<time datetime="${date.toISOString()}"
    >${date.toLocaleDateString("en-GB", { dateStyle: "long", timeZone: "UTC" })}</time
  >`

const page = (title: string, user: User | undefined, content: Html): string =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>${title} · The Daily Example</title>
        <link rel="stylesheet" href="/style.css" />
        <link rel="icon" href="data:," />
      </head>
      <body>
        <header>
          <a class="brand" href="/">The Daily Example</a>
          <nav aria-label="Main">
            <a href="/">Plans</a>
            ${user === undefined ? html`<a href="/sign-up">Sign up</a>` : html`<a href="/account">Account</a>`}
          </nav>
        </header>
        <main>${content}</main>
      </body>
    </html>`.text

const problemOf = (problem: string | undefined): Html | undefined =>
  problem === undefined ? undefined : html`<p class="problem" role="alert">${problem}</p>`

export const cataloguePage = (user: User | undefined): string =>
  page(
    "Plans",
    user,
    html`<h1>Pick a plan</h1>
      <p class="lead">Billed every month. Cancel whenever you like.</p>
      <ul class="plans">
        ${OFFERS.map(
          ({ about, cents, key, name }) =>
            html`<li class="card">
              <h2>${name}</h2>
              <p class="price"><strong>${money(cents)}</strong> a month</p>
              <p>${about}</p>
              <a class="button" href="/checkout/${key}">Choose ${name}</a>
            </li>`,
        )}
      </ul>`,
  )

export const signUpPage = (next: string, problem?: string, given?: { name: string; email: string }): string =>
  page(
    "Sign up",
    undefined,
    html`<h1>Sign up</h1>
      ${problemOf(problem)}
      <form method="post" action="/sign-up" class="card narrow">
        <input type="hidden" name="next" value="${next}" />
        <label for="name">Name</label>
        <input id="name" name="name" autocomplete="name" required maxlength="200" value="${given?.name}" />
        <label for="email">E-mail</label>
        <input id="email" name="email" type="email" autocomplete="email" required value="${given?.email}" />
        <button>Sign up</button>
      </form>`,
  )

const stripeScripts = ({ api, publishableKey, src }: StripeScript): Html =>
  html`<script src="${src}" ${api === undefined ? undefined : html`data-api="${api}"`}></script>
    <script type="module" src="/checkout.js" data-key="${publishableKey}" id="checkout"></script>`

/** The form of a card: on this page, or on a page of Stripe. `action` begins both. */
const cardForm = (action: string, label: string, stripe: StripeScript): Html =>
  html`<form id="card-form" data-setup="${action}/setup" method="post" action="${action}" class="card narrow">
      <h2>Pay by card</h2>
      <div id="card"></div>
      <p class="problem" role="alert" id="card-problem" hidden></p>
      <input type="hidden" name="method" />
      <button>${label}</button>
      <noscript><p>The form of the card needs JavaScript.</p></noscript>
    </form>
    <form method="post" action="${action}/page" class="narrow">
      <button class="other">Enter the card at Stripe instead</button>
    </form>
    ${stripeScripts(stripe)}`

export interface CheckoutPage {
  readonly user: User
  readonly offer: Offer
  readonly saved: PaymentMethod | undefined
  readonly stripe: StripeScript
  readonly problem: string | undefined
}

const cardName = ({ brand, last4, type }: PaymentMethod): string => {
  const kind = brand ?? type ?? "card"
  return `${kind.charAt(0).toUpperCase()}${kind.slice(1)} ending in ${last4 ?? "?"}`
}

export const checkoutPage = ({ offer, problem, saved, stripe, user }: CheckoutPage): string =>
  page(
    `Checkout: ${offer.name}`,
    user,
    html`<h1>${offer.name}</h1>
      <p class="lead"><strong>${money(offer.cents)}</strong> now, and then every month.</p>
      ${problemOf(problem)}
      ${
        saved === undefined
          ? cardForm(`/checkout/${offer.key}`, `Pay ${money(offer.cents)}`, stripe)
          : html`<form method="post" action="/checkout/${offer.key}" class="card narrow">
              <h2>Pay by card</h2>
              <p>${cardName(saved)}</p>
              <input type="hidden" name="method" value="${saved.id}" />
              <button>Pay ${money(offer.cents)}</button>
            </form>`
      }`,
  )

/** What the customer reads about the payment of an invoice, and whether the page changes by itself. */
const paymentWords = (
  invoice: Invoice | undefined,
  retryAt: Date | undefined,
): { readonly title: string; readonly text: Html; readonly tone: string } => {
  if (invoice?.status === "paid")
    return { title: "Thank you", text: html`<p>Your payment has arrived.</p>`, tone: "good" }
  switch (invoice?.collection) {
    case undefined:
    case "idle":
    case "collecting":
      return { title: "One moment", text: html`<p>We are taking your payment…</p>`, tone: "wait" }
    case "awaiting_customer":
      return {
        title: "Your bank asks you",
        text: html`<p>Your bank wants you to confirm this payment.</p>
          <button id="confirm">Confirm the payment</button>
          <p class="problem" role="alert" id="confirm-problem" hidden></p>`,
        tone: "ask",
      }
    case "retrying":
      return {
        title: "Your card was declined",
        text: html`<p>
          Please use another card.
          ${retryAt === undefined ? undefined : html`We try this one again on ${day(retryAt)}.`}
        </p>`,
        tone: "bad",
      }
    case "awaiting_method":
    case "exhausted":
      return { title: "We need another card", text: html`<p>Your card can't be used.</p>`, tone: "bad" }
    case "processing":
      return { title: "Your bank works on it", text: html`<p>We will tell you by e-mail.</p>`, tone: "wait" }
    default:
      return { title: "We look into it", text: html`<p>You don't have to do anything.</p>`, tone: "wait" }
  }
}

export interface OrderPage {
  readonly user: User
  readonly subscription: Subscription
  readonly invoice: Invoice | undefined
  readonly retryAt: Date | undefined
  readonly stripe: StripeScript
}

const needsCard = (invoice: Invoice | undefined): boolean =>
  invoice?.status === "open" && ["retrying", "awaiting_method", "exhausted"].includes(invoice.collection)

export const orderPage = ({ invoice, retryAt, stripe, subscription, user }: OrderPage): string => {
  const { text, title, tone } = paymentWords(invoice, retryAt)
  return page(
    title,
    user,
    html`<h1>${title}</h1>
      <div
        class="card narrow ${tone}"
        id="order"
        data-order="/orders/${subscription.id}"
        data-state="${stateOf(invoice)}"
        ${tone === "wait" ? html`data-waits` : undefined}
      >
        ${text}
        <dl>
          <dt>Invoice</dt>
          <dd>${invoice?.number ?? "not issued yet"}</dd>
          <dt>Total</dt>
          <dd>${invoice === undefined ? "" : money(invoice.total, invoice.currency)}</dd>
        </dl>
      </div>
      ${
        needsCard(invoice)
          ? html`<p>
                <a class="button other" href="/account/card?next=/orders/${subscription.id}"
                  >Use another card</a
                >
              </p>
              <form method="post" action="/orders/${subscription.id}/pay">
                <button class="other">Try this card again</button>
              </form>`
          : undefined
      }
      <p><a href="/account">Go to your account</a></p>
      ${stripeScripts(stripe)}`,
  )
}

/** By this the page sees that something has happened. */
export const stateOf = (invoice: Invoice | undefined): string =>
  invoice === undefined ? "none" : `${invoice.status}/${invoice.collection}`

export const cardPage = (user: User, next: string, stripe: StripeScript, problem?: string): string =>
  page(
    "Add a card",
    user,
    html`<h1>Add a card</h1>
      <p class="lead">What is open is paid with it at once.</p>
      ${problemOf(problem)} ${cardForm(`/account/card`, "Save card", stripe)}
      <p><a href="${next}">Back</a></p>`,
  )

export interface AccountPage {
  readonly user: User
  readonly subscription: Subscription | undefined
  readonly invoices: ReadonlyArray<Invoice>
  readonly methods: ReadonlyArray<PaymentMethod>
}

const planWords = (subscription: Subscription | undefined): Html => {
  if (subscription === undefined) return html`<p>You have no plan. <a href="/">Pick one</a>.</p>`
  const { availableActions, currentPeriodEnd, endsAt, id, plan } = subscription
  const name = OFFERS.find(({ key }) => key === plan.key)?.name ?? plan.key
  const until = endsAt ?? currentPeriodEnd
  return html`<p><strong>${name}</strong></p>
    ${until === null ? undefined : html`<p>${endsAt === null ? "Renews" : "Ends"} on ${day(until)}.</p>`}
    ${
      availableActions.includes("cancel") && endsAt === null
        ? html`<form method="post" action="/account/plan/${id}/cancel">
            <button class="other">Cancel at the end of the month</button>
          </form>`
        : undefined
    }`
}

const INVOICE_WORDS: Readonly<Record<string, string>> = {
  draft: "being written",
  open: "open",
  paid: "paid",
  void: "void",
  uncollectible: "written off",
}

export const accountPage = ({ invoices, methods, subscription, user }: AccountPage): string =>
  page(
    "Account",
    user,
    html`<h1>${user.name}</h1>
      <p class="lead">${user.email}</p>
      <section class="card" aria-labelledby="plan">
        <h2 id="plan">Plan</h2>
        ${planWords(subscription)}
      </section>
      <section class="card" aria-labelledby="invoices">
        <h2 id="invoices">Invoices</h2>
        ${
          invoices.length === 0
            ? html`<p>There are none yet.</p>`
            : html`<ul class="rows">
                ${invoices.map(
                  (invoice) =>
                    html`<li>
                      ${
                        invoice.status === "draft"
                          ? html`<span>draft</span>`
                          : html`<a href="/account/invoices/${invoice.id}"
                              >${invoice.number ?? invoice.id}</a
                            >`
                      }
                      <span>${money(invoice.total, invoice.currency)}</span>
                      ${
                        invoice.status === "open" && invoice.subscriptionId !== null
                          ? html`<a href="/orders/${invoice.subscriptionId}">open: see why</a>`
                          : html`<span>${INVOICE_WORDS[invoice.status]}</span>`
                      }
                    </li>`,
                )}
              </ul>`
        }
      </section>
      <section class="card" aria-labelledby="cards">
        <h2 id="cards">Cards</h2>
        <ul class="rows">
          ${methods.map(
            (method) =>
              html`<li>
                <span>${cardName(method)}</span>
                ${
                  method.isDefault
                    ? html`<span>used for payments</span>`
                    : html`<form method="post" action="/account/card/${method.id}/remove">
                        <button class="link">Remove<span class="unseen"> ${cardName(method)}</span></button>
                      </form>`
                }
              </li>`,
          )}
        </ul>
        <p><a class="button other" href="/account/card">Add a card</a></p>
      </section>
      <p><a class="button other" href="/account/billing">Manage billing</a></p>
      <form method="post" action="/sign-out"><button class="link">Sign out</button></form>`,
  )

export const problemPage = (title: string, text: string): string =>
  page(
    title,
    undefined,
    html`<h1>${title}</h1>
      <p>${text}</p>
      <p><a href="/">To the plans</a></p>`,
  )

/**
 * The pages of a customer: plan, usage, invoices, payment methods and cancellation.
 */
import {
  type Customer,
  Customers,
  Documents,
  type Invoice,
  Invoices,
  PayerLinks,
  Plans,
  type Subscription,
  Subscriptions,
} from "@billwright/core"
import {
  cancelPage,
  Format,
  type Frame,
  type InvoiceView,
  type PlanView,
  portalPage,
  type PortalPageView,
  textsOf,
} from "@billwright/engine/payer"
import { Effect } from "effect"
import { makeCards } from "./Cards.ts"
import type { AllRights } from "./PayerPageOptions.ts"
import { byPayer, NOWHERE, type Visit, type Visited } from "./Visit.ts"

type Owner = Customer.Customer
type Plan = Subscription.Subscription

/** Most subscriptions of a page. */
const MAX_PLANS = 10
/** Invoices of a page. */
const INVOICES = 12
/** Most lines of the next invoice that are listed. */
const MAX_LINES = 50

const fill = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (place, name: string) => values[name] ?? place)

/** Whether a subscription can be canceled here: at the end of the period that it is in. */
const endOf = ({ availableActions, endsAt, period, phase }: Plan): number | null =>
  endsAt === null && (phase === "active" || phase === "trialing") && availableActions.includes("cancel")
    ? (period?.end ?? null)
    : null

/** When the next invoice comes: at the end of the period, or of the subscription if that is earlier. */
const nextInvoiceAt = ({ endsAt, period }: Plan): number | null =>
  endsAt !== null && period !== null ? Math.min(endsAt, period.end) : (endsAt ?? period?.end ?? null)

export const makePortalRoutes = (allow: AllRights, timezone: string, fallback: string) =>
  Effect.gen(function* () {
    const customers = yield* Customers
    const subscriptions = yield* Subscriptions
    const plans = yield* Plans
    const invoices = yield* Invoices
    const documents = yield* Documents
    const links = yield* PayerLinks
    const cards = yield* makeCards

    /** What a full period costs without usage, and whether usage costs something. */
    const priceOf = Effect.fnUntraced(function* (subscription: Plan, frame: Frame, format: Format) {
      const { currency, plan, quantities } = subscription
      const texts = textsOf(frame)
      const { terms } = yield* plans.getVersion(plan.key, plan.version)
      const counted = terms.charges.flatMap(({ key, quantity }) =>
        quantity === undefined ? [] : [[key, quantities[quantity] ?? "0"] as const],
      )
      const { total } = yield* plans.preview({
        plan: plan.key,
        version: plan.version,
        currency,
        quantities: Object.fromEntries(counted),
      })
      const { count, unit } = terms.interval
      const price = format.money(total)
      const fixed =
        total === 0n
          ? ""
          : count === 1
            ? fill(texts.each[unit], { price })
            : fill(texts.every[unit], { price, count: String(count) })
      const hasUsage = terms.charges.some(({ meter }) => meter !== undefined)
      return fixed !== "" && hasUsage ? `${fixed} ${texts.plusUsage}` : fixed
    })

    const notesOf = (subscription: Plan, frame: Frame, format: Format): ReadonlyArray<string> => {
      const { endsAt, pastDueSince, periods, phase, startAt, trialEndAt } = subscription
      const texts = textsOf(frame)
      const on = (text: string, at: number) => fill(text, { date: format.date(at, periods.timezone) })
      return [
        phase === "scheduled" ? on(texts.startsOn, startAt) : "",
        phase === "trialing" && trialEndAt !== null ? on(texts.trialUntil, trialEndAt) : "",
        phase === "paused" ? texts.paused : "",
        endsAt === null ? "" : on(texts.endsOn, endsAt),
        pastDueSince === null ? "" : texts.pastDue,
      ].filter((note) => note !== "")
    }

    const planOf = Effect.fnUntraced(function* (visit: Visit, frame: Frame, subscription: Plan) {
      const { currency, id, period, periods, plan } = subscription
      const texts = textsOf(frame)
      const format = new Format(frame.locale, currency)
      const upcoming = yield* documents.upcoming(id, frame.locale.tag)
      const { name } = yield* plans.get(plan.key)
      const nextAt = nextInvoiceAt(subscription)
      const view: PlanView = {
        name,
        price: yield* priceOf(subscription, frame, format),
        notes: notesOf(subscription, frame, format),
        next:
          upcoming === null || nextAt === null
            ? null
            : {
                text: fill(texts.nextOn, {
                  date: format.date(nextAt, periods.timezone),
                  amount: format.money(upcoming.invoice.amountDue),
                }),
                amounts: [
                  ...upcoming.document.lines.rows
                    .slice(0, MAX_LINES)
                    .map((row) => ({ label: row.description, value: row.amount, isSum: false })),
                  ...upcoming.document.totals
                    .filter(({ kind }) => kind !== "info")
                    .map(({ kind, label, value }) => ({ label, value, isSum: kind === "due" })),
                ],
              },
        usage:
          !allow.usage || upcoming === null || period === null
            ? null
            : {
                period: format.period(period.start, period.end, periods.timezone),
                table: upcoming.usage,
                explanation: upcoming.document.explanation,
              },
        cancel: allow.cancel && endOf(subscription) !== null ? `${visit.path}/cancel/${id}` : null,
        uncancel:
          allow.cancel && subscription.availableActions.includes("uncancel")
            ? `${visit.path}/uncancel/${id}`
            : null,
      }
      return view
    })

    const invoiceOf = (visit: Visit, frame: Frame, invoice: Invoice.Invoice): InvoiceView => {
      const { amountDue, currency, id, issuedAt, number, pastDueSince, status, total } = invoice
      const format = new Format(frame.locale, currency)
      const isPayable = allow.pay && (status === "open" || status === "uncollectible") && amountDue > 0n
      // With the time and the key of this page's link: whatever ends that link ends this one.
      const path = links.pathOf({ ...visit.claims, kind: "invoice", id })
      return {
        number: number ?? id,
        date: format.date(issuedAt ?? 0, timezone),
        total: format.money(total),
        status: pastDueSince !== null ? "overdue" : status === "draft" ? "open" : status,
        pay: isPayable ? format.money(amountDue) : null,
        href: visit.path.replace(/\/account\/[^/]*$/, path),
      }
    }

    const methodsOf = Effect.fnUntraced(function* (visit: Visit, customer: Owner) {
      if (!allow.methods || cards.provider?.methods === undefined) return null
      const list = yield* cards.saved(customer.id)
      return {
        add: `${visit.path}/card`,
        list: list.map(({ brand, expiry, id, isDefault, last4, type }) => ({
          brand: brand ?? type,
          last4,
          isDefault,
          validUntil: expiry === null ? null : `${String(expiry.month).padStart(2, "0")}/${expiry.year}`,
          makeDefault: isDefault ? null : `${visit.path}/default/${id}`,
        })),
      }
    })

    const show = Effect.fnUntraced(function* (visit: Visit, customer: Owner) {
      const frame = visit.frame(customer.locale ?? fallback)
      const before = new URLSearchParams(visit.query).get("before")
      const own = yield* subscriptions.list({ customerId: customer.id, limit: 100 })
      const live = own.data.filter(({ phase }) => phase !== "ended").slice(0, MAX_PLANS)
      const page = yield* invoices.list({
        customerId: customer.id,
        limit: INVOICES,
        ...(before !== null && { startingAfter: before }),
      })
      const last = page.data.at(-1)
      const view: PortalPageView = {
        customer: customer.name,
        plans: yield* Effect.forEach(live, (one) => planOf(visit, frame, one)),
        invoices: page.data
          .filter(({ status }) => status !== "draft")
          .map((one) => invoiceOf(visit, frame, one)),
        older: page.hasMore && last !== undefined ? `${visit.path}?before=${last.id}` : null,
        newest: before === null ? null : visit.path,
        methods: yield* methodsOf(visit, customer),
      }
      return visit.answers.page(200, portalPage(frame, view))
    })

    /** A subscription of the customer. Those of others are not there. */
    const ownPlan = Effect.fnUntraced(function* (customer: Owner, id: string) {
      const found = yield* Effect.catchTag(subscriptions.get(id), "SubscriptionNotFound", () =>
        Effect.succeed(undefined),
      )
      return found?.customerId === customer.id ? found : undefined
    })

    const ask = Effect.fnUntraced(function* (visit: Visit, customer: Owner, id: string) {
      const subscription = yield* ownPlan(customer, id)
      if (subscription === undefined) return NOWHERE
      const end = endOf(subscription)
      if (end === null) return visit.answers.seeOther(visit.path)
      const frame = visit.frame(customer.locale ?? fallback)
      const format = new Format(frame.locale, subscription.currency)
      const page = cancelPage(frame, {
        plan: (yield* plans.get(subscription.plan.key)).name,
        date: format.date(end, subscription.periods.timezone),
        cancel: `${visit.path}/cancel/${subscription.id}`,
        back: visit.path,
      })
      return visit.answers.page(200, page)
    })

    /** Does what a form asks for. Where it is done already, the page shows it. */
    const change = Effect.fnUntraced(function* (visit: Visit, customer: Owner, action: string, id: string) {
      const subscription = yield* ownPlan(customer, id)
      if (subscription === undefined) return NOWHERE
      const { availableActions } = subscription
      if (action === "cancel" && endOf(subscription) !== null)
        yield* subscriptions.cancel(subscription.id, { at: "period_end" })
      else if (action === "uncancel" && availableActions.includes("uncancel"))
        yield* subscriptions.uncancel(subscription.id)
      return visit.answers.seeOther(visit.path)
    })

    const makeDefault = Effect.fnUntraced(function* (visit: Visit, customer: Owner, id: string) {
      const method = yield* cards.find(id, customer.id)
      if (method === undefined) return NOWHERE
      if (!method.isDefault) yield* cards.update(method.id, { isDefault: true })
      return visit.answers.seeOther(visit.path)
    })

    const post = Effect.fnUntraced(function* (visit: Visit, customer: Owner) {
      const [action = "", id, ...more] = visit.rest
      if (more.length > 0) return NOWHERE
      const isCancel = action === "cancel" || action === "uncancel"
      if (isCancel && allow.cancel && id !== undefined) return yield* change(visit, customer, action, id)
      if (!allow.methods) return NOWHERE
      if (action === "default" && id !== undefined) return yield* makeDefault(visit, customer, id)
      if (action !== "card" || id !== undefined) return NOWHERE
      return yield* cards.begin(visit, customer.locale ?? fallback, customer.id)
    })

    const get = Effect.fnUntraced(function* (visit: Visit, customer: Owner) {
      const [action, id, ...more] = visit.rest
      if (more.length > 0) return NOWHERE
      if (action === undefined) return yield* show(visit, customer)
      if (id === undefined) return NOWHERE
      if (action === "cancel") return allow.cancel ? yield* ask(visit, customer, id) : NOWHERE
      if (action !== "return") return NOWHERE
      yield* cards.returned(id, customer.id)
      return visit.answers.seeOther(visit.path)
    })

    return (visit: Visit): Visited =>
      customers.get(visit.claims.id).pipe(
        Effect.catchTag("CustomerNotFound", () => Effect.succeed(null)),
        Effect.flatMap((customer): Visited => {
          if (customer === null) return Effect.succeed(NOWHERE)
          return byPayer(visit, customer.id, visit.isPost ? post(visit, customer) : get(visit, customer))
        }),
      )
  })

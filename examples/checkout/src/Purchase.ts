/** What the shop does with billing: it sells plans, saves cards and sees how payments fare. */
import {
  ActionUnavailableError,
  type Billing,
  type Invoice,
  type PaymentMethod,
  type Subscription,
} from "billwright"

/** States of a payment that pass by themselves within a moment. */
const PASSING = new Set(["idle", "collecting"])
/** Most billing runs that a purchase waits for: one issues the invoice, and others open and attempt its payment. */
const MAX_RUNS = 5

/** Of a subscription, what its first or newest invoice says. */
export const invoiceOf = async (
  billing: Billing,
  { id: subscriptionId }: Subscription,
): Promise<Invoice | undefined> => (await billing.invoices.list({ subscriptionId, limit: 1 }).page()).data[0]

/** The plan that a customer has. */
export const planOf = async (billing: Billing, customerId: string): Promise<Subscription | undefined> => {
  for await (const subscription of billing.subscriptions.list({ customerId }))
    if (subscription.phase !== "ended") return subscription
  return undefined
}

export const cardsOf = async (billing: Billing, customerId: string): Promise<ReadonlyArray<PaymentMethod>> =>
  (await billing.paymentMethods.list({ customerId, status: "attached", limit: 50 }).page()).data

/** Begins a card of a customer. The provider's form saves it, or with `returnUrl` the provider's page. */
export const beginCard = async (billing: Billing, customerId: string, returnUrl: string | null) => {
  const { id } = await billing.paymentMethods.create({ customerId })
  return billing.paymentMethods.startSetup(id, {
    returnUrl: returnUrl && `${returnUrl}?method=${id}`,
  })
}

/** The card that a customer says to have saved, if that is so. Cards of others are not there for this customer. */
export const savedCard = async (
  billing: Billing,
  customerId: string,
  id: string,
): Promise<PaymentMethod | undefined> => {
  const method = await billing.paymentMethods.get(id).catch(() => undefined)
  if (method?.customerId !== customerId) return undefined
  const { status } = method.status === "pending" ? await billing.paymentMethods.refresh(id) : method
  if (status !== "attached") return undefined
  return billing.paymentMethods.update(id, { isDefault: true })
}

/** The background does what is due, too, some seconds later. Here a customer waits for it. */
export const settle = async (billing: Billing, subscription: Subscription): Promise<void> => {
  for (let runs = 0; runs < MAX_RUNS; runs++) {
    await billing.runDue({ limit: 100 })
    const invoice = await invoiceOf(billing, subscription)
    if (invoice !== undefined && !PASSING.has(invoice.collection)) return
  }
}

/** The customer has put money on the card, and does not want to wait for the next attempt. */
export const payNow = async (billing: Billing, invoice: Invoice): Promise<void> => {
  try {
    await billing.invoices.pay(invoice.id)
  } catch (error) {
    // An attempt is under way, or there is no card. The page says so.
    if (!(error instanceof ActionUnavailableError)) throw error
  }
}

/** When a declined payment is tried again. */
export const retryAt = async (billing: Billing, invoice: Invoice): Promise<Date | undefined> => {
  const { customerId } = invoice
  const [failed] = (await billing.events.list({ customerId, type: "payment.failed", limit: 1 }).page()).data
  const { next_attempt_at: at } = (failed?.data ?? {}) as { readonly next_attempt_at?: string | null }
  return at === undefined || at === null ? undefined : new Date(at)
}

/** What the customer's browser confirms a payment with, if the bank asks. The invoice is attempted while the customer is there. */
export const confirmation = async (billing: Billing, invoice: Invoice) => {
  try {
    const { clientSecret } = await billing.invoices.startPayment(invoice.id)
    return { clientSecret }
  } catch (error) {
    // An attempt is under way. The page says so.
    if (error instanceof ActionUnavailableError) return undefined
    throw error
  }
}

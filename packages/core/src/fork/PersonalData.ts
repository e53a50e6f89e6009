/**
 * Takes what names a person out of a snapshot. Ids, amounts, times, plans and dimensions of usage stay: without them it
 * would not be billed the same.
 */
import type { Customer } from "../customers/Customer.ts"
import type { StoredInvoice } from "../invoices/Invoice.ts"
import { MANUAL_PROVIDER, type StoredPayment } from "../payments/Payment.ts"
import type { CustomerSnapshot } from "./CustomerSnapshot.ts"

const NAME = "Customer"
const EMAIL = "customer@example.com"
const TAX_ID = "removed"

/** What hosts write of their own, by the names of fields. */
const OWN: Readonly<Record<string, unknown>> = { metadata: {}, idempotencyKey: null, last4: null }

const withoutOwn = <A extends object>(value: A): A => {
  const kept = Object.entries(OWN).filter(([name]) => Object.hasOwn(value, name))
  return { ...value, ...Object.fromEntries(kept) }
}

const taxIdOf = (taxId: string | null): string | null => (taxId === null ? null : TAX_ID)

const customerOf = (customer: Customer): Customer => ({
  ...customer,
  name: NAME,
  email: EMAIL,
  address: null,
  taxId: taxIdOf(customer.taxId),
})

const invoiceOf = ({ taxedBy, ...invoice }: StoredInvoice): StoredInvoice => {
  const { billedTo, customer } = taxedBy
  return {
    ...invoice,
    taxedBy: {
      ...taxedBy,
      customer: { ...customer, taxId: taxIdOf(customer.taxId) },
      ...(billedTo === undefined ? {} : { billedTo: { ...billedTo, name: NAME, address: null } }),
    },
  }
}

/** What a bank writes of a transfer may name a person. */
const paymentOf = (payment: StoredPayment): StoredPayment =>
  payment.provider === MANUAL_PROVIDER ? { ...payment, reference: null } : payment

/** A snapshot of the same customer without name, address, e-mail address, tax id, metadata and keys of the host. */
export const withoutPersonalData = (snapshot: CustomerSnapshot): CustomerSnapshot => ({
  ...snapshot,
  values: Object.fromEntries(
    Object.entries(snapshot.values).map(([type, values]) => [
      type,
      values.map((value) => withoutOwn(type === "Customer" ? customerOf(value as Customer) : value)),
    ]),
  ),
  subscriptions: snapshot.subscriptions.map(({ periods, value }) => ({ periods, value: withoutOwn(value) })),
  invoices: snapshot.invoices.map(invoiceOf),
  payments: snapshot.payments.map(paymentOf),
  credits: snapshot.credits.map(({ grants, holds, ...credits }) => ({
    ...credits,
    grants: grants.map(withoutOwn),
    holds: holds.map(withoutOwn),
  })),
  records: snapshot.records.map(withoutOwn),
})

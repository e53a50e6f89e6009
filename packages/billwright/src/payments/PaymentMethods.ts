/**
 * Payment methods: cards and the like of customers, which the payment provider saves.
 */
import type { CallOptions, Metadata } from "../Call.ts"
import type { Listing, PageQuery } from "../Listing.ts"
import type { CardExpiry, CustomerAction } from "./MethodProvider.ts"

/**
 * `pending` until the customer has saved it, then `attached`. `failed` if that did not come to pass within a day.
 * `detached` once it was removed.
 */
export type PaymentMethodStatus = "pending" | "attached" | "failed" | "detached"

/** A card or the like of a customer, which the payment provider has saved. Its number never comes here. */
export interface PaymentMethod {
  /** `mtd_…` */
  readonly id: string
  readonly customerId: string
  /** The payment provider that saves it. */
  readonly provider: string
  readonly status: PaymentMethodStatus
  /** Whether invoices of the customer are collected with it. A customer has one at most. */
  readonly isDefault: boolean
  /** What it is, such as `card` or `sepa_debit`. `null` until it is attached. */
  readonly type: string | null
  /** The brand of a card, such as `visa`. */
  readonly brand: string | null
  /** The last 4 characters of its number. */
  readonly last4: string | null
  /** The last month in which it is valid. `null` if it does not expire. */
  readonly expiry: CardExpiry | null
  /** When `payment_method.expiring` was published. It is published once, when the last month begins. */
  readonly expiringSince: Date | null
  /** Why it was not saved: a code of the provider, or `abandoned`. */
  readonly failureCode: string | null
  /** How the provider names it. */
  readonly reference: string | null
  /** How the provider names the customer. */
  readonly providerCustomer: string | null
  /** How the provider names the setup that saves it. */
  readonly setupReference: string | null
  readonly metadata: Metadata
  readonly detachedAt: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** A new payment method. */
export interface CreatePaymentMethod {
  readonly customerId: string
  readonly metadata?: Metadata | undefined
}

/** The fields to change. Others stay as they are. */
export interface UpdatePaymentMethod {
  /** `true` takes it from the method that is the default now. */
  readonly isDefault?: boolean | undefined
  /** Keys to set. A key with the value `null` is removed. `null` instead of an object removes all keys. */
  readonly metadata?: Readonly<Record<string, string | null>> | null | undefined
}

/** Selects payment methods, newest first. */
export interface ListPaymentMethods extends PageQuery {
  readonly customerId?: string | undefined
  readonly status?: PaymentMethodStatus | undefined
}

/** How the customer saves a payment method. */
export interface StartPaymentMethodSetup {
  /** Where a page of the provider sends the customer afterwards. Default: the customer stays on your page. */
  readonly returnUrl?: string | null | undefined
}

/** How the customer goes on. Hand it to the customer's browser; it is given out once, and not stored. */
export interface PaymentMethodSetup extends CustomerAction {
  readonly paymentMethodId: string
}

/**
 * Errors: `InvalidInputError`, `CustomerNotFoundError`, `PaymentMethodNotFoundError`, `ActionUnavailableError` when there
 * is no payment provider that saves methods or the method does not allow it as it is,
 * `PaymentProviderUnavailableError` when the provider does not answer, and `InvoicingUnsupportedError`.
 */
export interface PaymentMethods {
  /** Begins a method. It is `pending`: `startSetup` says how the customer saves it. */
  create(input: CreatePaymentMethod, options?: CallOptions): Promise<PaymentMethod>
  /**
   * Asks the payment provider how the customer saves a pending method: on your page with a client secret, or, with a
   * `returnUrl`, on a page of the provider. Repeating it gives the same setup. Not in a transaction.
   */
  startSetup(id: string, input?: StartPaymentMethodSetup, options?: CallOptions): Promise<PaymentMethodSetup>
  /**
   * Asks the payment provider whether the customer has saved a pending method. Then it is `attached`, and the first one of
   * a customer is its default. Call it when the customer comes back. Not in a transaction.
   */
  refresh(id: string, options?: CallOptions): Promise<PaymentMethod>
  get(id: string, options?: CallOptions): Promise<PaymentMethod>
  update(id: string, input: UpdatePaymentMethod, options?: CallOptions): Promise<PaymentMethod>
  /** Nothing is charged with it any more, and the provider forgets it. Doing it again changes nothing. */
  detach(id: string, options?: CallOptions): Promise<void>
  list(query?: ListPaymentMethods, options?: CallOptions): Listing<PaymentMethod>
}

/**
 * A shop that sells credits. Every `with-….ts` is the same shop on another database library.
 */
import type { Billing } from "./Billing.ts"
import type { Order } from "./Order.ts"

export interface Shop {
  /**
   * Stores the order and records its usage in one transaction. `check` is other work of the shop before the commit. When
   * it throws, neither is stored.
   */
  readonly placeOrder: (order: Order, check: () => Promise<void>) => Promise<void>
  readonly close: () => Promise<void>
}

export type OpenShop = (url: string, billing: Billing) => Shop

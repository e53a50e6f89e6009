/**
 * A storage of subscriptions and invoices with one planted bug.
 */
import type { BillingInvariant } from "../../src/billing/BillingCheckers.ts"
import type { Ports } from "../../src/world/Observer.ts"

export interface BillingMutation {
  readonly name: string
  /** The invariants that it breaks. At least one of them must fail. */
  readonly breaks: ReadonlyArray<BillingInvariant>
  readonly breakStorage: (ports: Ports) => Ports
}

export const bug = (
  name: string,
  breaks: ReadonlyArray<BillingInvariant>,
  breakStorage: (ports: Ports) => Ports,
): BillingMutation => ({ name, breaks, breakStorage })

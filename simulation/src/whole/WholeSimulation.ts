/**
 * A simulation of everything at once: one world with usage, subscriptions, payments, credits, webhooks, operators and test
 * clocks, in all faults of the other simulations.
 */
import type { PaymentMutations } from "../payments/Collecting.ts"
import { runSeeded } from "../world/Seeded.ts"
import { START, WholeWorld } from "./WholeWorld.ts"

/** A bug may be planted, to test that it is found. */
export interface WholeOptions extends PaymentMutations {
  readonly seed: number
}

/** Runs one simulation of the whole. */
export const simulateWhole = ({ seed, ...mutations }: WholeOptions) =>
  runSeeded(
    { seed, start: START },
    (choice, recorder, memory) => new WholeWorld(choice, recorder, memory, mutations),
  )

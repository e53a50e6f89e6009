/**
 * A simulation of prepaid credits: plans grant them, customers buy them, and invoices use them, while processes that
 * die between each two steps do what is due.
 */
import type { PaymentMutations } from "../payments/Collecting.ts"
import { runSeeded } from "../world/Seeded.ts"
import { PrepaidWorld, START } from "./PrepaidWorld.ts"

/** A bug may be planted, to test that it is found. */
export interface PrepaidOptions extends PaymentMutations {
  readonly seed: number
}

/** Runs one simulation of prepaid credits. */
export const simulatePrepaid = ({ seed, ...mutations }: PrepaidOptions) =>
  runSeeded(
    { seed, start: START },
    (choice, recorder, memory) => new PrepaidWorld(choice, recorder, memory, mutations),
  )

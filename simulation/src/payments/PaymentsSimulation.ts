/**
 * A simulation of payments: processes that die between each two steps collect invoices from a bank that loses, delays
 * and repeats requests and answers. Meanwhile the host records money, gives it back, voids and writes off.
 */
import { runSeeded } from "../world/Seeded.ts"
import type { PaymentMutations } from "./Collecting.ts"
import { PaymentsWorld, START } from "./PaymentsWorld.ts"

/** A bug may be planted, to test that it is found. */
export interface PaymentsOptions extends PaymentMutations {
  readonly seed: number
}

/** Runs one simulation of payments. */
export const simulatePayments = ({ seed, ...mutations }: PaymentsOptions) =>
  runSeeded(
    { seed, start: START },
    (choice, recorder, memory) => new PaymentsWorld(choice, recorder, memory, mutations),
  )

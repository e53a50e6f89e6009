/**
 * A simulation of credits: processes that die between each two steps, and whose clocks are wrong, take from the same
 * accounts at once.
 */
import { runSeeded } from "../world/Seeded.ts"
import { type CreditMutations, CreditsWorld, START } from "./CreditsWorld.ts"

/** A bug may be planted, to test that it is found. */
export interface CreditsOptions extends CreditMutations {
  readonly seed: number
}

/** Runs one simulation of credits. */
export const simulateCredits = ({ seed, ...mutations }: CreditsOptions) =>
  runSeeded(
    { seed, start: START },
    (choice, recorder, memory) => new CreditsWorld(choice, recorder, memory, mutations),
  )

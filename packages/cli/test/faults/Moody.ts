/**
 * Receivers that answer at random.
 */
import type { Choice } from "@billwright/simulation"
import type { Script } from "../Receiver.ts"

/** The statuses to choose from, mostly 2xx. */
const MOODS = [204, 204, 204, 200, 500, 503, 429]

export const moody =
  (choice: Choice): Script =>
  (exchange) =>
    exchange.answer(choice.pick(MOODS)!)

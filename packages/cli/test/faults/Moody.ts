/**
 * Receivers that answer as the mood takes them.
 */
import type { Choice } from "@billwright/simulation"
import type { Script } from "../Receiver.ts"

/** Mostly what is asked of them. */
const MOODS = [204, 204, 204, 200, 500, 503, 429]

export const moody =
  (choice: Choice): Script =>
  (exchange) =>
    exchange.answer(choice.pick(MOODS)!)

/**
 * Idempotency keys as Stripe keeps them: 24 hours, with the first answer.
 */
import { StripeProblem } from "./StripeProblem.ts"

/** How long a key is kept. */
export const KEY_MILLIS = 86_400_000
/** Longest key, in characters. */
const MAX_KEY_LENGTH = 255

/** An answer. */
export interface StripeAnswer {
  readonly status: number
  readonly body: string
}

interface Kept {
  readonly request: string
  readonly answer: StripeAnswer
  readonly at: number
}

/** The keys of an account. */
export class IdempotencyKeys {
  readonly #now: () => number
  readonly #kept = new Map<string, Kept>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** The answer that was kept with the key. Throws when the key was used for something else. */
  find(key: string, request: string): StripeAnswer | undefined {
    if (key.length > MAX_KEY_LENGTH) {
      throw StripeProblem.invalid(
        "parameter_invalid",
        `Idempotency keys have ${MAX_KEY_LENGTH} characters at most.`,
      )
    }
    this.#forget()
    const kept = this.#kept.get(key)
    if (kept === undefined || kept.request === request) return kept?.answer
    const message =
      "Keys for idempotent requests can only be used with the same parameters they were first used with."
    throw new StripeProblem(400, { type: "idempotency_error", message }, false)
  }

  keep(key: string, request: string, answer: StripeAnswer): void {
    this.#kept.set(key, { request, answer, at: this.#now() })
  }

  #forget(): void {
    const before = this.#now() - KEY_MILLIS
    for (const [key, { at }] of this.#kept) {
      if (at > before) return
      this.#kept.delete(key)
    }
  }
}

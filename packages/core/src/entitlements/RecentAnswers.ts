/**
 * Answers of this process about features, for callers who accept one that is some milliseconds old.
 */
import type { CustomerId } from "../customers/Customer.ts"
import { type Tenant, tenantKey } from "../shared/Tenant.ts"
import type { CheckEntitlement, Entitlement } from "./Entitlement.ts"

/** Most customers whose answers are kept: those that were asked for last. */
export const MAX_RECENT_CUSTOMERS = 10_000
/** Most answers that are kept of a customer. A new one beyond that takes the place of all others. */
export const MAX_RECENT_ANSWERS = 100

interface Answer {
  readonly answer: Entitlement
  /** When reading it began, in nanoseconds of a clock that only goes forward. */
  readonly readAt: bigint
}

/** The answers of a customer. */
type Answers = Map<string, Answer>

const NANOS = 1_000_000n

const nameOf = ({ feature, quantity = 1 }: CheckEntitlement): string => `${feature} ${quantity}`

export class RecentAnswers {
  readonly #byCustomer = new Map<string, Answers>()

  /** An answer that is no older than asked for. */
  find(tenant: Tenant, asked: CheckEntitlement, now: bigint): Entitlement | undefined {
    const found = this.#byCustomer.get(keyOf(tenant, asked.customerId))?.get(nameOf(asked))
    const oldest = now - BigInt(asked.maxStalenessMillis ?? 0) * NANOS
    return found === undefined || found.readAt < oldest ? undefined : found.answer
  }

  /**
   * Gives a function that keeps the answer of a reading that begins now. It keeps nothing if the answers of the customer were
   * forgotten meanwhile: what was read may be from before that.
   */
  reading(tenant: Tenant, asked: CheckEntitlement, readAt: bigint): (answer: Entitlement) => void {
    const key = keyOf(tenant, asked.customerId)
    const answers: Answers = this.#byCustomer.get(key) ?? new Map()
    // The customer that was asked for last comes last.
    this.#byCustomer.delete(key)
    this.#byCustomer.set(key, answers)
    if (this.#byCustomer.size > MAX_RECENT_CUSTOMERS) {
      const [oldest] = this.#byCustomer.keys()
      this.#byCustomer.delete(oldest!)
    }
    return (answer) => {
      if (answers.size >= MAX_RECENT_ANSWERS) answers.clear()
      answers.set(nameOf(asked), { answer, readAt })
    }
  }

  /** Forgets the answers of a customer. Readings that are under way keep nothing. */
  forget(tenant: Tenant, customerId: CustomerId): void {
    this.#byCustomer.delete(keyOf(tenant, customerId))
  }
}

const keyOf = (tenant: Tenant, customerId: CustomerId): string => `${tenantKey(tenant)} ${customerId}`

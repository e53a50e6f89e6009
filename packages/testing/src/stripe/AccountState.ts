/**
 * What the fake of Stripe keeps of an account: its objects, its keys, and what a test makes go wrong.
 */
import { randomBytes } from "node:crypto"
import { IdempotencyKeys } from "./IdempotencyKeys.ts"
import type { StripeEvent, StripeKinds, StripeObject } from "./StripeObjects.ts"
import { StripeProblem } from "./StripeProblem.ts"
import type { CardBehaviour } from "./TestCards.ts"

/** The version of the API whose objects the fake has. */
export const FAKE_API_VERSION = "2026-08-26.dahlia"

/**
 * What goes wrong with a request.
 *
 * - `lost_request`: the connection breaks before anything is done.
 * - `lost_reply`: it is done, and then the connection breaks before the answer.
 * - `cut_body`: it is done, and the connection breaks in the middle of the answer.
 * - `server_error`: it is not done, and the answer is 500. Stripe keeps that answer with the key.
 * - `server_error_after`: it is done, and the answer is 500 all the same. Stripe keeps that answer with the key.
 * - `in_use`: the answer is 409, as while another request with the same key is under way.
 * - `locked`: the answer is 429 `lock_timeout`, as while another request changes the same object.
 * - `rate_limited`: the answer is 429 `rate_limit`.
 * - `no_answer`: it is not done, and no answer comes until the client gives up.
 */
export type StripeFault =
  | "lost_request"
  | "lost_reply"
  | "cut_body"
  | "server_error"
  | "server_error_after"
  | "in_use"
  | "locked"
  | "rate_limited"
  | "no_answer"

/** Which requests a fault is for. */
export interface FaultMatch {
  readonly method?: "GET" | "POST" | "DELETE"
  /** Matches the path, such as `/v1/payment_intents/pi_1/confirm`. */
  readonly path: RegExp
}

/** A request that arrived. */
export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly body: string
  readonly idempotencyKey: string | null
  /** Whether the answer was one that was kept with the key. */
  readonly isReplay: boolean
}

/** The most requests and events that an account keeps, and the most objects of a kind. */
const MAX_KEPT = 100_000

type Tables = { readonly [K in keyof StripeKinds]: Map<string, StripeKinds[K]> }

const PREFIXES: Readonly<Record<keyof StripeKinds, string>> = {
  customer: "cus",
  payment_method: "pm",
  payment_intent: "pi",
  setup_intent: "seti",
  "checkout.session": "cs",
  charge: "ch",
  refund: "re",
  dispute: "du",
  event: "evt",
}

/** The state of an account. */
export class AccountState {
  readonly keys: IdempotencyKeys
  /** What the methods do, by their ids. Stripe knows it by the number of the card. */
  readonly behaviours = new Map<string, CardBehaviour>()
  /** Methods that the customer has confirmed for later use. */
  readonly setUp = new Set<string>()
  readonly pageOf: (session: string) => string
  readonly #now: () => number
  readonly #tables: Tables = {
    customer: new Map(),
    payment_method: new Map(),
    payment_intent: new Map(),
    setup_intent: new Map(),
    "checkout.session": new Map(),
    charge: new Map(),
    refund: new Map(),
    dispute: new Map(),
    event: new Map(),
  }
  readonly #requests: Array<SeenRequest> = []
  readonly #faults: Array<FaultMatch & { readonly fault: StripeFault; left: number }> = []
  readonly #next: Array<CardBehaviour> = []
  #request: StripeEvent["request"] = { id: null, idempotency_key: null }
  #made = 0

  /** `now` gives epoch milliseconds, `pageOf` the address of a page by the id of its checkout session. */
  constructor(now: () => number, pageOf: (session: string) => string) {
    this.#now = now
    this.pageOf = pageOf
    this.keys = new IdempotencyKeys(now)
  }

  get requests(): ReadonlyArray<SeenRequest> {
    return this.#requests
  }

  fail(match: FaultMatch, fault: StripeFault, times = 1): void {
    this.#faults.push({ ...match, fault, left: times })
  }

  next(behaviour: CardBehaviour): void {
    this.#next.push(behaviour)
  }

  /** All objects of a kind, oldest first. */
  all<K extends keyof StripeKinds>(kind: K): ReadonlyArray<StripeKinds[K]> {
    return [...this.#tables[kind].values()]
  }

  /** An object. Throws what Stripe answers when there is none. */
  get<K extends keyof StripeKinds>(kind: K, id: string, param = "id"): StripeKinds[K] {
    const found = this.#tables[kind].get(id)
    if (found === undefined) throw StripeProblem.missing(kind, id, param)
    return found
  }

  /** The fields that every new object has. */
  head<K extends keyof StripeKinds>(kind: K): StripeObject & { readonly object: K } {
    this.#made += 1
    const id = `${PREFIXES[kind]}_fake${String(this.#made).padStart(8, "0")}`
    return { id, object: kind, created: this.seconds(), livemode: false }
  }

  secretOf(id: string): string {
    return `${id}_secret_${randomBytes(12).toString("hex")}`
  }

  seconds(): number {
    return Math.floor(this.#now() / 1_000)
  }

  add<K extends keyof StripeKinds>(kind: K, object: StripeKinds[K]): StripeKinds[K] {
    const table = this.#tables[kind]
    if (table.size >= MAX_KEPT) throw new RangeError(`the fake keeps ${MAX_KEPT} objects of a kind`)
    table.set(object.id, object)
    return object
  }

  /** Publishes an event with the object as it is now. */
  emit(type: string, object: object): void {
    this.add("event", {
      ...this.head("event"),
      type,
      api_version: FAKE_API_VERSION,
      pending_webhooks: 1,
      data: { object: structuredClone(object) },
      request: this.#request,
    })
  }

  takeNext(): CardBehaviour | undefined {
    return this.#next.shift()
  }

  takeFault(method: string, path: string): StripeFault | undefined {
    const found = this.#faults.find(
      (one) => one.left > 0 && (one.method ?? method) === method && one.path.test(path),
    )
    if (found === undefined) return undefined
    found.left -= 1
    return found.fault
  }

  /** Begins a request, which the events of its work name. */
  begin(id: string, idempotencyKey: string | null): void {
    this.#request = { id, idempotency_key: idempotencyKey }
  }

  note(request: SeenRequest): void {
    if (this.#requests.length >= MAX_KEPT) throw new RangeError(`the fake keeps ${MAX_KEPT} requests`)
    this.#requests.push(request)
  }
}

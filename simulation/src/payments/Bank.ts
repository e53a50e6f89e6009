/**
 * The other side of payments: who really has the customers' money. It keeps a book of its own, and everything that
 * arrives, in order. It keeps the promises of `PaymentProvider`: a payment takes money once at most, an attempt counts
 * once, and what is closed takes nothing. For what goes back, see `GivenBack`.
 */
import type {
  AttemptPayment,
  Notice,
  OpenPayment,
  PaymentRead,
  ProviderDispute,
  ProviderRefund,
  RefundPayment,
  RefundQuery,
} from "@billwright/core"
import type { Choice } from "../world/Choice.ts"
import { GivenBack, type ReturnFact } from "./GivenBack.ts"
import type { Post } from "./Post.ts"

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** What happened, in order. `sent` is a request that left the library; the others happened at the bank. */
export type BankFact =
  | { readonly type: "opened"; readonly reference: string; readonly invoiceId: string }
  | {
      readonly type: "sent"
      readonly reference: string
      readonly attemptId: string
      /** In epoch milliseconds. */
      readonly at: number
    }
  | { readonly type: "failed"; readonly reference: string; readonly isRefusal: boolean }
  | {
      readonly type: "stated"
      readonly reference: string
      readonly attemptId: string
      readonly status: Status
      /** Whether only the customer can do more. */
      readonly isCustomersTurn: boolean
    }
  | {
      readonly type: "charged"
      readonly reference: string
      readonly invoiceId: string
      readonly amount: bigint
      readonly currency: string
      /** Whether the bank tells the host of it by itself. */
      readonly isTold: boolean
    }
  | { readonly type: "closed"; readonly reference: string }
  | ReturnFact

type Status = PaymentRead["status"]

interface Account extends OpenPayment {
  readonly reference: string
  readonly attempts: Set<string>
  state: PaymentRead
  isClosed: boolean
}

/** Something that arrives later. */
interface InTransit {
  readonly at: number
  readonly arrive: () => void
}

/** Whether no other attempt took the place of this one. What was asked of the customer before is void. */
const isNewest = ({ attempts }: Account, attemptId: string): boolean => [...attempts].at(-1) === attemptId

/** What an attempt comes to. */
type Outcome = "succeeded" | "processing" | "requires_action" | "declined"

const CODES = ["insufficient_funds", "insufficient_funds", "do_not_honor", "expired_card", "no_method"]

export class Bank {
  readonly #choice: Choice
  readonly #accounts = new Map<string, Account>()
  readonly #given: GivenBack
  readonly #post: Post | undefined
  readonly facts: Array<BankFact> = []
  #transit: Array<InTransit> = []
  #now = 0

  /** Without a post, it tells nothing by itself. */
  constructor(choice: Choice, post: Post | undefined) {
    this.#choice = choice
    this.#post = post
    this.#given = new GivenBack(choice.fork(), {
      isTelling: post !== undefined,
      later: (afterMillis, arrive) => this.later(afterMillis, arrive),
      note: (fact, { reference }) => {
        this.facts.push(fact)
        if (fact.type === "refund") this.#tell("refund", fact.refund.reference!, reference)
        if (fact.type === "dispute") this.#tell("dispute", fact.dispute.reference, reference)
      },
    })
  }

  /** The time of the bank. */
  get now(): number {
    return this.#now
  }

  /** Moves the time of the bank on: what is in transit until then arrives. */
  moveTo(now: number): void {
    for (;;) {
      const next = this.#transit.toSorted((a, b) => a.at - b.at)[0]
      if (next === undefined || next.at > now) break
      this.#transit = this.#transit.filter((one) => one !== next)
      this.#now = Math.max(this.#now, next.at)
      next.arrive()
    }
    this.#now = Math.max(this.#now, now)
  }

  /** A request or a message that arrives later. */
  later(afterMillis: number, arrive: () => void): void {
    this.#transit.push({ at: this.#now + afterMillis, arrive })
  }

  open(payment: OpenPayment): { readonly reference: string } {
    const reference = `bank_${payment.paymentId}`
    if (!this.#accounts.has(reference)) {
      const state = { status: "open" } as const
      this.#accounts.set(reference, { ...payment, reference, state, isClosed: false, attempts: new Set() })
      this.facts.push({ type: "opened", reference, invoiceId: payment.invoiceId })
    }
    return { reference }
  }

  attempt({ attemptId, reference }: AttemptPayment): PaymentRead {
    const account = this.#find(reference)
    const { attempts, isClosed, state } = account
    const isTaken = state.status === "succeeded" || state.status === "processing"
    if (isClosed || isTaken || attempts.has(attemptId)) return state
    attempts.add(attemptId)
    const outcome = this.#choice.weighted<Outcome>([
      [8, "succeeded"],
      [2, "processing"],
      [2, "requires_action"],
      [5, "declined"],
    ])
    return this.#state(account, attemptId, outcome)
  }

  read(reference: string): PaymentRead {
    return this.#find(reference).state
  }

  /** What a bank works on can't be closed: `busy`. */
  close(reference: string): "closed" | "already_succeeded" | "busy" {
    const account = this.#find(reference)
    if (account.state.status === "succeeded") return "already_succeeded"
    if (account.state.status === "processing") return "busy"
    if (!account.isClosed) this.facts.push({ type: "closed", reference })
    account.isClosed = true
    account.state = { status: "closed" }
    return "closed"
  }

  refund(refund: RefundPayment): ProviderRefund {
    const account = this.#find(refund.paymentReference)
    return this.#given.refund(refund, account.state.status === "succeeded" ? account : undefined)
  }

  readRefund(query: RefundQuery): ProviderRefund | null {
    return this.#given.find(query)
  }

  readDispute(reference: string): ProviderDispute | null {
    return this.#given.findDispute(reference)
  }

  /** Tells the host of a change. */
  #tell(about: Notice["about"], reference: string, paymentReference: string): void {
    const { mode } = this.#find(paymentReference)
    this.#post?.send({ about, reference, mode }, this.#now)
  }

  #state(account: Account, attemptId: string, outcome: Outcome): PaymentRead {
    const { amount, currency, invoiceId, reference } = account
    account.state = outcome === "declined" ? this.#declined(attemptId) : { status: outcome }
    const { state } = account
    const isCustomersTurn =
      state.status === "requires_action" || (state.status === "declined" && state.advice === "confirm")
    this.facts.push({ type: "stated", reference, attemptId, status: outcome, isCustomersTurn })
    this.#tell("payment", reference, reference)
    if (outcome === "succeeded") {
      const isTold = this.#post !== undefined
      this.facts.push({ type: "charged", reference, invoiceId, amount, currency, isTold })
      this.#given.expect(account)
    }
    if (outcome === "processing") this.#settleLater(account, attemptId)
    if (outcome === "requires_action" && this.#choice.chance(0.8)) this.#confirmLater(account, attemptId)
    return account.state
  }

  /** A bank says in some days what came of it. */
  #settleLater(account: Account, attemptId: string): void {
    this.later(this.#choice.int(HOUR, 6 * DAY), () => {
      const outcome = this.#choice.weighted<Outcome>([
        [3, "succeeded"],
        [1, "declined"],
      ])
      const isWaiting = account.state.status === "processing" && isNewest(account, attemptId)
      if (isWaiting) this.#state(account, attemptId, outcome)
    })
  }

  /** Most customers confirm after a while, or say no. */
  #confirmLater(account: Account, attemptId: string): void {
    this.later(this.#choice.int(HOUR / 60, 12 * DAY), () => {
      const isAsked = account.state.status === "requires_action" && !account.isClosed
      const isWaiting = isAsked && isNewest(account, attemptId)
      const outcome = this.#choice.weighted<Outcome>([
        [3, "succeeded"],
        [1, "processing"],
        [1, "declined"],
      ])
      if (isWaiting) this.#state(account, attemptId, outcome)
    })
  }

  #declined(attemptId: string): PaymentRead {
    const advice = this.#choice.weighted<"retry" | "new_method" | "confirm" | "stop" | null>([
      [12, null],
      [2, "retry"],
      [1, "new_method"],
      [1, "confirm"],
      [1, "stop"],
    ])
    const notBefore = this.#choice.chance(0.1) ? this.#now + this.#choice.int(HOUR, 3 * DAY) : null
    return { status: "declined", attemptId, code: this.#choice.pick(CODES)!, advice, notBefore }
  }

  #find(reference: string): Account {
    const found = this.#accounts.get(reference)
    if (found === undefined) throw new TypeError(`the bank knows nothing of ${reference}`)
    return found
  }
}

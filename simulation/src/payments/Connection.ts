/**
 * How a process reaches the bank: requests and answers are lost, late, repeated and refused, and the process dies or
 * stands still around them.
 */
import { type Notice, type PaymentProvider, type PaymentRead, ProviderFailure } from "@billwright/core"
import { Effect } from "effect"
import type { Choice } from "../world/Choice.ts"
import type { Life } from "../world/FaultyPorts.ts"
import type { Recorder } from "../world/Recorder.ts"
import type { Bank, BankFact } from "./Bank.ts"

/** The name of the provider. */
export const BANK = "bank"

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

type Fault =
  | "request lost"
  | "request late"
  | "answer lost"
  | "never answered"
  | "slow request"
  | "slow answer"
  | "sent twice"
  | "repeated later"
  | "busy"
  | "refused"

const WEIGHTS: ReadonlyArray<readonly [weight: number, fault: Fault]> = [
  [4, "request lost"],
  [3, "request late"],
  [4, "answer lost"],
  [2, "never answered"],
  [2, "slow request"],
  [3, "slow answer"],
  [3, "sent twice"],
  [3, "repeated later"],
  [3, "busy"],
]

/** The share of calls with a fault, one of these for each run. */
const RATES = [0, 0.1, 0.3, 0.6]
/** The share of runs in which the bank refuses a call for good now and then. */
const REFUSING = 0.1

/** The network between all processes and the bank. */
export class Network {
  readonly #choice: Choice
  readonly #recorder: Recorder
  readonly #rate: number
  readonly #isRefusing: boolean
  /** Whether nothing goes wrong. */
  isCalm = true
  /** Whether no call gets through. */
  isDown = false

  constructor(choice: Choice, recorder: Recorder) {
    this.#choice = choice
    this.#recorder = recorder
    this.#rate = choice.pick(RATES)!
    this.#isRefusing = choice.chance(REFUSING)
  }

  /** What goes wrong with the next call. */
  fault(): Fault | undefined {
    if (this.isDown) return this.#happens(this.#choice.pick(["request lost", "busy"]))
    if (this.isCalm || !this.#choice.chance(this.#rate)) return undefined
    if (this.#isRefusing && this.#choice.chance(0.1)) return this.#happens("refused")
    return this.#happens(this.#choice.weighted(WEIGHTS))
  }

  /** How long a message takes that is not lost. Some come after the process has stopped waiting for them. */
  delay(): number {
    return this.#choice.weighted([
      [3, this.#choice.int(1, 50) * SECOND],
      [1, this.#choice.int(61, 90) * SECOND],
    ])
  }

  /** When a message arrives that nobody waits for. */
  lateness(): number {
    return this.#choice.weighted([
      [3, this.#choice.int(1, 10 * MINUTE)],
      [2, this.#choice.int(1, 12 * HOUR)],
      [1, this.#choice.int(1, 72 * HOUR)],
    ])
  }

  /** Whether the process stands still after the answer, longer than its lease. */
  standsStill(): boolean {
    const stands = !this.isCalm && this.#choice.chance(this.#rate / 6)
    if (stands) this.#recorder.injects("process: stands still")
    return stands
  }

  #happens(fault: Fault): Fault {
    this.#recorder.injects(`bank: ${fault}`)
    return fault
  }
}

/** A call of the bank. */
interface Call<A> {
  readonly name: string
  /** Of the payment, refund or dispute. */
  readonly reference: string
  readonly work: () => A
}

/** A change of the provider, to plant a bug in it. */
export type BreakProvider = (provider: PaymentProvider) => PaymentProvider

const failure = (reason: ProviderFailure["reason"], message: string) =>
  Effect.fail(new ProviderFailure({ reason, message }))
const unknown = failure("unknown", "the connection was lost")

/** The bank, as one process reaches it. `standStill` stops the process for a while. */
export const connect = (bank: Bank, network: Network, life: Life, standStill: Effect.Effect<void>) => {
  const carried = <A>({ reference, work }: Call<A>): Effect.Effect<A, ProviderFailure> => {
    const note = (isRefusal: boolean) => {
      bank.facts.push({ type: "failed", reference, isRefusal } satisfies BankFact)
    }
    const fault = network.fault()
    switch (fault) {
      case undefined:
        return Effect.sync(work)
      case "request lost":
        note(false)
        return unknown
      case "request late":
        note(false)
        bank.later(network.lateness(), work)
        return unknown
      case "answer lost":
        note(false)
        work()
        return unknown
      case "never answered":
        note(false)
        work()
        return Effect.never
      case "slow request":
      case "slow answer": {
        const delay = network.delay()
        if (delay > MINUTE) note(false)
        return fault === "slow request"
          ? Effect.andThen(Effect.sleep(delay), Effect.sync(work))
          : Effect.delay(Effect.succeed(work()), delay)
      }
      case "sent twice":
        work()
        return Effect.sync(work)
      case "repeated later":
        bank.later(network.lateness(), work)
        return Effect.sync(work)
      case "busy":
        note(false)
        return failure("transient", "too many requests")
      case "refused":
        note(true)
        return failure("permanent", "the key is wrong")
    }
  }

  const call = <A>(asked: Call<A>): Effect.Effect<A, ProviderFailure> =>
    Effect.gen(function* () {
      yield* life.passes(`PaymentProvider.${asked.name}: before`)
      const answer = yield* carried(asked)
      yield* life.passes(`PaymentProvider.${asked.name}: after`)
      if (network.standsStill()) yield* standStill
      return answer
    })

  const provider: PaymentProvider = {
    name: BANK,
    chargeable: () => ({ status: "ok" }),
    openPayment: (payment) =>
      call({
        name: "openPayment",
        reference: `${BANK}_${payment.paymentId}`,
        work: () => bank.open(payment),
      }),
    attemptPayment: (attempt) =>
      Effect.suspend(() => {
        const { attemptId, reference } = attempt
        bank.facts.push({ type: "sent", reference, attemptId, at: bank.now })
        return call<PaymentRead>({ name: "attemptPayment", reference, work: () => bank.attempt(attempt) })
      }),
    readPayment: (reference) => call({ name: "readPayment", reference, work: () => bank.read(reference) }),
    closePayment: (reference) =>
      Effect.flatMap(call({ name: "closePayment", reference, work: () => bank.close(reference) }), (answer) =>
        answer === "busy" ? failure("transient", "a bank works on it") : Effect.succeed(answer),
      ),
    refund: (refund) => call({ name: "refund", reference: refund.refundId, work: () => bank.refund(refund) }),
    readRefund: (query) =>
      call({
        name: "readRefund",
        reference: "reference" in query ? query.reference : query.refundId,
        work: () => bank.readRefund(query),
      }),
    readDispute: (reference) =>
      call({ name: "readDispute", reference, work: () => bank.readDispute(reference) }),
    receive: ({ body }) => ({
      type: "notices",
      notices: [JSON.parse(new TextDecoder().decode(body)) as Notice],
    }),
  }
  return provider
}

/**
 * Clients: they make all calls of the library at any time, repeat calls that got no answer, and give up.
 */
import { Deliveries, StorageError, Tenant } from "@billwright/core"
import { Cause, Effect, Exit, Option } from "effect"
import type { Answer, Ask } from "../History.ts"
import { asking } from "./Asking.ts"
import { Asks, FILTERS, FIRST_CUSTOMERS, newMeters, readsOf } from "./Asks.ts"
import type { Choice } from "./Choice.ts"
import type { Known } from "./Known.ts"
import { type Process, ProcessDied } from "./Process.ts"
import type { Recorder } from "./Recorder.ts"

/** How long an impatient client waits for an answer. */
const PATIENCE_MILLIS = 2_000
/** How often a client immediately repeats a call whose outcome it doesn't know. */
const MAX_REPEATS = 3

/** A call with an unknown outcome that can be repeated. */
interface Open {
  readonly known: Known
  readonly ask: Ask
}

export class Clients {
  readonly #choice: Choice
  readonly #recorder: Recorder
  readonly #known: ReadonlyArray<Known>
  readonly #asks: Asks
  readonly #processes: () => ReadonlyArray<Process>
  /** Calls to repeat after the faults. */
  readonly #open: Array<Open> = []

  constructor(
    choice: Choice,
    recorder: Recorder,
    known: ReadonlyArray<Known>,
    processes: () => ReadonlyArray<Process>,
  ) {
    this.#choice = choice
    this.#recorder = recorder
    this.#known = known
    this.#asks = new Asks(choice, known)
    this.#processes = processes
  }

  /** The data that every tenant gets before the run. */
  readonly setUp = Effect.suspend(() =>
    Effect.forEach(
      this.#known,
      (known) =>
        Effect.gen({ self: this }, function* () {
          for (let i = 0; i < FIRST_CUSTOMERS; i++) yield* this.#once(known, this.#asks.newCustomer(true))
          for (const types of [["*"], FILTERS[this.#choice.int(1, 2)]!]) {
            yield* this.#once(known, { _tag: "CreateEndpoint", url: this.#asks.newUrl(), eventTypes: types })
          }
          for (const meter of newMeters()) yield* this.#once(known, meter)
        }),
      { discard: true },
    ),
  )

  /** One client, which works until it is told to stop. */
  readonly work = (isOver: () => boolean) =>
    Effect.whileLoop({
      while: () => !isOver(),
      body: () => Effect.andThen(Effect.sleep(this.#choice.int(10, 900)), this.#anything),
      step: () => undefined,
    })

  /** Some calls, one after another. */
  readonly calls = (count: number) =>
    Effect.forEach(
      Array.from({ length: count }),
      () => Effect.andThen(Effect.sleep(this.#choice.int(0, 300)), this.#anything),
      { discard: true },
    )

  /** Repeats all calls with an unknown outcome. */
  readonly settle = Effect.suspend(() =>
    Effect.forEach(this.#open.splice(0), this.#settled, { discard: true }),
  )

  /** Reads every total, and every meter. */
  readonly readTotals = Effect.suspend(() =>
    Effect.forEach(
      this.#known.flatMap((known) =>
        known.customers.flatMap((customerId) => readsOf(customerId).map((ask) => ({ known, ask }))),
      ),
      ({ ask, known }) => this.#once(known, ask),
      { discard: true },
    ),
  )

  readonly #settled = ({ ask, known }: Open): Effect.Effect<void> =>
    Effect.flatMap(this.#once(known, ask), (answer) =>
      answer._tag === "Unknown" ? this.#settled({ ask, known }) : Effect.void,
    )

  readonly #anything = Effect.suspend(() => {
    const known = this.#choice.pick(this.#known)!
    return Effect.flatMap(this.#something(known), (ask) =>
      ask === undefined ? Effect.void : this.#stubbornly(known, ask, MAX_REPEATS),
    )
  })

  readonly #stubbornly = (known: Known, ask: Ask, repeats: number): Effect.Effect<void> =>
    Effect.flatMap(this.#once(known, ask), (answer) => {
      if (!isUnfinished(answer) || !isRepeatable(ask)) return Effect.void
      if (repeats === 0) {
        this.#open.push({ known, ask })
        return Effect.void
      }
      const again = Effect.suspend(() => this.#stubbornly(known, ask, repeats - 1))
      return Effect.andThen(Effect.sleep(this.#choice.int(1, 600)), again)
    })

  /** Makes a call once, on a process that is not known to be dead. */
  readonly #once = (known: Known, ask: Ask): Effect.Effect<Answer> =>
    Effect.gen({ self: this }, function* () {
      const process = this.#choice.pick(this.#processes())
      if (process === undefined) return { _tag: "Rejected", error: "NobodyThere" }
      const asked = this.#recorder.asks(process.now, Tenant.tenantKey(known.tenant), process.name, ask)
      const effect = asking[ask._tag](ask as never)
      const run = process.run(known.tenant, effect)
      const isPatient = this.#choice.chance(0.7)
      const exit = yield* Effect.exit(isPatient ? run : Effect.timeout(run, PATIENCE_MILLIS))
      const answer = answerOf(this.#recorder, exit)
      this.#recorder.answered(asked, process.now, answer)
      learn(known, ask, answer)
      return answer
    })

  /** A call, if its input exists. */
  #something(known: Known): Effect.Effect<Ask | undefined> {
    const kind = this.#asks.someKind()
    if (kind === "ReplayDelivery") return this.#someReplay(known)
    return Effect.succeed(this.#asks.some(kind, known))
  }

  #someReplay(known: Known): Effect.Effect<Ask | undefined> {
    const process = this.#choice.pick(this.#processes())
    if (process === undefined) return Effect.succeed(undefined)
    const recent = Effect.flatMap(Deliveries, (deliveries) => deliveries.list({ limit: 20 }))
    return Effect.map(Effect.exit(process.run(known.tenant, recent)), (exit) => {
      const delivery = Exit.isSuccess(exit) ? this.#choice.pick(exit.value.data) : undefined
      return delivery && { _tag: "ReplayDelivery", deliveryId: delivery.id }
    })
  }
}

/** Calls that were not carried out, as far as their client knows. */
const isUnfinished = (answer: Answer): boolean =>
  answer._tag === "Unknown" || (answer._tag === "Rejected" && answer.error === "StorageError")

/** Whether the call has a key that makes a repeat safe. */
const isRepeatable = (ask: Ask): boolean => {
  switch (ask._tag) {
    case "CreateCustomer":
    case "EraseCustomer":
    case "RecordAndPublish":
      return true
    case "RecordUsage":
      return ask.records.every(({ key }) => key !== null)
    case "PublishEvent":
      return ask.key !== null
    default:
      return false
  }
}

/** What a client knows of how its call ended. */
export const answerOf = (
  recorder: Recorder,
  exit: Exit.Exit<Extract<Answer, { readonly _tag: "Done" }>, unknown>,
): Answer => {
  if (Exit.isSuccess(exit)) return exit.value
  const error = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  if (error === undefined) {
    const defect = Cause.squash(exit.cause)
    if (defect instanceof ProcessDied || Cause.hasInterruptsOnly(exit.cause)) return { _tag: "Unknown" }
    recorder.defects.push(Cause.pretty(exit.cause))
    return { _tag: "Unknown" }
  }
  if (Cause.isTimeoutError(error)) return { _tag: "Unknown" }
  recorder.errors.push(textOf(error))
  if (error instanceof StorageError && error.isOutcomeUnknown === true) return { _tag: "Unknown" }
  return { _tag: "Rejected", error: tagOf(error) }
}

/** The most ids of one kind that are remembered. */
const MAX_KNOWN = 40

/** Remembers what an answer tells. */
export const learn = (known: Known, ask: Ask, answer: Answer): void => {
  if (answer._tag !== "Done") return
  const add = (to: Array<string>, ids: ReadonlyArray<string>) => {
    for (const id of ids) if (to.length < MAX_KNOWN && !to.includes(id)) to.push(id)
  }
  if (ask._tag === "CreateCustomer") add(known.customers, answer.ids)
  if (ask._tag === "RecordUsage") add(known.records, answer.ids)
  if (ask._tag === "CreateMeter") add(known.meters, answer.ids)
  if (ask._tag === "CreateEndpoint") add(known.endpoints, answer.ids)
  if (ask._tag === "PublishEvent" || ask._tag === "TestEndpoint") add(known.events, answer.ids)
}

const textOf = (error: unknown): string =>
  error instanceof Error ? `${error.message} ${JSON.stringify(error)}` : JSON.stringify(error)

const tagOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "_tag" in error ? String(error._tag) : String(error)

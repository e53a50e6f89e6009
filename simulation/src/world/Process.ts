/**
 * A process of the host: all services and a dispatcher over the shared storage. It can die at any point.
 */
import {
  Billing,
  CurrentTenant,
  Dispatcher,
  type DispatcherOptions,
  IdGenerator,
  type InvoicesOptions,
  MeterRebuilds,
  type PaymentProvider,
  REBUILD_POLL_MILLIS,
  type Tenant,
  WebhookTransport,
} from "@billwright/core"
import { Clock, Context, Effect, Exit, Latch, Layer, Random, Scope } from "effect"
import type { Choice } from "./Choice.ts"
import { faulty, type Life } from "./FaultyPorts.ts"
import type { Ports } from "./Observer.ts"
import { patientClock, processClock, type Skew, type WorldTime } from "./ProcessClock.ts"
import type { Receivers } from "./Receivers.ts"
import type { Recorder } from "./Recorder.ts"
import type { Weather } from "./Weather.ts"

/** The result of waiting for a dead process. */
export class ProcessDied extends Error {
  override readonly name = "ProcessDied"
}

/** The parts that all processes share. */
export interface Shared {
  readonly choice: Choice
  readonly recorder: Recorder
  readonly weather: Weather
  readonly receivers: Receivers
  readonly time: WorldTime
  /** `null`: nothing is delivered. */
  readonly dispatcher: DispatcherOptions | null
  /** How often dispatchers and builders of meters look for work by themselves. Without it, as often as they do. */
  readonly pollMillis?: number | undefined
  readonly invoices: InvoicesOptions
  /** The payment provider as a process reaches it. Without it, nobody is charged. */
  readonly payments?: (process: Process, life: Life) => PaymentProvider
  /** The storage for the process with this name, without faults. */
  readonly portsOf: (process: string) => Ports
}

type Services = Billing.Services | Billing.Storage | Billing.InvoicingStorage

const backgroundOf = (dispatcher: DispatcherOptions) =>
  Layer.merge(Dispatcher.layerWith(dispatcher), MeterRebuilds.layer)

const died = Effect.suspend(() => Effect.die(new ProcessDied("the process is dead")))

export class Process {
  readonly name: string
  readonly #shared: Shared
  readonly #skew: Skew
  readonly #running = Latch.makeUnsafe(true)
  readonly #scope = Scope.makeUnsafe()
  readonly #random: typeof Random.Random.Service
  readonly #idSeed: number
  /** By name of the point, how many more times the process passes it before it dies. See `dieAt`. */
  #death: { readonly point: string; left: number } | undefined
  #context: Context.Context<Services> = Context.empty() as Context.Context<Services>
  #clock: Clock.Clock | undefined
  isDead = false

  constructor(name: string, skew: Skew, shared: Shared) {
    const choice = shared.choice.fork()
    this.name = name
    this.#skew = skew
    this.#shared = shared
    this.#idSeed = shared.choice.int(0, 2 ** 31)
    this.#random = {
      nextDoubleUnsafe: () => choice.next(),
      nextIntUnsafe: () => choice.int(Number.MIN_SAFE_INTEGER / 2, Number.MAX_SAFE_INTEGER / 2),
    }
  }

  get isStopped(): boolean {
    return !this.#running.isOpen()
  }

  readonly #gate = Effect.andThen(
    this.#running.await,
    Effect.suspend(() => (this.isDead ? died : Effect.void)),
  )

  readonly #life: Life = {
    gate: this.#gate,
    isFreeAt: (point) => !this.isDead && !this.isStopped && this.#death?.point !== point,
    passes: (point) =>
      Effect.suspend(() => {
        if (this.#death?.point === point && this.#death.left-- <= 0) {
          this.#shared.recorder.injects(`crash at ${point}`)
          this.kill()
        }
        return this.isDead ? died : Effect.void
      }),
  }

  /** Starts the services and the dispatcher. */
  readonly start = Effect.suspend(() =>
    Effect.flatMap(Clock.Clock, (base) => {
      const { dispatcher, invoices, payments, portsOf, receivers, time, weather } = this.#shared
      const { pollMillis = REBUILD_POLL_MILLIS } = this.#shared
      this.#clock = processClock(base, time, this.#skew)
      const transport = WebhookTransport.of({
        send: (request) => receivers.send(this.name, this.#life, request),
      })
      const given = Context.add(faulty(portsOf(this.name), this.#life, weather), WebhookTransport, transport)
      const provider = payments === undefined ? {} : { payments: payments(this, this.#life) }
      const working =
        dispatcher === null
          ? Layer.empty
          : Layer.provide(
              backgroundOf(dispatcher),
              Layer.succeed(Clock.Clock, patientClock(this.#clock, pollMillis)),
            )
      const layer = working.pipe(
        Layer.provideMerge(Billing.layerWithIds({ ...billing, ...provider, invoices })),
        Layer.provideMerge(Layer.merge(Layer.succeedContext(given), IdGenerator.layerSeeded(this.#idSeed))),
      )
      const build = Layer.buildWithMemoMap(layer, Layer.makeMemoMapUnsafe(), this.#scope)
      return Effect.map(this.#here(build), (context) => {
        this.#context = context
      })
    }),
  ).pipe(Effect.orDie)

  /** Runs an effect in the process, as a tenant. It dies with the process. */
  run<A, E>(
    tenant: Tenant.Tenant,
    effect: Effect.Effect<A, E, Services | CurrentTenant>,
  ): Effect.Effect<A, E> {
    const run = Effect.provideService(effect, CurrentTenant, tenant)
    return Effect.andThen(this.#gate, this.#here(Effect.provideContext(run, this.#context)))
  }

  /** The time of its clock. */
  get now(): number {
    return this.#clock?.currentTimeMillisUnsafe() ?? 0
  }

  /** SIGKILL: from now on nothing that it does has any effect. */
  kill(): void {
    this.isDead = true
    this.#running.openUnsafe()
  }

  /** Makes it die when it passes a point for the `times`-th time from now. */
  dieAt(point: string, times: number): void {
    this.#death = { point, left: times - 1 }
  }

  /** SIGSTOP, until `resume`. */
  stop(): void {
    this.#running.closeUnsafe()
  }

  resume(): void {
    this.#running.openUnsafe()
  }

  /** Turns off its death: it lives to the end. */
  spare(): void {
    this.#death = undefined
  }

  /** SIGTERM: ends the process cleanly. For a dead process it ends the remaining fibers. */
  readonly end = Effect.suspend(() => Scope.close(this.#scope, Exit.void))

  #here<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return effect.pipe(
      Effect.provideService(Clock.Clock, this.#clock!),
      Effect.provideService(Random.Random, this.#random),
    )
  }
}

/** Answers are kept longer than any simulation, because a request could run again after its answer was deleted. */
const RETENTION_MILLIS = 1_000 * 86_400_000

const billing: Billing.BillingOptions = {
  encryption: "none",
  idempotency: { retentionMillis: RETENTION_MILLIS },
}

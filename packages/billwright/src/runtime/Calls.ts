/**
 * Runs calls for one account and mode: it takes effects and returns promises of plain values.
 */
import { type Actor, type Billing as Core, CurrentActor, CurrentTenant, type Tenant } from "@billwright/core"
import { Context, Effect, Exit } from "effect"
import type { CallOptions } from "../Call.ts"
import { BillingError, InvalidInputError } from "../errors/BillingError.ts"
import * as CallName from "./CallName.ts"
import { addCallSite, capture } from "./CallSite.ts"
import { toRejection } from "./Failure.ts"
import type { Gate } from "./Gate.ts"
import { type Plain, toPlain } from "./PlainValue.ts"

/** The services that calls use, besides the tenant. */
export type Environment = Core.Services | Core.Storage

/** Throws an `InvalidInputError` for unknown options: a misspelt `signal` would otherwise be ignored silently. */
const signalOf = (options: CallOptions | undefined): AbortSignal | undefined => {
  // In JavaScript, other values may be passed here by mistake.
  if (options === undefined || options === null) return undefined
  if (typeof options !== "object") {
    throw new InvalidInputError("options", "must be an object such as { signal }")
  }
  const unknown = Object.keys(options).find((name) => name !== "signal")
  if (unknown !== undefined) {
    throw new InvalidInputError(`options.${unknown}`, "is not an option of a call: the only one is signal")
  }
  const { signal } = options
  // Not checked with `instanceof`: a signal of another realm has another class.
  if (signal === undefined || signal === null) return undefined
  if (typeof signal.throwIfAborted === "function") return signal
  throw new InvalidInputError("options.signal", "must be an AbortSignal")
}

export class Calls {
  readonly context: Context.Context<Environment>
  readonly tenant: Tenant.Tenant
  readonly #gate: Gate
  readonly #explain: ((error: unknown) => unknown) | undefined
  readonly #run: ReturnType<typeof Effect.runPromiseExitWith<Environment | CurrentTenant>>

  /** `explain` may replace the error that a call rejects with, or return it unchanged. */
  constructor(
    context: Context.Context<Environment>,
    tenant: Tenant.Tenant,
    gate: Gate,
    explain?: (error: unknown) => unknown,
  ) {
    this.context = context
    this.tenant = tenant
    this.#gate = gate
    this.#explain = explain
    this.#run = Effect.runPromiseExitWith(Context.add(context, CurrentTenant, tenant))
  }

  /** Returns a service of the domain. */
  service<Id extends Environment, Service>(key: Context.Key<Id, Service>): Service {
    return Context.get(this.context, key)
  }

  /** The same calls for another tenant. */
  for(tenant: Tenant.Tenant): Calls {
    return new Calls(this.context, tenant, this.#gate, this.#explain)
  }

  /** The same calls by another actor. */
  as(actor: Actor.Actor): Calls {
    return new Calls(Context.add(this.context, CurrentActor, actor), this.tenant, this.#gate, this.#explain)
  }

  /** Runs the function of a transaction. These calls are outside that transaction. */
  during<A>(work: () => Promise<A>): Promise<A> {
    return this.#gate.during(work)
  }

  /** Runs the effect that `make` returns, and converts its result to plain values. */
  async run<A, E>(
    make: () => Effect.Effect<A, E, Environment | CurrentTenant>,
    options: CallOptions | undefined,
  ): Promise<Plain<A>> {
    return toPlain(await this.runAsIs(make, options, this.run))
  }

  /** The same, but returns the result unconverted. */
  async runAsIs<A, E>(
    make: () => Effect.Effect<A, E, Environment | CurrentTenant>,
    options: CallOptions | undefined,
    below: (...args: Array<never>) => unknown = this.runAsIs,
  ): Promise<A> {
    const site = capture(CallName.entry() ?? below)
    try {
      return await this.#gate.enter(() => this.#settle(make, signalOf(options)))
    } catch (error) {
      if (error instanceof BillingError) addCallSite(error, site)
      throw error
    }
  }

  async #settle<A, E>(
    make: () => Effect.Effect<A, E, Environment | CurrentTenant>,
    signal: AbortSignal | undefined,
  ): Promise<A> {
    signal?.throwIfAborted()
    const { interruption } = this.#gate
    const effect = interruption === undefined ? make() : Effect.raceFirst(make(), interruption)
    const exit = await this.#run(effect, { signal })
    if (Exit.isSuccess(exit)) return exit.value
    const error = toRejection(exit.cause, signal)
    throw this.#explain === undefined ? error : this.#explain(error)
  }
}

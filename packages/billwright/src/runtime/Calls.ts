/**
 * Runs calls for one account and mode: effects in, promises of plain values out.
 */
import { type Billing as Core, CurrentTenant, type Tenant } from "@billwright/core"
import { Context, Effect, Exit } from "effect"
import type { CallOptions } from "../Call.ts"
import { BillingError, InvalidInputError } from "../errors/BillingError.ts"
import * as CallName from "./CallName.ts"
import { addCallSite, capture } from "./CallSite.ts"
import { toRejection } from "./Failure.ts"
import type { Gate } from "./Gate.ts"
import { type Plain, toPlain } from "./PlainValue.ts"

/** What there is besides the tenant. */
export type Environment = Core.Services | Core.Storage

/** Throws an `InvalidInputError` for options that there are none of: a signal that is not heard helps nobody. */
const signalOf = (options: CallOptions | undefined): AbortSignal | undefined => {
  // Without types, another argument comes here easily.
  if (options === undefined || options === null) return undefined
  if (typeof options !== "object") {
    throw new InvalidInputError("options", "must be an object such as { signal }")
  }
  const unknown = Object.keys(options).find((name) => name !== "signal")
  if (unknown !== undefined) {
    throw new InvalidInputError(`options.${unknown}`, "is no option of a call: there is signal")
  }
  const { signal } = options
  // Of another realm, it is no instance of this one's class.
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

  /** `explain` gives what a call rejects with in the place of an error, or the error itself. */
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

  /** A service of the domain. */
  service<Id extends Environment, Service>(key: Context.Key<Id, Service>): Service {
    return Context.get(this.context, key)
  }

  /** The same calls for another tenant. */
  for(tenant: Tenant.Tenant): Calls {
    return new Calls(this.context, tenant, this.#gate, this.#explain)
  }

  /** Runs the function of a transaction that these calls are not part of. */
  during<A>(work: () => Promise<A>): Promise<A> {
    return this.#gate.during(work)
  }

  /** Runs what `make` makes; the result is made plain. */
  async run<A, E>(
    make: () => Effect.Effect<A, E, Environment | CurrentTenant>,
    options: CallOptions | undefined,
  ): Promise<Plain<A>> {
    return toPlain(await this.runAsIs(make, options, this.run))
  }

  /** The same without a change of the result. */
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
    const exit = await this.#run(make(), { signal })
    if (Exit.isSuccess(exit)) return exit.value
    const error = toRejection(exit.cause, signal)
    throw this.#explain === undefined ? error : this.#explain(error)
  }
}

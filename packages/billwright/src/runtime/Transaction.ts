/**
 * Calls that commit together.
 */
import { type CurrentTenant, Transactor } from "@billwright/core"
import { type Context, Effect } from "effect"
import type { CallOptions } from "../Call.ts"
import { Calls, type Environment } from "./Calls.ts"
import { Thrown } from "./Failure.ts"
import { TransactionGate } from "./Gate.ts"
import type { Joined } from "./StoreParts.ts"

/** Runs a function with calls that are made in the transaction that the effect is run in. */
const within = <A>(calls: Calls, work: (calls: Calls) => Promise<A>, explain?: Joined["explain"]) =>
  Effect.contextWith((context: Context.Context<Environment | CurrentTenant>) => {
    const gate = new TransactionGate()
    const run = async (): Promise<A> => {
      try {
        return await work(new Calls(context, calls.tenant, gate, explain))
      } finally {
        await gate.end()
      }
    }
    return Effect.tryPromise({ try: run, catch: (error) => new Thrown(error) }).pipe(
      Effect.onInterrupt(() => Effect.sync(() => void gate.end())),
    )
  })

/** In a transaction of the library's own. */
export const inOwn = <A>(
  calls: Calls,
  work: (calls: Calls) => Promise<A>,
  options: CallOptions | undefined,
): Promise<A> =>
  calls.runAsIs(
    () => calls.service(Transactor).atomically(within(calls, (inside) => calls.during(() => work(inside)))),
    options,
    inOwn,
  )

/** In a transaction that the host has begun and will end. */
export const inHosts = <A>(
  calls: Calls,
  join: () => Joined,
  work: (calls: Calls) => Promise<A>,
  options: CallOptions | undefined,
): Promise<A> =>
  calls.runAsIs(
    () => {
      const { explain, run } = join()
      return run(within(calls, work, explain))
    },
    options,
    inHosts,
  )

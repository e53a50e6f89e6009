/**
 * Runs calls in a transaction.
 */
import { type CurrentTenant, Transactor } from "@billwright/core"
import { type Context, Effect } from "effect"
import type { CallOptions } from "../Call.ts"
import { TransactionEndedError } from "../errors/RuntimeError.ts"
import { Calls, type Environment } from "./Calls.ts"
import { Thrown } from "./Failure.ts"
import { TransactionGate } from "./Gate.ts"
import type { Joined } from "./StoreParts.ts"

/**
 * Runs a function whose calls belong to the transaction that this effect runs in. When the effect is interrupted, it ends after
 * `giveUp`, and the transaction ends after that. Otherwise the next statements of a running call would come after ROLLBACK: they
 * would commit by themselves, or belong to another transaction that has got the connection.
 */
const within = <A>(
  calls: Calls,
  work: (calls: Calls) => Promise<A>,
  giveUp: (gate: TransactionGate) => Effect.Effect<unknown>,
  explain?: Joined["explain"],
) =>
  Effect.contextWith((context: Context.Context<Environment | CurrentTenant>) => {
    const gate = new TransactionGate()
    const inside = new Calls(context, calls.tenant, gate, explain)
    const run = async (): Promise<A> => {
      const [outcome] = await Promise.allSettled([calls.during(() => work(inside))])
      const unawaited = await gate.end()
      if (outcome.status === "rejected") throw outcome.reason
      if (unawaited.length === 0) return outcome.value
      throw new TransactionEndedError(
        `the function of this transaction ended before ${unawaited.join(", ")} had finished: await every call on tx`,
      )
    }
    return Effect.tryPromise({ try: run, catch: (error) => new Thrown(error) }).pipe(
      Effect.onInterrupt(() => giveUp(gate)),
    )
  })

/** Runs the function in a transaction that the library begins and commits. */
export const inOwn = <A>(
  calls: Calls,
  work: (calls: Calls) => Promise<A>,
  options: CallOptions | undefined,
): Promise<A> =>
  calls.runAsIs(
    () =>
      calls
        .service(Transactor)
        .atomically(within(calls, work, (gate) => Effect.promise(() => gate.interrupt()))),
    options,
    inOwn,
  )

/**
 * How long the abort of a host's transaction waits for the running call, in milliseconds. Its statements have no deadline of ours:
 * one may wait for a lock, or for a server that is gone.
 */
const MAX_HOST_WAIT_MILLIS = 1_000

/**
 * Runs the function in a transaction that the host has begun and will end. A running call is not interrupted, because the host may
 * commit what it has written so far.
 */
export const inHosts = <A>(
  calls: Calls,
  join: () => Joined,
  work: (calls: Calls) => Promise<A>,
  options: CallOptions | undefined,
): Promise<A> =>
  calls.runAsIs(
    () => {
      const { explain, run } = join()
      const giveUp = (gate: TransactionGate) =>
        Effect.promise(() => gate.giveUp()).pipe(
          Effect.interruptible,
          Effect.timeoutOption(MAX_HOST_WAIT_MILLIS),
        )
      return run(within(calls, work, giveUp, explain))
    },
    options,
    inHosts,
  )

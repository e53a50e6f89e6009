/**
 * Ports that write down what the storage does for a command: each transaction of credits, in the order of commits.
 */
import { CreditStore, Transactor } from "@billwright/core"
import { Context, Effect, Exit } from "effect"
import type { Ports } from "../world/Observer.ts"
import type { Command, Outcome, Turn } from "./CreditBooks.ts"

/** A command that is under way in a fiber, and what its operation has done so far. */
export interface UnderWay {
  readonly command: Command
  now: number | undefined
  isWritten: boolean
  /** What it has read outside transactions. */
  read: Turn | undefined
}

export const CurrentCommand = Context.Reference<UnderWay | undefined>(
  "@billwright/simulation/CurrentCommand",
  { defaultValue: () => undefined },
)

/** What an operation came to, or `undefined` if a fault ended it: then nothing is written. */
export const outcomeOf = (exit: Exit.Exit<unknown, unknown>): Outcome | undefined => {
  if (Exit.isSuccess(exit)) return { type: "done", value: exit.value }
  const error = exit.cause.reasons.find((reason) => reason._tag === "Fail")?.error
  if (error === undefined) return undefined
  const refused = error as { readonly _tag: string }
  return refused._tag === "StorageError" ? undefined : { type: "refused", error: refused }
}

/** Writes the turns of all processes into one list. */
export const observe = (ports: Ports, turns: Array<Turn>): Ports => {
  const store = Context.get(ports, CreditStore)
  const transactor = Context.get(ports, Transactor)

  const note = (change: (underWay: UnderWay) => void) =>
    Effect.map(CurrentCommand, (underWay) => {
      if (underWay !== undefined) change(underWay)
    })

  /** The last thing in a transaction. From here on, it commits. */
  const end = (exit: Exit.Exit<unknown, unknown>) =>
    note(({ command, isWritten, now }) => {
      const outcome = outcomeOf(exit)
      if (now !== undefined && outcome !== undefined) turns.push({ command, now, isWritten, outcome })
    })

  const observed = Context.add(ports, CreditStore, {
    ...store,
    lock: (key, now, mode) =>
      Effect.tap(store.lock(key, now, mode), () =>
        note((underWay) => {
          underWay.now = now
        }),
      ),
    read: (key, now) =>
      Effect.tap(store.read(key, now), () =>
        note((underWay) => {
          underWay.read = { command: underWay.command, now, isWritten: false, outcome: undefined }
          turns.push(underWay.read)
        }),
      ),
    write: (key, change) =>
      Effect.tap(store.write(key, change), () =>
        note((underWay) => {
          underWay.isWritten = true
        }),
      ),
  })
  return Context.add(observed, Transactor, {
    ...transactor,
    atomically: (effect) =>
      Effect.flatMap(transactor.inTransaction, (isNested) =>
        transactor.atomically(isNested ? effect : Effect.onExit(effect, end)),
      ),
  })
}

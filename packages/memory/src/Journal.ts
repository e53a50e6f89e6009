/**
 * How memory becomes transactional: whose turn it is, and how writes are undone.
 *
 * Transactions run one after another. The fiber that runs one carries it in its context, and the fibers that
 * it forks inherit it. A nested transaction is a savepoint of the outer one and excludes the rest of that
 * one's fibers while it is open, so that what it undoes is its own writes alone.
 */
import { Context, Effect, Exit, type Fiber } from "effect"
import { Turn } from "./Turn.ts"

/** A transaction was used after it had ended: by a fiber that it forked and did not wait for. */
export class TransactionEnded extends Error {
  override readonly name = "TransactionEnded"
  override readonly message =
    "this transaction has ended: a fiber forked inside it went on to use its stores; join the fiber inside it"
}

/** A transaction, a savepoint in one, or the time outside of all transactions. */
class Level {
  /** What this is nested in; `undefined` for the level outside of all transactions. */
  readonly parent: Level | undefined
  /** The transaction that the fiber was in before, of whatever storage. */
  readonly surrounding: Level | undefined
  readonly journal: Journal
  /** Held by the nested transaction that is open; waited for by the others. */
  readonly turn = new Turn()
  /** The nested transaction that is open. */
  nested: Level | undefined = undefined
  hasEnded = false
  /** How long the journal was when this began. */
  start = 0

  constructor(journal: Journal, parent: Level | undefined, surrounding: Level | undefined) {
    this.journal = journal
    this.parent = parent
    this.surrounding = surrounding
  }
}

const CurrentLevel = Context.Reference<Level | undefined>("@billwright/memory/CurrentLevel", {
  defaultValue: () => undefined,
})

const ended = (): Exit.Exit<never> => Exit.die(new TransactionEnded())

/** A transaction as others see it: something to compare. */
export interface TransactionIdentity {
  readonly hasEnded: boolean
}

/** The undo log of one storage, and the order of its transactions. */
export class Journal {
  readonly #outside = new Level(this, undefined, undefined)
  readonly #undos: Array<() => void> = []
  #endings: Array<() => void> = []

  /** Says how to undo a write that has just been made. Called by verbs only. */
  wrote(undo: () => void): void {
    this.#undos.push(undo)
  }

  /** Runs an action when the outermost transaction ends, however it ends. Called by verbs only. */
  whenEnded(action: () => void): void {
    this.#endings.push(action)
  }

  /**
   * A verb of a store: one synchronous step, undone when it throws. It waits while a transaction is open that
   * it isn't part of, so it reads nothing that may yet be undone.
   */
  verb<A, E = never>(run: () => Exit.Exit<A, E>): Effect.Effect<A, E> {
    return Effect.withFiber((fiber) => {
      const level = this.#levelOf(fiber)
      if (level.nested === undefined || level.hasEnded) return this.#step(level, run)
      return level.turn.hold(Effect.suspend(() => this.#step(level, run)))
    })
  }

  /** Runs an effect as a transaction, or as a savepoint of the one that the fiber is in. */
  atomically<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.withFiber((fiber) => {
      const parent = this.#levelOf(fiber)
      const level = new Level(this, parent, fiber.getRef(CurrentLevel))
      const body = Effect.suspend(() => {
        if (parent.hasEnded) return ended()
        parent.nested = level
        level.start = this.#undos.length
        return Effect.provideService(effect, CurrentLevel, level)
      })
      return parent.turn.hold(Effect.onExit(body, (exit) => this.#end(level, parent, exit)))
    })
  }

  /** The outermost transaction that a fiber is in. */
  transactionOf(fiber: Fiber.Fiber<unknown, unknown>): TransactionIdentity | undefined {
    let level = this.#levelOf(fiber)
    if (level.parent === undefined) return undefined
    while (level.parent?.parent !== undefined) level = level.parent
    return level
  }

  #levelOf(fiber: Fiber.Fiber<unknown, unknown>): Level {
    let level = fiber.getRef(CurrentLevel)
    // A transaction of another storage says nothing about this one.
    while (level !== undefined && level.journal !== this) level = level.surrounding
    return level ?? this.#outside
  }

  #step<A, E>(level: Level, run: () => Exit.Exit<A, E>): Exit.Exit<A, E> {
    if (level.hasEnded) return ended()
    const start = this.#undos.length
    let exit: Exit.Exit<A, E>
    try {
      exit = run()
    } catch (defect) {
      exit = Exit.die(defect)
    }
    if (Exit.isFailure(exit)) this.#undoTo(start)
    if (level.parent === undefined) this.#settle()
    return exit
  }

  #end(level: Level, parent: Level, exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> {
    if (level.hasEnded) return Exit.isSuccess(exit) ? ended() : Effect.void
    if (parent.nested !== level) return Effect.void // it never began
    // A nested transaction of a fiber that nobody waited for: it has not succeeded, so it never was.
    if (level.nested !== undefined) this.#undoTo(level.nested.start)
    if (Exit.isFailure(exit)) this.#undoTo(level.start)
    for (let open: Level | undefined = level; open !== undefined; open = open.nested) open.hasEnded = true
    parent.nested = undefined
    if (parent.parent === undefined) this.#settle()
    return Effect.void
  }

  #undoTo(length: number): void {
    while (this.#undos.length > length) this.#undos.pop()!()
  }

  /** Nothing is left to undo: all that was written stays. */
  #settle(): void {
    this.#undos.length = 0
    if (this.#endings.length === 0) return
    const endings = this.#endings
    this.#endings = []
    for (const end of endings) end()
  }
}

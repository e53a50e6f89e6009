/**
 * Makes the storage in memory transactional: it orders transactions and undoes their writes.
 *
 * Transactions run one after another. The fiber that runs one has it in its context, and the fibers that it forks
 * inherit it. A nested transaction is a savepoint of the outer one. While it is open, the other fibers of the outer
 * transaction wait, so that it undoes only its own writes.
 */
import { CurrentTenant, type Tenant } from "@billwright/core"
import { Context, Effect, Exit, type Fiber } from "effect"
import { Turn } from "./Turn.ts"

/** A transaction was used after its end, by a fiber that was forked inside it and not awaited. */
export class TransactionEnded extends Error {
  override readonly name = "TransactionEnded"
  override readonly message =
    "this transaction has ended, but a fiber forked inside it still uses the storage: join the fiber inside the transaction"
}

/** A transaction, a savepoint, or the level outside all transactions. */
class Level {
  /** The level that contains this one; `undefined` for the level outside all transactions. */
  readonly parent: Level | undefined
  /** The transaction that the fiber was in before, of any storage. */
  readonly surrounding: Level | undefined
  readonly journal: Journal
  /** The open nested transaction holds it, and others wait for it. */
  readonly turn = new Turn()
  /** The open nested transaction. */
  nested: Level | undefined = undefined
  hasEnded = false
  /** The length of the journal when this level began. */
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

/** The identity of a transaction, to compare it with another. */
export interface TransactionIdentity {
  readonly hasEnded: boolean
}

/** The undo log of one storage, and the order of its transactions. */
export class Journal {
  readonly #outside = new Level(this, undefined, undefined)
  readonly #undos: Array<() => void> = []
  #endings: Array<() => void> = []

  /** Records how to undo a write that has just been made. Call it only from verbs. */
  wrote(undo: () => void): void {
    this.#undos.push(undo)
  }

  /** Runs an action when the outermost transaction ends, also when it fails. Call it only from verbs. */
  whenEnded(action: () => void): void {
    this.#endings.push(action)
  }

  /**
   * Runs a verb of a store: one synchronous step, which is undone when it throws. It waits while a transaction is open
   * that it is not part of, so it reads no writes that may be undone.
   */
  verb<A, E = never>(run: () => Exit.Exit<A, E>): Effect.Effect<A, E> {
    return Effect.withFiber((fiber) => {
      const level = this.#levelOf(fiber)
      if (level.nested === undefined || level.hasEnded) return this.#step(level, run)
      return level.turn.hold(Effect.suspend(() => this.#step(level, run)))
    })
  }

  /** A verb that is given the current tenant. */
  readonly tenantVerb = <A, E = never>(
    run: (tenant: Tenant.Tenant) => Exit.Exit<A, E>,
  ): Effect.Effect<A, E, CurrentTenant> =>
    Effect.flatMap(CurrentTenant, (tenant) => this.verb(() => run(tenant)))

  /** Runs an effect as a transaction, or as a savepoint of the transaction that the fiber is in. */
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
    // Skips transactions of other storages.
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
    // Nested transactions that are still open belong to fibers that were not awaited. They did not succeed, so their
    // writes are undone.
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

  /** Keeps all writes: after it, nothing can be undone. */
  #settle(): void {
    this.#undos.length = 0
    if (this.#endings.length === 0) return
    const endings = this.#endings
    this.#endings = []
    for (const end of endings) end()
  }
}

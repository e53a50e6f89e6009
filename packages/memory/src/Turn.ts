/**
 * Whose turn it is: one at a time, first come, first served.
 *
 * Effect's `Semaphore` looks at all who wait whenever one leaves; here the turn is handed to the next, so that
 * ten thousand waiting transactions cost ten thousand steps.
 */
import { Effect } from "effect"

interface Ticket {
  hasTurn: boolean
  call: (() => void) | undefined
}

/** Something that one effect at a time may have. */
export class Turn {
  #isTaken = false
  readonly #waiting = new Set<Ticket>()

  /** Waits for the turn, runs an effect and hands the turn on, however the effect ends. */
  hold<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      const ticket: Ticket = { hasTurn: false, call: undefined }
      // Leaving covers the waiting too: a fiber may be interrupted when its turn has come but not begun.
      return Effect.onExit(Effect.andThen(this.#take(ticket), effect), () =>
        Effect.sync(() => this.#leave(ticket)),
      )
    })
  }

  #take(ticket: Ticket): Effect.Effect<void> {
    return Effect.callback((resume) => {
      // Yielding first lets the fiber that leaves go on: fibers that call each other would fill the stack.
      ticket.call = () => resume(Effect.yieldNow)
      if (this.#isTaken) this.#waiting.add(ticket)
      else {
        this.#isTaken = true
        ticket.hasTurn = true
        resume(Effect.void)
      }
    })
  }

  #leave(ticket: Ticket): void {
    if (!ticket.hasTurn) {
      this.#waiting.delete(ticket)
      return
    }
    const [next] = this.#waiting
    if (next === undefined) this.#isTaken = false
    else {
      this.#waiting.delete(next)
      next.hasTurn = true
      next.call?.()
    }
  }
}

/**
 * The connections to all receivers. A connection carries one request at a time. After that it is kept for a while for
 * the next request to the same origin in the same mode.
 *
 * This doesn't weaken the network guard: a connection stays with the address that was checked when it was opened, even
 * when the host name has other addresses later. Its age is limited, so that webhooks follow a receiver that moves.
 */
import type { TransportError } from "@billwright/core"
import { Connection } from "./Connection.ts"
import * as Connector from "./Connector.ts"
import type { Cancel } from "./Sockets.ts"
import type { Target } from "./Target.ts"

export interface PoolSettings {
  readonly connector: Connector.ConnectorSettings
  readonly maxConnectionsPerOrigin: number
  readonly maxIdleConnections: number
  readonly maxIdleMillis: number
  readonly maxConnectionAgeMillis: number
}

type Receive = (given: Connection | TransportError) => void

interface Waiter {
  readonly target: Target
  readonly receive: Receive
  cancel: Cancel
}

interface Origin {
  readonly key: string
  /** The number of connections, including those that are being opened. */
  open: number
  /** Sorted by last use, the latest last. */
  readonly idle: Array<Connection>
  /** Requests that wait for a connection, in the order of arrival. */
  readonly waiting: Set<Waiter>
}

export class ConnectionPool {
  readonly #settings: PoolSettings
  readonly #origins = new Map<string, Origin>()
  /** The idle connections to all origins, the longest idle first. */
  readonly #idle = new Set<Connection>()
  readonly #connections = new Set<Connection>()
  readonly #opening = new Set<Waiter>()
  #isClosed = false

  constructor(settings: PoolSettings) {
    this.#settings = settings
  }

  /**
   * Gives a connection: an idle one at once, or a new one. When the origin has its maximum of connections, the caller
   * waits for its turn. The caller must end the connection or give it back by `release`.
   */
  acquire(target: Target, receive: Receive): Cancel {
    if (this.#isClosed) {
      receive("reset")
      return () => {}
    }
    const origin = this.#originOf(target.key)
    const idle = this.#takeIdle(origin)
    if (idle !== undefined) {
      receive(idle)
      return () => {}
    }
    const waiter: Waiter = {
      target,
      receive,
      cancel: () => {
        if (origin.waiting.delete(waiter)) this.#forgetUnused(origin)
      },
    }
    origin.waiting.add(waiter)
    this.#openForWaiting(origin)
    return () => waiter.cancel()
  }

  /** Takes back a connection whose request was answered completely. */
  release(connection: Connection): void {
    const { maxConnectionAgeMillis, maxIdleConnections } = this.#settings
    connection.release()
    if (!connection.isReusable || connection.ageMillis >= maxConnectionAgeMillis) {
      connection.destroy()
      return
    }
    const origin = this.#originOf(connection.key)
    const [waiter] = origin.waiting
    if (waiter !== undefined) {
      origin.waiting.delete(waiter)
      waiter.receive(connection)
      return
    }
    connection.rest()
    origin.idle.push(connection)
    this.#idle.add(connection)
    if (this.#idle.size > maxIdleConnections) this.#endLongestIdle()
  }

  /** Ends all connections. Requests that are running or waiting fail with `reset`. */
  close(): void {
    this.#isClosed = true
    const waiters = [...this.#opening, ...[...this.#origins.values()].flatMap(({ waiting }) => [...waiting])]
    for (const waiter of waiters) {
      waiter.cancel()
      waiter.receive("reset")
    }
    for (const connection of this.#connections) connection.destroy()
  }

  #originOf(key: string): Origin {
    const known = this.#origins.get(key)
    if (known !== undefined) return known
    const origin: Origin = { key, open: 0, idle: [], waiting: new Set() }
    this.#origins.set(key, origin)
    return origin
  }

  #takeIdle(origin: Origin): Connection | undefined {
    for (let idle = origin.idle.at(-1); idle !== undefined; idle = origin.idle.at(-1)) {
      this.#takeOut(origin, idle)
      if (idle.isReusable) return idle
      idle.destroy()
    }
    return undefined
  }

  #endLongestIdle(): void {
    const [longest] = this.#idle
    if (longest === undefined) return
    this.#takeOut(this.#originOf(longest.key), longest)
    longest.destroy()
  }

  #takeOut(origin: Origin, connection: Connection): void {
    if (this.#idle.delete(connection)) origin.idle.splice(origin.idle.indexOf(connection), 1)
  }

  #openForWaiting(origin: Origin): void {
    for (const waiter of origin.waiting) {
      if (origin.open >= this.#settings.maxConnectionsPerOrigin || this.#isClosed) return
      origin.waiting.delete(waiter)
      this.#open(origin, waiter)
    }
  }

  #open(origin: Origin, waiter: Waiter): void {
    origin.open++
    this.#opening.add(waiter)
    const cancel = Connector.open(waiter.target, this.#settings.connector, (opened) => {
      this.#opening.delete(waiter)
      if (typeof opened === "string") {
        this.#leave(origin)
        waiter.receive(opened)
      } else
        waiter.receive(
          this.#made(
            origin,
            new Connection(opened, origin.key, waiter.target.origin, this.#settings.maxIdleMillis),
          ),
        )
    })
    waiter.cancel = () => {
      if (!this.#opening.delete(waiter)) return
      cancel()
      this.#leave(origin)
    }
  }

  #made(origin: Origin, connection: Connection): Connection {
    this.#connections.add(connection)
    connection.whenClosed(() => {
      this.#connections.delete(connection)
      this.#takeOut(origin, connection)
      this.#leave(origin)
    })
    return connection
  }

  /** Counts an ended connection, and serves the next waiting request. */
  #leave(origin: Origin): void {
    origin.open--
    this.#openForWaiting(origin)
    this.#forgetUnused(origin)
  }

  #forgetUnused(origin: Origin): void {
    if (origin.open === 0 && origin.waiting.size === 0) this.#origins.delete(origin.key)
  }
}

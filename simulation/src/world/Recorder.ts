/**
 * Records the history during the run.
 */
import type {
  Answer,
  Ask,
  Call,
  History,
  OrderedEntry,
  Received,
  StorageEntry,
  TenantName,
} from "../History.ts"

/** A request that has no answer yet. */
export type OpenRequest = { -readonly [Key in keyof Received]: Received[Key] }

export interface Asked {
  readonly order: number
  readonly at: number
  readonly tenant: TenantName
  readonly process: string
  readonly ask: Ask
}

export class Recorder {
  readonly calls: Array<Call> = []
  readonly received: Array<OpenRequest> = []
  readonly storage: Array<OrderedEntry> = []
  readonly logs: Array<string> = []
  readonly errors: Array<string> = []
  /** Unexpected defects. */
  readonly defects: Array<string> = []
  /** How often each fault happened. */
  readonly faults = new Map<string, number>()
  #order = 0

  /** The history so far. */
  history(): Pick<History, "calls" | "received" | "storage" | "logs" | "errors" | "defects"> {
    const { calls, defects, errors, logs, received, storage } = this
    return { calls, received, storage, logs, errors, defects }
  }

  get order(): number {
    return this.#order
  }

  asks(at: number, tenant: TenantName, process: string, ask: Ask): Asked {
    return { order: ++this.#order, at, tenant, process, ask }
  }

  answered({ ask, at, order, process, tenant }: Asked, now: number, answer: Answer): void {
    this.calls.push({ order, endOrder: ++this.#order, clock: [at, now], tenant, process, ask, answer })
  }

  receives(request: Omit<Received, "order" | "status">): OpenRequest {
    const open: OpenRequest = { ...request, order: ++this.#order, status: null }
    this.received.push(open)
    return open
  }

  commits(entries: ReadonlyArray<StorageEntry>): void {
    for (const entry of entries) this.storage.push({ ...entry, order: ++this.#order })
  }

  injects(fault: string): void {
    this.faults.set(fault, (this.faults.get(fault) ?? 0) + 1)
  }
}

/**
 * The calls of the client: those of `createBilling` that the REST API offers.
 */
import type { CallOptions } from "../Call.ts"
import type { Plans } from "../catalog/Plans.ts"
import type { Credits } from "../credits/Credits.ts"
import type { Holds } from "../credits/Holds.ts"
import type { Entitlements } from "../entitlements/Entitlements.ts"
import type { BuiltInEvents } from "../events/EventMap.ts"
import type { EventOf, Events, EventTypeInfo, StreamEvents } from "../events/Events.ts"
import type { JournalReader } from "../invoices/Books.ts"
import type { CreditNotes } from "../invoices/CreditNotes.ts"
import type { Invoices } from "../invoices/Invoices.ts"
import type { MoneyFigures } from "../invoices/Money.ts"
import type { Payments } from "../payments/Payments.ts"
import type { ResourceCalls } from "../Resources.ts"
import type { Subscriptions } from "../subscriptions/Subscriptions.ts"
import type { RecordUsage, Usage } from "../usage/Usage.ts"
import type { Deliveries } from "../webhooks/Deliveries.ts"
import type { Endpoints } from "../webhooks/Endpoints.ts"

/** The result for one record of a batch. */
export interface RecordedUsageId {
  readonly id: string
  readonly isDuplicate: boolean
}

/** The calls of `billing.usage` that the REST API offers. Errors: `ApiError`, `ConnectionError`. */
export interface ClientUsage extends Omit<Usage, "recordBatch" | "audit"> {
  /** Records 1 to 1,000 entries, either all of them or none. Results are in the order of the input. */
  recordBatch(
    records: ReadonlyArray<RecordUsage>,
    options?: CallOptions,
  ): Promise<ReadonlyArray<RecordedUsageId>>
}

/** An event type of the catalogue, with the JSON Schema of its data. */
export interface ClientEventTypeInfo extends EventTypeInfo {
  readonly schema: unknown
}

/** An event of any type, as receivers get it. */
export type StreamedEvent<Map> = {
  [Type in keyof Map & string]: Pick<EventOf<Type, Map[Type]>, "id" | "type" | "timestamp" | "data">
}[keyof Map & string]

/** The calls of `billing.events` that the REST API offers. Errors: `ApiError`, `ConnectionError`. */
export interface ClientEvents<Map> extends Omit<Events<Map>, "stream" | "types"> {
  types(options?: CallOptions): Promise<ReadonlyArray<ClientEventTypeInfo>>
  /**
   * Yields events as they are committed, until you leave the loop or the signal aborts. The client reconnects after
   * a lost connection. It then misses no event that was published after the first event it yielded, or after
   * `after`.
   */
  stream(query?: StreamEvents<keyof Map & string>, options?: CallOptions): AsyncIterable<StreamedEvent<Map>>
}

/**
 * Acts for the account and mode that the API key belongs to. Calls take and return the same values as those of
 * `createBilling`.
 *
 * They reject with an `ApiError`, a `ConnectionError`, or the reason of the signal that aborted them.
 */
export interface BillingClient<Map = BuiltInEvents> extends ResourceCalls {
  readonly plans: Omit<Plans, "compare">
  readonly subscriptions: Subscriptions
  readonly invoices: Invoices
  /** Credit notes: what is given back of issued invoices. */
  readonly creditNotes: CreditNotes
  /** The overview of money: figures of all invoices, payments and subscriptions. */
  readonly money: MoneyFigures
  /** The journal for finance: double entry of invoices, payments and credits. */
  readonly books: JournalReader
  /** Payments: what customers paid of their invoices. */
  readonly payments: Omit<Payments, "receive">
  /** Credits: what customers have bought or were given, and what they use of it. */
  readonly credits: Credits
  /** Holds: credits that are kept for work under way. */
  readonly holds: Holds
  /** Entitlements: what customers may use, by the features of their plans. */
  readonly entitlements: Entitlements
  readonly usage: ClientUsage
  readonly events: ClientEvents<Map>
  readonly endpoints: Endpoints<Map>
  readonly deliveries: Deliveries
}

/**
 * What the client offers: the calls of `createBilling`, as far as the REST API has them.
 */
import type { CallOptions } from "../Call.ts"
import type { BuiltInEvents } from "../events/EventMap.ts"
import type { EventOf, Events, EventTypeInfo, StreamEvents } from "../events/Events.ts"
import type { ResourceCalls } from "../Resources.ts"
import type { RecordUsage, Usage } from "../usage/Usage.ts"
import type { Deliveries } from "../webhooks/Deliveries.ts"
import type { Endpoints } from "../webhooks/Endpoints.ts"

/** What became of one record of a batch. */
export interface RecordedUsageId {
  readonly id: string
  readonly isDuplicate: boolean
}

/** `billing.usage`, as far as the REST API has it. Errors: `ApiError`, `ConnectionError`. */
export interface ClientUsage extends Omit<Usage, "recordBatch" | "audit"> {
  /** Records 1 to 1,000, all or nothing. Results in the order given. */
  recordBatch(
    records: ReadonlyArray<RecordUsage>,
    options?: CallOptions,
  ): Promise<ReadonlyArray<RecordedUsageId>>
}

/** A type of the catalogue, with the JSON Schema of its data. */
export interface ClientEventTypeInfo extends EventTypeInfo {
  readonly schema: unknown
}

/** An event as receivers get it, of any of the types. */
export type StreamedEvent<Map> = {
  [Type in keyof Map & string]: Pick<EventOf<Type, Map[Type]>, "id" | "type" | "timestamp" | "data">
}[keyof Map & string]

/** `billing.events`, as far as the REST API has it. Errors: `ApiError`, `ConnectionError`. */
export interface ClientEvents<Map> extends Omit<Events<Map>, "stream" | "types"> {
  types(options?: CallOptions): Promise<ReadonlyArray<ClientEventTypeInfo>>
  /**
   * Follows the events as they are committed, until the loop is left or the signal aborts. A lost connection is made
   * again, and none is missed that was published after the first event or `after`.
   */
  stream(query?: StreamEvents<keyof Map & string>, options?: CallOptions): AsyncIterable<StreamedEvent<Map>>
}

/**
 * The account and mode that the API key belongs to. Calls are those of `createBilling`, and so are their values.
 *
 * They reject with an `ApiError`, a `ConnectionError`, or the reason of the signal that aborts them.
 */
export interface BillingClient<Map = BuiltInEvents> extends ResourceCalls {
  readonly usage: ClientUsage
  readonly events: ClientEvents<Map>
  readonly endpoints: Endpoints<Map>
  readonly deliveries: Deliveries
}

/**
 * The history of a run: the calls of clients and their answers, the calls of the storage, the requests that receivers
 * got, and the stored data at the end. Checkers see only this, and nothing of how it came about.
 *
 * All entries share one sequence, `order`: an entry with a smaller number happened earlier.
 */
import type {
  Customer,
  Delivery,
  Endpoint,
  Event,
  Meter,
  Tenant,
  Threshold,
  UsageDiscrepancy,
  UsageRecord,
} from "@billwright/core"

/** A tenant as one string (`Tenant.tenantKey`): `live:acme`. */
export type TenantName = string

/** Usage in a client's call. */
export interface UsageAsked {
  readonly customerId: string
  readonly productId: string
  readonly unit: string
  readonly quantity: number
  readonly dimensions: Readonly<Record<string, string>>
  readonly key: string | null
  /** When it was used, in epoch milliseconds. Without it: when it is recorded. */
  readonly timestamp?: number
}

/** How a meter makes a value of records. */
export type MeterDefinition = Pick<Meter.Meter, "aggregation" | "dimensions" | "counted">

/** A client's call. `marker`: a text that no other call has, which identifies the call's effects. */
export type Ask =
  | {
      readonly _tag: "CreateCustomer"
      readonly marker: string
      readonly key: string
      readonly isValid: boolean
    }
  | { readonly _tag: "EraseCustomer"; readonly customerId: string }
  | { readonly _tag: "RecordUsage"; readonly records: ReadonlyArray<UsageAsked> }
  | { readonly _tag: "VoidUsage"; readonly recordId: string }
  | {
      readonly _tag: "CreateThreshold"
      readonly customerId: string
      readonly productId: string
      readonly unit: string
      readonly quantity: bigint
      readonly period: Threshold.ThresholdPeriod
    }
  | {
      readonly _tag: "PublishEvent"
      readonly type: string
      readonly marker: string
      readonly key: string | null
    }
  /** Usage and an event about it in one transaction, which the client may abort at the end. */
  | {
      readonly _tag: "RecordAndPublish"
      readonly record: UsageAsked
      readonly type: string
      readonly marker: string
      readonly isGivenUp: boolean
    }
  | { readonly _tag: "CreateEndpoint"; readonly url: string; readonly eventTypes: ReadonlyArray<string> }
  | {
      readonly _tag: "UpdateEndpoint"
      readonly endpointId: string
      readonly status: Endpoint.EndpointStatus | undefined
      readonly eventTypes: ReadonlyArray<string> | undefined
    }
  | { readonly _tag: "DeleteEndpoint"; readonly endpointId: string }
  | { readonly _tag: "RotateSecret"; readonly endpointId: string; readonly overlapSeconds: number }
  | { readonly _tag: "TestEndpoint"; readonly endpointId: string; readonly type: string }
  | { readonly _tag: "ReplayEvent"; readonly eventId: string; readonly endpointId: string | undefined }
  | { readonly _tag: "ReplayDelivery"; readonly deliveryId: string }
  | { readonly _tag: "ReplayRange"; readonly endpointId: string }
  | {
      readonly _tag: "ReadTotal"
      readonly customerId: string
      readonly productId: string
      readonly unit: string
    }
  | ({
      readonly _tag: "CreateMeter"
      readonly key: string
      readonly productId: string
      readonly unit: string
    } & MeterDefinition)
  | ({ readonly _tag: "UpdateMeter"; readonly meterId: string } & MeterDefinition)
  /** The value of a meter over a period of days. */
  | {
      readonly _tag: "ReadMeter"
      readonly customerId: string
      readonly meter: string
      readonly startDate: string
      readonly endDate: string
    }
  /** Looks up data of another tenant. */
  | { readonly _tag: "ReadForeign"; readonly id: string }

/**
 * The outcome of a call. `Unknown`: the client can't know whether it was carried out. `Rejected`: nothing was stored.
 */
export type Answer =
  | { readonly _tag: "Unknown" }
  | { readonly _tag: "Rejected"; readonly error: string }
  | {
      readonly _tag: "Done"
      /** The ids of what it made or found, in the order of the call. */
      readonly ids: ReadonlyArray<string>
      /** Whether each existed before. */
      readonly repeats?: ReadonlyArray<boolean>
      readonly total?: bigint
      readonly response?: { readonly status: number; readonly body: string; readonly isReplay: boolean }
      readonly secret?: string
    }

export interface Call {
  /** When the call began, and when its answer came. */
  readonly order: number
  readonly endOrder: number
  /** The same two times by the clock of the called process, in epoch milliseconds. */
  readonly clock: readonly [from: number, to: number]
  readonly tenant: TenantName
  readonly process: string
  readonly ask: Ask
  readonly answer: Answer
}

/** A request that a receiver got. */
export interface Received {
  readonly order: number
  /** When it was given to the transport, by the sender's clock. It may have arrived later. */
  readonly sentAt: number
  /** The process that sent it. */
  readonly process: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The network delivered the request twice. */
  readonly isCopy: boolean
  /** The receiver's answer, even if it got lost. `null`: no answer. */
  readonly status: number | null
}

export interface SeenAttempt {
  readonly number: number
  readonly status: number | null
  readonly error: string | null
}

/** The calls of the storage and their results, in the order of their commits. */
export type StorageEntry =
  | {
      readonly _tag: "Claimed"
      readonly process: string
      /** The point of the history from which on it has read. By default the commit. */
      readonly since?: number
      readonly deliveries: ReadonlyArray<{
        readonly id: string
        readonly token: string
        readonly eventId: string
        readonly endpointId: string
      }>
    }
  | {
      readonly _tag: "Settled"
      readonly process: string
      readonly results: ReadonlyArray<{
        readonly id: string
        readonly token: string
        readonly isWritten: boolean
      }>
    }
  | {
      readonly _tag: "DeliverySeen"
      readonly id: string
      readonly tenant: TenantName
      readonly status: Delivery.DeliveryStatus
      readonly reason: Delivery.FailureReason | null
      readonly attemptCount: number
      readonly attempts: ReadonlyArray<SeenAttempt>
    }
  | {
      readonly _tag: "EndpointSeen"
      readonly tenant: TenantName
      readonly id: string
      readonly status: Endpoint.EndpointStatus | "deleted"
      readonly url: string
      readonly eventTypes: ReadonlyArray<string>
    }
  | {
      readonly _tag: "Published"
      readonly tenant: TenantName
      readonly eventId: string
      readonly type: string
      /** The endpoint that it was made for. `null`: it is for all endpoints with a matching filter. */
      readonly endpointId: string | null
    }
  /** Personal data was taken out of events, whose bytes are other ones from here on. */
  | { readonly _tag: "Redacted"; readonly tenant: TenantName; readonly eventIds: ReadonlyArray<string> }
  | {
      readonly _tag: "Appended"
      readonly tenant: TenantName
      readonly records: ReadonlyArray<UsageRecord.UsageRecord>
      readonly crossings: ReadonlyArray<{ readonly thresholdId: string; readonly periodKey: string }>
    }
  | { readonly _tag: "ThresholdStored"; readonly tenant: TenantName; readonly threshold: Threshold.Threshold }

export type OrderedEntry = StorageEntry & { readonly order: number }

/** The entries of one kind. */
export type EntryOf<Tag extends StorageEntry["_tag"]> = Extract<OrderedEntry, { readonly _tag: Tag }>

interface OfTenant {
  readonly tenant: Tenant.Tenant
}

/** All stored data of all tenants, after the run has become quiet. */
export interface Stored {
  readonly customers: ReadonlyArray<
    OfTenant & { readonly id: string; readonly customer: Customer.Customer | null }
  >
  readonly records: ReadonlyArray<OfTenant & { readonly record: UsageRecord.UsageRecord }>
  readonly rollups: ReadonlyArray<
    OfTenant & {
      readonly customerId: string
      readonly productId: string
      readonly unit: string
      readonly day: string
      readonly quantity: bigint
      readonly recordCount: number
    }
  >
  readonly meters: ReadonlyArray<OfTenant & { readonly meter: Meter.Meter }>
  readonly thresholds: ReadonlyArray<OfTenant & { readonly threshold: Threshold.Threshold }>
  readonly firings: ReadonlyArray<OfTenant & { readonly thresholdId: string; readonly periodKey: string }>
  readonly events: ReadonlyArray<OfTenant & { readonly event: Event.Event }>
  readonly endpoints: ReadonlyArray<
    OfTenant & { readonly id: string; readonly endpoint: Endpoint.Endpoint | null }
  >
  readonly deliveries: ReadonlyArray<OfTenant & Delivery.DeliveryWithAttempts>
}

export interface History {
  readonly calls: ReadonlyArray<Call>
  readonly received: ReadonlyArray<Received>
  readonly storage: ReadonlyArray<OrderedEntry>
  readonly stored: Stored
  /** The result of the audit after the run has become quiet. */
  readonly discrepancies: ReadonlyArray<UsageDiscrepancy>
  /** When the faults had ended, and clients had repeated the calls whose outcome they didn't know. */
  readonly quietSince: number
  /** Why the due work did not finish, if it did not. */
  readonly stuck: string | undefined
  /** Everything that was logged, as text. */
  readonly logs: ReadonlyArray<string>
  /** The bugs that a fiber died of, as text. */
  readonly defects: ReadonlyArray<string>
  /** The errors that clients got, as text. */
  readonly errors: ReadonlyArray<string>
  readonly maxAttempts: Readonly<Record<Tenant.Mode, number>>
}

/** The entries of one kind, in order. */
export const entriesOf = <Tag extends StorageEntry["_tag"]>(
  history: History,
  tag: Tag,
): ReadonlyArray<EntryOf<Tag>> =>
  history.storage.filter((entry): entry is EntryOf<Tag> & OrderedEntry => entry._tag === tag)

/** A call of one kind. */
export type CallOf<Tag extends Ask["_tag"]> = Call & { readonly ask: Extract<Ask, { readonly _tag: Tag }> }

/** The calls of one kind, in order. */
export const callsOf = <Tag extends Ask["_tag"]>(history: History, tag: Tag): ReadonlyArray<CallOf<Tag>> =>
  history.calls.filter((call): call is CallOf<Tag> => call.ask._tag === tag)

/** The endpoint of each URL. No two endpoints have the same URL. */
export const endpointIdsByUrl = (history: History): ReadonlyMap<string, string> =>
  new Map(entriesOf(history, "EndpointSeen").map(({ id, url }) => [url, id]))

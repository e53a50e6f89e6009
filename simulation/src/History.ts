/**
 * What happened: what clients asked and were answered, what the storage was asked, what receivers saw, and what
 * is stored in the end. All that a checker may look at, and nothing of how it came about.
 *
 * `order` is one sequence over all of it: what has the smaller number happened first.
 */
import type {
  Customer,
  Delivery,
  Endpoint,
  Event,
  Tenant,
  Threshold,
  UsageDiscrepancy,
  UsageRecord,
} from "@billwright/core"

/** A tenant as one string (`Tenant.tenantKey`): `live:acme`. */
export type TenantName = string

/** Usage as a client asked for it. */
export interface UsageAsked {
  readonly customerId: string
  readonly productId: string
  readonly unit: string
  readonly quantity: number
  readonly key: string | null
}

/** What a client asked for. `marker`: a text that no other call has, to know its work by. */
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
  /** Usage and the event that tells of it, in one transaction, which the client may give up in the end. */
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
  /** Looks for something of another tenant. */
  | { readonly _tag: "ReadForeign"; readonly id: string }

/** What came of a call. `Unknown`: nobody can say if it was carried out. `Rejected`: nothing of it was stored. */
export type Answer =
  | { readonly _tag: "Unknown" }
  | { readonly _tag: "Rejected"; readonly error: string }
  | {
      readonly _tag: "Done"
      /** Of what it made or found, in the order asked. */
      readonly ids: ReadonlyArray<string>
      /** Whether each was there before. */
      readonly repeats?: ReadonlyArray<boolean>
      readonly total?: bigint
      readonly response?: { readonly status: number; readonly body: string; readonly isReplay: boolean }
      readonly secret?: string
    }

export interface Call {
  /** When it was asked, and when it was answered. */
  readonly order: number
  readonly endOrder: number
  /** The same two by the clock of the process that it was asked of, in epoch milliseconds. */
  readonly clock: readonly [from: number, to: number]
  readonly tenant: TenantName
  readonly process: string
  readonly ask: Ask
  readonly answer: Answer
}

/** A request that a receiver saw. */
export interface Received {
  readonly order: number
  /** When it was handed to the transport, by the sender's clock. It may have arrived later. */
  readonly sentAt: number
  /** The process that sent it. */
  readonly process: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The network made two of one. */
  readonly isCopy: boolean
  /** What the receiver answered, whether or not anybody heard; `null`: nothing. */
  readonly status: number | null
}

export interface SeenAttempt {
  readonly number: number
  readonly status: number | null
  readonly error: string | null
}

/** What the storage was asked and answered, in the order in which it was committed. */
export type StorageEntry =
  | {
      readonly _tag: "Claimed"
      readonly process: string
      /** Since when it has read what it took, in the order of the history; by default since it was committed. */
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
      /** The one that it was made for; `null`: it is for all that want it. */
      readonly endpointId: string | null
    }
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

/** Everything that is stored, of all tenants, when all is quiet. */
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
  /** What the auditor found, when all was quiet. */
  readonly discrepancies: ReadonlyArray<UsageDiscrepancy>
  /** When the faults had stopped, and what clients did not know the end of had been asked again. */
  readonly quietSince: number
  /** Why the work that was due did not end, if it did not. */
  readonly stuck: string | undefined
  /** Everything that was logged, as text. */
  readonly logs: ReadonlyArray<string>
  /** What died of a bug, as text. */
  readonly defects: ReadonlyArray<string>
  /** Errors that clients got, as text. */
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

/** Which endpoint has a URL: each has one of its own. */
export const endpointIdsByUrl = (history: History): ReadonlyMap<string, string> =>
  new Map(entriesOf(history, "EndpointSeen").map(({ id, url }) => [url, id]))

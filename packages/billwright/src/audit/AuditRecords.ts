/**
 * The audit log: who changed what.
 */
import type { CallOptions, Instant } from "../Call.ts"
import type { Listing, PageQuery } from "../Listing.ts"

/**
 * `key`: a request with an API key. `operator`: a person. `payer`: somebody with a link to the pages for payers. `provider`: a notice of
 * a payment provider. `runner`: work in the background. `host`: your own program, or a command on the database.
 */
export type ActorType = "host" | "key" | "operator" | "payer" | "provider" | "runner"

/** A person of yours, for `billing.as`. */
export interface Person {
  /** What you call the person: 1 to 128 characters. */
  readonly id: string
  /** The role in which the person acts: 1 to 64 characters. Default: none. */
  readonly role?: string | undefined
}

/** A change of an object. It was written in the transaction of the change, and is never changed or removed. */
export interface AuditRecord {
  /** `aud_…` */
  readonly id: string
  /** The object and `created`, `updated` or `deleted`, such as `customer.updated`. */
  readonly action: string
  /** The id of the object. */
  readonly objectId: string
  readonly actorType: ActorType
  /** The id of the API key, what you call the person, the id of the payer's customer, the name of the payment provider, `host` or `runner`. */
  readonly actorId: string
  readonly actorRole: string | null
  /**
   * The fields that have changed, as they were, with the names of the REST API: at most 16 KiB of JSON. `null` if the object was
   * created. Integers beyond 2^53 − 1 are text.
   */
  readonly before: Readonly<Record<string, unknown>> | null
  /** The same fields after the change. `null` if the object was deleted. */
  readonly after: Readonly<Record<string, unknown>> | null
  /** The names of changed fields that are not shown: personal data, and values of more than 2 KiB. */
  readonly leftOut: ReadonlyArray<string>
  readonly ip: string | null
  /** At most 256 characters. */
  readonly userAgent: string | null
  /** The header `Request-Id` of the answer. */
  readonly requestId: string | null
  readonly createdAt: Date
}

/** Selects audit records, newest first. */
export interface ListAuditRecords extends PageQuery {
  readonly objectId?: string | undefined
  readonly actorId?: string | undefined
  /** Such as `customer.updated`. */
  readonly action?: string | undefined
  /** Only changes at this instant or later. */
  readonly createdAfter?: Instant | undefined
  /** Only changes before this instant. */
  readonly createdBefore?: Instant | undefined
}

/** Errors: `InvalidInputError`, `AuditRecordNotFoundError`. */
export interface AuditRecords {
  get(id: string, options?: CallOptions): Promise<AuditRecord>
  list(query?: ListAuditRecords, options?: CallOptions): Listing<AuditRecord>
}

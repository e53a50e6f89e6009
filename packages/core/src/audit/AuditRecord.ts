/**
 * Audit records: who changed which object, when and from where, and what it was before and after. They are written in the
 * transaction of the change, and never changed or removed.
 */
import { Schema } from "effect"
import {
  ActorId,
  ActorRole,
  ActorType,
  MAX_IP_LENGTH,
  MAX_REQUEST_ID_LENGTH,
  MAX_USER_AGENT_LENGTH,
} from "../shared/Actor.ts"
import * as Field from "../shared/Field.ts"
import * as Id from "../shared/Id.ts"
import * as Resource from "../shared/Resource.ts"
import * as Text from "../shared/Text.ts"

/** The prefix of ids of audit records. */
export const AUDIT_RECORD_ID_PREFIX = "aud"
/** The most bytes of JSON that one field has in `before` or `after`. A larger one is left out, and named. */
export const MAX_AUDITED_FIELD_BYTES = 2_048
/** The most bytes of JSON of `before`, and of `after`. Fields that would be beyond are left out, and named. */
export const MAX_AUDITED_BYTES = 16_384
/** The most fields that an object can have in a record. */
export const MAX_AUDITED_FIELDS = 200
/** The longest name of a field, in code points. */
const MAX_FIELD_NAME_LENGTH = 64
/** The longest action, in characters. */
const MAX_ACTION_LENGTH = 96
/** The longest id of an object, in code points. */
export const MAX_OBJECT_ID_LENGTH = 128

export const AuditRecordId = Id.schema(AUDIT_RECORD_ID_PREFIX).pipe(Schema.brand("AuditRecordId"))
export type AuditRecordId = typeof AuditRecordId.Type

export const AuditVerb = Schema.Literals(["created", "updated", "deleted"])
export type AuditVerb = typeof AuditVerb.Type

const encoder = new TextEncoder()
const isWithinSize = (value: object): boolean =>
  encoder.encode(JSON.stringify(value)).length <= MAX_AUDITED_BYTES

const FieldName = Text.bounded(1, MAX_FIELD_NAME_LENGTH)

/** Fields of an object, as the API writes them. */
const Fields = Schema.Record(Schema.String, Schema.Unknown).check(
  Schema.isMaxProperties(MAX_AUDITED_FIELDS),
  Schema.isPropertyNames(FieldName),
  Schema.makeFilter(isWithinSize, { message: `must have at most ${MAX_AUDITED_BYTES} bytes of JSON` }),
)

const Action = Text.bounded(1, MAX_ACTION_LENGTH).check(
  Schema.isPattern(/^[a-z][a-z_]*\.(created|updated|deleted)$/u, {
    message: "must be an object and created, updated or deleted, such as customer.updated",
  }),
)
const LeftOut = Schema.Array(FieldName).check(Schema.isMaxLength(MAX_AUDITED_FIELDS))

const actorId = Field.text(
  ActorId,
  "Who it was: the id of the API key, what you call the person, the id of the payer's customer, or the name of the payment provider. Otherwise `host` or `runner`.",
)
const objectId = Field.text(Text.bounded(1, MAX_OBJECT_ID_LENGTH), "The id of the object that was changed.")
const action = Field.text(
  Action,
  "What was done: the object and `created`, `updated` or `deleted`, such as `customer.updated`.",
)

/** The definition of the resource; see `Resource`. */
export const auditRecords = Resource.make({
  type: "AuditRecord",
  noun: "audit record",
  title: "Audit log",
  description:
    "A change of an object: who made it, when, from where, and what the object was before and after.",
  about:
    "Who changed what. A record is written in the transaction of its change, and is never changed or removed. It holds no secrets, and no personal data of customers but for the address and the user agent of payers.",
  path: "/audit_log",
  scope: "audit",
  id: AuditRecordId,
  prefix: AUDIT_RECORD_ID_PREFIX,
  isAppendOnly: true,
  fields: {
    action,
    objectId,
    actorType: Field.text(
      ActorType,
      "`key`: a request with an API key. `operator`: a person. `payer`: somebody with a link to the pages for payers. `provider`: a notice of a payment provider. `runner`: work in the background. `host`: your own program, or a command on the database.",
    ),
    actorId,
    actorRole: Field.textOrNull(ActorRole, "The role in which the actor did it, if it has one."),
    before: Field.jsonOrNull(
      Fields,
      "The fields that have changed, as they were. `null` if the object was created. Integers beyond 2^53 − 1 are text.",
    ),
    after: Field.jsonOrNull(
      Fields,
      "The fields that have changed, as they are after it. `null` if the object was deleted.",
    ),
    leftOut: Field.json(
      LeftOut,
      "The names of changed fields that `before` and `after` don't show: personal data, and values that are too large.",
    ),
    ip: Field.textOrNull(
      Text.bounded(1, MAX_IP_LENGTH),
      "The IP address that the request came from, if it is known.",
    ),
    userAgent: Field.textOrNull(
      Text.bounded(1, MAX_USER_AGENT_LENGTH),
      "The user agent of the request, cut after 256 characters.",
    ),
    requestId: Field.textOrNull(
      Text.bounded(1, MAX_REQUEST_ID_LENGTH),
      "The id of the request: the header `Request-Id` of its answer.",
    ),
  },
  times: { createdAt: Field.instant("When the change was made.") },
  create: {},
  filters: {
    objectId: Field.optional(Field.saying(objectId, "Only changes of the object with this id.")),
    actorId: Field.optional(Field.saying(actorId, "Only changes by this actor.")),
    action: Field.optional(Field.saying(action, "Only changes of this kind, such as `customer.updated`.")),
    createdAfter: Field.optional(Field.instant("Only changes at this instant or later.")),
    createdBefore: Field.optional(Field.instant("Only changes before this instant.")),
  },
  indexed: ["objectId", "actorId", "action"],
  operations: {},
  example: {
    id: "aud_01kb2r9d3vffx9qd6k4v2n1h7c",
    action: "coupon.updated",
    object_id: "cpn_01kb2r6ghefxhs59czp23x4vmk",
    actor_type: "key",
    actor_id: "key_01kb2r5xq3e0mvxj5b9n9d6r3w",
    actor_role: null,
    before: { archived_at: null },
    after: { archived_at: "2026-11-21T09:32:00.000Z" },
    left_out: [],
    ip: "203.0.113.7",
    user_agent: "billwright-cli",
    request_id: "req_01kb2r9d3tfkpbb1t0d5c1v9wz",
    created_at: "2026-11-21T09:32:00.000Z",
  },
})

/** An audit record. */
export const AuditRecord = auditRecords.Value
export interface AuditRecord extends Schema.Schema.Type<typeof AuditRecord> {}

/** Which audit records to list. */
export const ListAuditRecords = auditRecords.List
export interface ListAuditRecords extends Schema.Schema.Type<typeof ListAuditRecords> {}

/** The tenant has no audit record with this id. */
export const AuditRecordNotFound = auditRecords.NotFound
export type AuditRecordNotFound = InstanceType<typeof AuditRecordNotFound>

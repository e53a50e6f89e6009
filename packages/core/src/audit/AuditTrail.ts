/**
 * Writes the audit log: wraps the storage of resources, so that each change has a record in its own transaction. A new resource
 * needs nothing for it. What has a port of its own is wrapped by `AuditedStores.ts`.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { CurrentActor } from "../shared/Actor.ts"
import * as Batch from "../shared/Batch.ts"
import { type Collection, type CollectionOf, Collections } from "../shared/Collections.ts"
import { IdGenerator, millisOf } from "../shared/Id.ts"
import type { Definition, Resource } from "../shared/Resource.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import {
  AUDIT_RECORD_ID_PREFIX,
  type AuditRecord,
  AuditRecordId,
  auditRecords,
  type AuditVerb,
} from "./AuditRecord.ts"
import { between, type Shown } from "./Difference.ts"

/** An object that can have a record of its changes. */
export interface Audited extends Shown {
  /** What actions call it: `usage_threshold`. */
  readonly object: string
}

/** A change of an object. A state that there is not is `undefined`: before its creation, and after its removal. */
interface Change {
  readonly id: string
  readonly before: object | undefined
  readonly after: object | undefined
}

/** Writes the record of a change, in the current transaction. Writes none if nothing differs. */
export type Note = (audited: Audited, change: Change) => Effect.Effect<void, StorageError, CurrentTenant>

/** `UsageThreshold` → `usage_threshold` */
const objectOf = ({ type }: Definition): string =>
  type.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase()

/** What records show of a resource: its fields, as the API does. Of those with personal data they show the name only. */
export const auditedOf = (resource: Definition): Audited => ({
  object: objectOf(resource),
  fields: Object.keys(resource.fields).filter((name) => resource.progress?.includes(name) !== true),
  hidden: new Set(resource.personal ?? []),
})

const verbOf = ({ after, before }: Change): AuditVerb => {
  if (before === undefined) return "created"
  return after === undefined ? "deleted" : "updated"
}

/** Makes what writes records. Those of a batch are written together. */
const makeNote = Effect.gen(function* () {
  const ids = yield* IdGenerator
  const log = (yield* Collections).of(auditRecords)
  const insertAll =
    log.insertAll ??
    ((records: ReadonlyArray<AuditRecord>) => Effect.forEach(records, log.insert, { discard: true }))
  const write = (records: ReadonlyArray<AuditRecord>) => Effect.as(insertAll(records), records)
  const note: Note = Effect.fnUntraced(function* (audited, change) {
    const difference = between(audited, change.before, change.after)
    if (difference === undefined) return
    const actor = yield* CurrentActor
    const id = AuditRecordId.make(yield* ids.next(AUDIT_RECORD_ID_PREFIX), { disableChecks: true })
    const record: AuditRecord = {
      id,
      action: `${audited.object}.${verbOf(change)}`,
      objectId: change.id,
      actorType: actor.type,
      actorId: actor.id,
      actorRole: actor.role,
      ...difference,
      ip: actor.ip,
      userAgent: actor.userAgent,
      requestId: actor.requestId,
      createdAt: DateTime.makeUnsafe(millisOf(id)),
    }
    yield* Batch.together("audit", record, write)
  })
  return note
})

type Joined = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | StorageError, R>

/** Writes records of what is stored elsewhere than in `Collections`. */
export class Trail extends Context.Service<
  Trail,
  {
    readonly note: Note
    /** Runs a change and its note in the current transaction, or else in one of their own. */
    readonly joined: Joined
  }
>()("@billwright/core/audit/Trail") {}

/** Runs an effect in the current transaction, or else in one of its own. */
const joining = ({ atomically, inTransaction }: Transactor["Service"]): Joined => {
  return (effect) => Effect.flatMap(inTransaction, (isInside) => (isInside ? effect : atomically(effect)))
}

/** The collection of a resource, which notes each change. */
const auditedCollection = <A extends { readonly id: string }>(
  stored: Collection<A>,
  resource: Definition,
  note: Note,
  joined: Joined,
): Collection<A> => {
  const audited = auditedOf(resource)
  return {
    find: stored.find,
    status: stored.status,
    list: stored.list,
    insert:
      resource.isLedger === true
        ? stored.insert
        : (value) =>
            joined(
              Effect.tap(stored.insert(value), (isInserted) =>
                isInserted ? note(audited, { id: value.id, before: undefined, after: value }) : Effect.void,
              ),
            ),
    modify: <E, R>(id: string, change: (value: A) => Effect.Effect<A, E, R>) =>
      joined(
        Effect.suspend(() => {
          let before: A | undefined
          const changed = stored.modify(id, (value) =>
            Effect.tap(change(value), (after) =>
              Effect.sync(() => {
                // It is only held if it is the same object.
                before = after === value ? undefined : value
              }),
            ),
          )
          return Effect.tap(changed, (after) =>
            before === undefined || Option.isNone(after)
              ? Effect.void
              : note(audited, { id, before, after: after.value }),
          )
        }),
      ),
    remove: (id) =>
      joined(
        Effect.gen(function* () {
          // Held, so that nobody changes it meanwhile.
          const before = Option.getOrUndefined(yield* stored.modify(id, Effect.succeed))
          const isRemoved = yield* stored.remove(id)
          if (isRemoved && before !== undefined) yield* note(audited, { id, before, after: undefined })
          return isRemoved
        }),
      ),
  }
}

/** The storage of resources, which notes each change in the audit log. */
const layerCollections: Layer.Layer<Collections, never, Collections | Trail> = Layer.effect(
  Collections,
  Effect.gen(function* () {
    const stored = yield* Collections
    const { joined, note } = yield* Trail
    const made = new Map<string, object>()
    return Collections.of({
      of: <D extends Definition>(resource: Resource<D>) => {
        const collection = stored.of(resource)
        // Nothing changes records, and they need none of their own.
        if (resource.isAppendOnly === true) return collection
        const audited =
          made.get(resource.type) ??
          auditedCollection(
            collection as object as Collection<{ readonly id: string }>,
            resource,
            note,
            joined,
          )
        made.set(resource.type, audited)
        return audited as CollectionOf<Resource<D>>
      },
    })
  }),
)

const layerTrail: Layer.Layer<Trail, never, Collections | IdGenerator | Transactor> = Layer.effect(
  Trail,
  Effect.gen(function* () {
    return Trail.of({ note: yield* makeNote, joined: joining(yield* Transactor) })
  }),
)

/** What notes changes, and the storage of resources that does it by itself. */
export const layer: Layer.Layer<Collections | Trail, never, Collections | IdGenerator | Transactor> =
  layerCollections.pipe(Layer.provideMerge(layerTrail))

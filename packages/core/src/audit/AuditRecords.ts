/**
 * The use cases of the audit log. `AuditTrail` writes it.
 */
import { Context, Effect, Layer } from "effect"
import * as ById from "../shared/ById.ts"
import { Collections } from "../shared/Collections.ts"
import { decoder, type InvalidInput } from "../shared/InvalidInput.ts"
import { filterOf, nameCursor, type Page, toQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { type AuditRecord, type AuditRecordNotFound, auditRecords, ListAuditRecords } from "./AuditRecord.ts"

const decodeList = decoder(ListAuditRecords)
const { knownId, orNotFound } = ById.of(auditRecords)

/** Reads and lists the audit log of the current tenant. */
export class AuditRecords extends Context.Service<
  AuditRecords,
  {
    readonly get: (
      id: string,
    ) => Effect.Effect<AuditRecord, AuditRecordNotFound | StorageError, CurrentTenant>

    /** Newest first. */
    readonly list: (
      query?: ListAuditRecords,
    ) => Effect.Effect<Page<AuditRecord>, InvalidInput | StorageError, CurrentTenant>
  }
>()("@billwright/core/audit/AuditRecords") {
  static readonly layer = Layer.effect(
    AuditRecords,
    Effect.gen(function* () {
      const store = (yield* Collections).of(auditRecords)

      const get = Effect.fn("AuditRecords.get")(function* (id: string) {
        return yield* orNotFound(yield* store.find(yield* knownId(id)), id)
      })

      const list = Effect.fn("AuditRecords.list")(function* (query: ListAuditRecords = {}) {
        const request = yield* decodeList(query)
        const { createdAfter, createdBefore, ...fields } = filterOf(request)
        const filter = {
          ...fields,
          // The instant of a record is that of its id.
          madeFrom: createdAfter?.epochMilliseconds,
          madeBefore: createdBefore?.epochMilliseconds,
        }
        return yield* store.list(filter, yield* toQuery(request)).pipe(nameCursor(request))
      })

      return AuditRecords.of({ get, list })
    }),
  )
}

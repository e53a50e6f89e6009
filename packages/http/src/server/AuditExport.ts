/**
 * `GET /v1/audit_log/export`: the audit log as lines of JSON. While a client doesn't read, nothing is read from storage for it.
 */
import {
  AuditRecord,
  AuditRecords,
  CurrentTenant,
  type InvalidInput,
  Page,
  type StorageError,
  type VerifiedApiKey,
} from "@billwright/core"
import { Effect, Stream } from "effect"
import { LINES_TYPE } from "../api/AuditExportApi.ts"
import type { TooManyStreams } from "./ErrorResponse.ts"
import type { HttpResponse } from "./HttpExchange.ts"
import * as ResourceBody from "./ResourceBody.ts"
import * as StreamSlots from "./StreamSlots.ts"

/** The id of this operation. */
export const EXPORT_OPERATION = "exportAuditRecords"
/** Most exports of this process at once. */
const MAX_EXPORTS = 20
/** Most exports of one API key, or of one operator, at once in this process. */
const MAX_EXPORTS_PER_KEY = 2

const HEADERS = { "content-type": LINES_TYPE, "cache-control": "no-store" }

const bodyOf = ResourceBody.make<AuditRecord.AuditRecord>(AuditRecord.auditRecords)

/** What reads the next page. */
type Reading = Effect.Effect<Page.Page<AuditRecord.AuditRecord>>

export interface ExportRequest {
  readonly verified: VerifiedApiKey
  readonly query: Omit<AuditRecord.ListAuditRecords, "limit" | "startingAfter" | "endingBefore">
  /** Whether the answer has no body (HEAD). */
  readonly isBodiless: boolean
}

export type OpenExport = (
  request: ExportRequest,
) => Effect.Effect<HttpResponse, InvalidInput | StorageError | TooManyStreams>

/** Makes the function that begins exports. */
export const make: Effect.Effect<OpenExport, never, AuditRecords> = Effect.gen(function* () {
  const log = yield* AuditRecords
  const slots = StreamSlots.make({ maxStreams: MAX_EXPORTS, maxStreamsPerKey: MAX_EXPORTS_PER_KEY })

  return Effect.fnUntraced(function* ({ isBodiless, query, verified }: ExportRequest) {
    const { tenant } = verified
    const holder = StreamSlots.holderOf(verified)
    const page = (startingAfter?: string) =>
      Effect.provideService(
        log.list({
          ...query,
          limit: Page.MAX_PAGE_LIMIT,
          ...(startingAfter === undefined ? {} : { startingAfter }),
        }),
        CurrentTenant,
        tenant,
      )
    yield* slots.check(holder)
    // Read before the answer begins, so that what is wrong with the request is an error, and no connection that breaks off.
    const first = yield* page()
    const answer = { status: 200, headers: HEADERS, body: "" }
    if (isBodiless) return answer
    const slot = yield* slots.reserve(holder)
    const begin: Reading = Effect.succeed(first)
    const pages = Stream.unfold(begin as Reading | undefined, (reading) => {
      if (reading === undefined) return Effect.undefined
      return Effect.map(reading, ({ data, hasMore }) => {
        const lines = data.map((record) => `${JSON.stringify(bodyOf(record, tenant))}\n`).join("")
        const last = data.at(-1)
        return [lines, hasMore && last !== undefined ? Effect.orDie(page(last.id)) : undefined] as const
      })
    })
    const stream = Stream.unwrap(Effect.as(Effect.orDie(slot), pages))
    return { ...answer, stream }
  })
})

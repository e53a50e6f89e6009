/**
 * The REST definition of the export of the audit log.
 */
import { AuditRecord } from "@billwright/core"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { readErrors } from "./ErrorBody.ts"
import { RequiredPermission } from "./Permission.ts"
import * as ResourceApi from "./ResourceApi.ts"
import * as Wire from "./Wire.ts"

/** The content type: a value of JSON on each line. */
export const LINES_TYPE = "application/jsonl"
/** The longest export that the document allows, in code points. No connection reaches it. */
export const MAX_EXPORT_LENGTH = Number.MAX_SAFE_INTEGER

export const AuditExportApi = HttpApiGroup.make("audit_export")
  .add(
    HttpApiEndpoint.get("exportAuditRecords", "/audit_log/export", {
      query: ResourceApi.filters(AuditRecord.auditRecords),
      success: Wire.text(MAX_EXPORT_LENGTH).pipe(HttpApiSchema.asText({ contentType: LINES_TYPE })),
      error: readErrors(),
    })
      .annotate(RequiredPermission, "audit:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Export audit records",
          description: [
            "Sends all audit records that match, newest first, as lines of JSON: one record on each line. They are sent as they are read, so that an export of any size needs little memory.",
            "An export that can't go on breaks the connection off. The number of exports of a key at the same time is limited. One more gets 429.",
          ].join("\n\n"),
        }),
      ),
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Export of the audit log",
      description: "All of the audit log in one answer.",
    }),
  )

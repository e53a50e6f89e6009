/**
 * The REST definition of the export of everything about a customer.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { LINES_TYPE, MAX_EXPORT_LENGTH } from "./AuditExportApi.ts"
import { readErrors } from "./ErrorBody.ts"
import { RequiredPermission } from "./Permission.ts"
import * as Wire from "./Wire.ts"

/** The id of the operation. */
export const CUSTOMER_EXPORT_OPERATION = "exportCustomer"

export const CustomerExportApi = HttpApiGroup.make("customer_export")
  .add(
    HttpApiEndpoint.get(CUSTOMER_EXPORT_OPERATION, "/customers/:id/export", {
      params: Schema.Struct({ id: Schema.String.annotate({ description: "The id of the customer." }) }),
      success: Wire.text(MAX_EXPORT_LENGTH).pipe(HttpApiSchema.asText({ contentType: LINES_TYPE })),
      error: readErrors("not_found"),
    })
      .annotate(RequiredPermission, "customers:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Export everything about a customer",
          description: [
            "Sends all that is stored about a customer as lines of JSON: the customer, then each object of it, as the API shows it, newest first of each kind, and after each object its audit records. At last come the audit records of what the customer did on the pages for payers. No secret is in it. They are sent as they are read, so that an export of any size needs little memory. It is not as of one instant: what changes meanwhile is as before or as after.",
            "The last line has the object `customer_export` and the number of lines before it. An export without it is not whole: one that can't go on breaks the connection off. The number of exports of a key at the same time is limited. One more gets 429.",
            "A key needs the scope to read each kind of object, as the role `viewer` has.",
          ].join("\n\n"),
        }),
      ),
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Export of a customer",
      description: "Everything about a customer in one answer.",
    }),
  )

/**
 * Documents in answers: pages, PDFs and e-invoices.
 */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import * as Wire from "./Wire.ts"

/** The longest page that the document allows, in code points. No invoice reaches it. */
const MAX_HTML_LENGTH = Number.MAX_SAFE_INTEGER

/** An HTML page in an answer. */
export const HtmlBody = Wire.text(MAX_HTML_LENGTH).pipe(HttpApiSchema.asText({ contentType: "text/html" }))

/** A PDF in an answer. */
export const PdfBody = Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "application/pdf" }))

/** XML in an answer. */
export const XmlBody = Wire.text(MAX_HTML_LENGTH).pipe(
  HttpApiSchema.asText({ contentType: "application/xml" }),
)

/** Why there is no e-invoice. */
export const NO_E_INVOICE =
  "A `conflict` names all that EN 16931 wants and that is missing, such as the country of the customer."

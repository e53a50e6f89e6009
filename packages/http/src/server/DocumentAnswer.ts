/**
 * Answers with documents for people.
 */
import type { DocumentPage } from "@billwright/core"
import { type Answer, FileBody } from "./HttpExchange.ts"

/** A page. Its policy stands in the page, too; who may show it in a frame stands only here. */
export const page = ({ html, policy }: DocumentPage): Answer => ({
  status: 200,
  body: new FileBody(html, {
    "content-type": "text/html",
    "content-security-policy": `${policy}; frame-ancestors 'self'`,
    "referrer-policy": "no-referrer",
  }),
})

export const pdf = (bytes: Uint8Array<ArrayBuffer>): Answer => ({
  status: 200,
  body: new FileBody(bytes, { "content-type": "application/pdf" }),
})

/** XML says its encoding itself. */
export const xml = (text: string): Answer => ({
  status: 200,
  body: new FileBody(text, { "content-type": "application/xml" }),
})

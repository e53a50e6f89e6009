/**
 * Answers with pages for payers. Whoever reads one knows a link, so none is cached, indexed, or told to another site.
 */
import type { Theme } from "@billwright/engine"
import { STYLE_HASH, styleOf } from "@billwright/engine/payer"
import type { HttpResponse } from "../server/HttpExchange.ts"
import { hashOf } from "./StyleHash.ts"

const PRIVATE = {
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-robots-tag": "noindex, nofollow, noarchive",
} as const

/** Makes the answers for a theme. */
export class PageAnswers {
  /** The style of all pages. */
  readonly style: string
  readonly #policy: string

  constructor(theme: Theme) {
    this.style = styleOf(theme)
    const pictures = ["data:", ...(theme.logo === undefined ? [] : [new URL(theme.logo).origin])]
    this.#policy = [
      "default-src 'none'",
      `style-src '${hashOf(this.style)}' '${STYLE_HASH}'`,
      `img-src ${pictures.join(" ")}`,
      "form-action 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join("; ")
  }

  page(status: number, body: string, headers: Readonly<Record<string, string>> = {}): HttpResponse {
    return {
      status,
      headers: {
        ...PRIVATE,
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": this.#policy,
        ...headers,
      },
      body,
    }
  }

  /** Goes on to a page of ours by GET, so that reloading sends nothing again. */
  seeOther(location: string): HttpResponse {
    return { status: 303, headers: { ...PRIVATE, location }, body: "" }
  }

  pdf(bytes: Uint8Array<ArrayBuffer>, name: string): HttpResponse {
    const file = `${name.replaceAll(/[^\w.-]+/g, "-")}.pdf`
    return {
      status: 200,
      headers: {
        ...PRIVATE,
        "content-type": "application/pdf",
        "content-disposition": `inline; filename="${file}"`,
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
      },
      body: "",
      bytes,
    }
  }
}

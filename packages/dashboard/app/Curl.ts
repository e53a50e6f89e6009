/**
 * Requests as commands for a POSIX shell. What stands in them may come from anybody: it is quoted, always.
 */

import * as ExactJson from "./api/ExactJson.ts"

/** One word of a command, whatever is in it. */
export const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

export interface CurlRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** A line break in a header would end it; none of those that are shown here has one. */
const headerOf = ([name, value]: readonly [string, string]): string =>
  `--header ${quote(`${name}: ${value}`.replace(/[\r\n]+/g, " "))}`

/** curl works this out by itself, from the address and the body. */
const IMPLIED = new Set(["content-length", "host", "connection", "accept-encoding", "transfer-encoding"])

/** The command that sends a request. */
export const curl = ({ body, headers, method, url }: CurlRequest): string =>
  [
    `curl --request ${method} --url ${quote(url)}`,
    ...Object.entries(headers)
      .filter(([name]) => !IMPLIED.has(name.toLowerCase()))
      .map(headerOf),
    ...(body === undefined ? [] : [`--data-raw ${quote(body)}`]),
  ].join(" \\\n  ")

/** A request to the API, with the key as a variable: a key in a command ends up in a history. */
export const apiCurl = (apiUrl: string, method: string, path: string, body?: unknown): string =>
  [
    `curl ${method === "GET" ? "" : `--request ${method} `}--url ${quote(`${apiUrl}${path}`)}`,
    '--header "Authorization: Bearer $BILLWRIGHT_API_KEY"',
    ...(body === undefined
      ? []
      : ["--header 'Content-Type: application/json'", `--data-raw ${quote(ExactJson.stringify(body))}`]),
  ].join(" \\\n  ")

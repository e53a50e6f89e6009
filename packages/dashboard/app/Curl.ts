/**
 * Requests as commands for a POSIX shell. Their parts may come from anybody, so all of them are quoted.
 */

import * as ExactJson from "./api/ExactJson.ts"

/** Quotes a text as one word of a command. */
export const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

export interface CurlRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** A header as curl takes it. The headers that are shown here never have a line break, which would end them. */
const headerOf = ([name, value]: readonly [string, string]): string =>
  `--header ${quote(`${name}: ${value}`.replace(/[\r\n]+/g, " "))}`

/** Headers that curl sets itself, from the address and the body. */
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

/** A request to the API. The key is a shell variable, so that it doesn't end up in the history of the shell. */
export const apiCurl = (apiUrl: string, method: string, path: string, body?: unknown): string =>
  [
    `curl ${method === "GET" ? "" : `--request ${method} `}--url ${quote(`${apiUrl}${path}`)}`,
    '--header "Authorization: Bearer $BILLWRIGHT_API_KEY"',
    ...(body === undefined
      ? []
      : ["--header 'Content-Type: application/json'", `--data-raw ${quote(ExactJson.stringify(body))}`]),
  ].join(" \\\n  ")

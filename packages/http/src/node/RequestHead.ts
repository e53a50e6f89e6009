/**
 * What Node's parser lets pass of a request's head and a server must not (RFC 9112), and the address as all the rest
 * of the server reads it.
 */
import type { IncomingMessage } from "node:http"

/** What a host may be written with (RFC 3986 §3.2): no space, no `/`, no `@`. */
const HOST = /^[\w.~!$&'()*+,;=%:[\]-]*$/

/** The scheme and the authority of an address in absolute form. */
const ABSOLUTE = /^https?:\/\/[^/?#]*/i

/** The values of a header, one for each line. Node itself keeps the first of two Hosts. */
const linesOf = ({ rawHeaders }: IncomingMessage, name: string): ReadonlyArray<string> => {
  const values: Array<string> = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const given = rawHeaders[i] ?? ""
    if (given.length === name.length && given.toLowerCase() === name) values.push(rawHeaders[i + 1] ?? "")
  }
  return values
}

/**
 * Why the head is refused, or `undefined`. Two programs may take a request with two Hosts for another host's, and
 * one in an unknown transfer coding for another body.
 */
export const problemOf = (request: IncomingMessage): string | undefined => {
  const hosts = linesOf(request, "host")
  if (hosts.length > 1) return "the request has more than one Host"
  if (hosts.length === 0 && request.httpVersion !== "1.0") return "the request has no Host"
  if (hosts[0] !== undefined && !HOST.test(hosts[0])) return "the Host of the request is none"
  const coding = request.headers["transfer-encoding"]
  if (coding !== undefined && coding.toLowerCase() !== "chunked") {
    return "the only Transfer-Encoding that is known here is chunked"
  }
  return undefined
}

/** `http://example.com/v1/usage?unit=call` as `/v1/usage?unit=call`, which is what clients that know no proxy send. */
export const originForm = (target: string): string => {
  if (target.startsWith("/") || !ABSOLUTE.test(target)) return target
  const rest = target.replace(ABSOLUTE, "")
  return rest.startsWith("/") ? rest : `/${rest}`
}

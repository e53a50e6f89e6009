/**
 * Checks the head of a request more strictly than Node's parser does, as RFC 9112 demands, and normalizes its
 * address.
 */
import type { IncomingMessage } from "node:http"

/** The characters that are allowed in a host (RFC 3986 §3.2): no space, no `/`, no `@`. */
const HOST = /^[\w.~!$&'()*+,;=%:[\]-]*$/

/** The scheme and the authority of an address in absolute form. */
const ABSOLUTE = /^https?:\/\/[^/?#]*/i

/** The values of a header, one for each line. Node's `headers` has only the first of two Hosts. */
const linesOf = ({ rawHeaders }: IncomingMessage, name: string): ReadonlyArray<string> => {
  const values: Array<string> = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const given = rawHeaders[i] ?? ""
    if (given.length === name.length && given.toLowerCase() === name) values.push(rawHeaders[i + 1] ?? "")
  }
  return values
}

/**
 * Why the head is refused, or `undefined`. Two programs could read a request with two Hosts as requests to
 * different hosts, and a request in an unknown transfer coding as requests with different bodies.
 */
export const problemOf = (request: IncomingMessage): string | undefined => {
  const hosts = linesOf(request, "host")
  if (hosts.length > 1) return "the request has more than one Host"
  if (hosts.length === 0 && request.httpVersion !== "1.0") return "the request has no Host"
  if (hosts[0] !== undefined && !HOST.test(hosts[0])) return "the Host of the request is malformed"
  const coding = request.headers["transfer-encoding"]
  if (coding !== undefined && coding.toLowerCase() !== "chunked") {
    return "the only supported Transfer-Encoding is chunked"
  }
  return undefined
}

/**
 * `http://example.com/v1/usage?unit=call` becomes `/v1/usage?unit=call`, the form that clients without a proxy
 * send.
 */
export const originForm = (target: string): string => {
  if (target.startsWith("/") || !ABSOLUTE.test(target)) return target
  const rest = target.replace(ABSOLUTE, "")
  return rest.startsWith("/") ? rest : `/${rest}`
}

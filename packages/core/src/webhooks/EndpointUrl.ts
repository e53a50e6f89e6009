/**
 * Checks which URLs a webhook endpoint may have.
 *
 * A URL is checked after it was parsed by the URL Standard (https://url.spec.whatwg.org), because requests use the
 * parsed form: it turns `0x7f.1`, `2130706433` and full-width digits into `127.0.0.1`. The addresses of a host name are
 * checked at every attempt, because the answer of its name server can change.
 */
import { Result } from "effect"
import type { Mode } from "../shared/Tenant.ts"
import * as NetworkAddress from "./NetworkAddress.ts"

/** Longest URL, in characters. The limit holds for the URL as given and for its percent-encoded form. */
export const MAX_URL_LENGTH = 2_048
/** The ports that live endpoints may have. */
export const LIVE_PORTS: ReadonlyArray<number> = [443, 8443]
/** Longest host name, and longest part of it between dots, in characters (RFC 1035, section 2.3.4). */
const MAX_HOST_LENGTH = 253
const MAX_LABEL_LENGTH = 63

// Characters that the URL Standard drops or replaces. Two parsers could find two different hosts in such a URL.
// oxlint-disable-next-line no-control-regex -- it is these that are refused
const MISLEADING = /[\u0000-\u0020\u007f\\]/
/** A hint for people who try `http` in live mode. */
const HTTP_IN_TEST = "http is for test mode"

const SCHEME = /^https?:\/\//i
const AUTHORITY = /^[a-z]+:\/\/([^/?#]*)/i
/** Letters, digits, `_` and `-`, but no `-` at either end. Standards don't allow `_` in host names, but it is in use. */
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?$/

/** The host of a URL without the brackets of an IPv6 address. */
export const hostOf = (url: URL): string =>
  url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname

/** Scheme, host and port of a stored URL. */
export const originOf = (url: string): string => new URL(url).origin

/** The port of a URL. Without one in the URL, the default port of its scheme. */
export const portOf = (url: URL): number =>
  url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port)

const problemOfText = (text: string, mode: Mode): string | undefined => {
  if (text.length > MAX_URL_LENGTH) return `must be at most ${MAX_URL_LENGTH} characters`
  if (MISLEADING.test(text)) return "must not contain spaces, control characters or backslashes"
  if (!text.isWellFormed()) return "must not contain a lone surrogate"
  if (!SCHEME.test(text))
    return `must begin with https://${mode === "test" ? " or http://" : ` (${HTTP_IN_TEST})`}`
  if (text.includes("#")) return "must not have a fragment"
  if (AUTHORITY.exec(text)?.[1]?.includes("@")) return "must not have a user name or password"
  return undefined
}

/** Host names of the metadata services of clouds. Their addresses are forbidden, too. */
export const METADATA_HOSTS: ReadonlyArray<string> = [
  "metadata",
  "metadata.google.internal",
  "metadata.goog",
  "instance-data",
  "instance-data.ec2.internal",
  "metadata.azure.internal",
  "metadata.tencentyun.com",
  "metadata.platformequinix.com",
  "metadata.packet.net",
]

/** Advice for people who try the library on one machine. */
const LOOPBACK_ADVICE = "sending to loopback needs allowLoopback, or --allow-loopback of billwright serve"

const isLocalhost = (host: string): boolean => host === "localhost" || host.endsWith(".localhost")

const problemOfLocalhost = (
  host: string,
  mode: Mode,
  policy: NetworkAddress.NetworkPolicy,
): string | undefined => {
  if (mode === "live") return "must not point to localhost"
  const isAllowed = ["127.0.0.1", "::1"].some((address) => NetworkAddress.isAllowed(address, mode, policy))
  return isAllowed ? undefined : `must not point to ${host}: ${LOOPBACK_ADVICE}`
}

const problemOfName = (
  host: string,
  mode: Mode,
  policy: NetworkAddress.NetworkPolicy,
): string | undefined => {
  const labels = host.split(".")
  if (labels.at(-1) === "") return "must not have a host that ends in a dot"
  if (host.length > MAX_HOST_LENGTH) return `must have a host of at most ${MAX_HOST_LENGTH} characters`
  if (labels.some((label) => label.length > MAX_LABEL_LENGTH || !LABEL.test(label))) {
    return "must have a valid host"
  }
  if (METADATA_HOSTS.includes(host)) return `must not point to ${host}: it is a metadata service of a cloud`
  if (isLocalhost(host)) return problemOfLocalhost(host, mode, policy)
  if (mode === "test") return undefined
  // A name without dots resolves differently on each network, and it is never a public host.
  if (labels.length === 1) return "must have a full domain name as its host"
  return undefined
}

const loopbackPolicy: NetworkAddress.NetworkPolicy = { ...NetworkAddress.strictPolicy, allowsLoopback: true }

const problemOfHost = (
  host: string,
  mode: Mode,
  policy: NetworkAddress.NetworkPolicy,
): string | undefined => {
  if (NetworkAddress.parse(host) === undefined) return problemOfName(host, mode, policy)
  if (NetworkAddress.isAllowed(host, mode, policy)) return undefined
  const isForTrials = mode === "test" && NetworkAddress.isAllowed(host, mode, loopbackPolicy)
  return `must not point to ${host}: ${isForTrials ? LOOPBACK_ADVICE : "it is not public"}`
}

const problemOfPort = (port: number, mode: Mode): string | undefined => {
  if (mode === "live" && !LIVE_PORTS.includes(port)) return `must use port ${LIVE_PORTS.join(" or ")}`
  return port === 0 ? "must not use port 0" : undefined
}

/**
 * Parses the URL of an endpoint. Fails with the problem, to follow the field's name in a sentence: "must use https".
 *
 * - Both modes: at most `MAX_URL_LENGTH` characters; no user name, password or fragment; the host is an IP address that
 *   `NetworkAddress.isAllowed` allows, or a valid domain name without a final dot; no metadata service of a cloud, by
 *   name or address.
 * - Live mode: `https`, port 443 or 8443, and a domain name with at least one dot.
 * - Test mode: `http` or `https`, and any port but 0. `localhost` and loopback addresses where the policy allows
 *   loopback.
 */
export const parse = (
  text: string,
  mode: Mode,
  policy: NetworkAddress.NetworkPolicy = NetworkAddress.strictPolicy,
): Result.Result<URL, string> => {
  const problem = problemOfText(text, mode)
  if (problem !== undefined) return Result.fail(problem)
  const url = URL.parse(text)
  if (url === null) return Result.fail("must have a valid host and port")
  if (url.href.length > MAX_URL_LENGTH) {
    return Result.fail(`must be at most ${MAX_URL_LENGTH} characters when it is percent-encoded`)
  }
  const problemOfParts =
    (mode === "live" && url.protocol !== "https:" ? `must use https (${HTTP_IN_TEST})` : undefined) ??
    problemOfHost(hostOf(url), mode, policy) ??
    problemOfPort(portOf(url), mode)
  return problemOfParts === undefined ? Result.succeed(url) : Result.fail(problemOfParts)
}

/** The problem of an endpoint's URL (see `parse`), or `undefined` when there is none. */
export const problemOf = (
  url: string,
  mode: Mode,
  policy: NetworkAddress.NetworkPolicy = NetworkAddress.strictPolicy,
): string | undefined => {
  const result = parse(url, mode, policy)
  return Result.isFailure(result) ? result.failure : undefined
}

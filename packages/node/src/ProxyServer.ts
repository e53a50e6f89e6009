/**
 * The HTTP proxy that all webhooks go through, read from its URL.
 */
import { EndpointUrl, InvalidInput } from "@billwright/core"
import { Redacted, Result } from "effect"
import type { Peer } from "./Sockets.ts"

export interface ProxyServer extends Peer {
  /** The value of `Proxy-Authorization`. `undefined` when the URL has no user name. */
  readonly authorization: Redacted.Redacted<string> | undefined
}

// The message must not repeat the URL, because it may have a password.
const invalid = (problem: string) => Result.fail(new InvalidInput({ field: "proxy", problem }))

const NO_URL =
  "must be the URL of an HTTP proxy, such as http://user:password@proxy.example:3128, with special characters of user and password percent-encoded"

/** Decodes user name or password. `undefined` when its percent-encoding is wrong. */
const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Reads `http://user:password@host:port` or the same with `https`. The port is 80 or 443 if it is left out. */
export const parse = (text: Redacted.Redacted<string>): Result.Result<ProxyServer, InvalidInput> => {
  const url = URL.parse(Redacted.value(text))
  if (url === null || !["http:", "https:"].includes(url.protocol)) return invalid(NO_URL)
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "") {
    return invalid("must have nothing after host and port")
  }
  const user = decoded(url.username)
  const password = decoded(url.password)
  if (user === undefined || password === undefined) return invalid(NO_URL)
  // The first colon ends the user name (RFC 7617, section 2).
  if (user.includes(":")) return invalid("must have a user name without a colon")
  return Result.succeed({
    host: EndpointUrl.hostOf(url),
    port: EndpointUrl.portOf(url),
    isTls: url.protocol === "https:",
    authorization:
      user === "" && password === ""
        ? undefined
        : Redacted.make(`Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`),
  })
}

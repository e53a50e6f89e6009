/**
 * Converts errors of Node and undici to the port's error codes. People read these codes in the log of attempts.
 * When an error's own code is not specific, the phase in which it happened decides.
 */
import type { TransportError } from "@billwright/core"

const codeOf = (error: unknown): string => {
  const code = (error as { readonly code?: unknown } | null | undefined)?.code
  return typeof code === "string" ? code : ""
}

const ofSocket = (error: unknown): TransportError | undefined => {
  switch (codeOf(error)) {
    case "ECONNRESET":
    case "EPIPE":
      return "reset"
    case "ETIMEDOUT":
      return "timeout"
    default:
      return undefined
  }
}

/** The TCP connection could not be made. */
export const ofConnect = (error: unknown): TransportError => ofSocket(error) ?? "connection_refused"

/** TCP was connected, but TLS failed. */
export const ofHandshake = (error: unknown): TransportError => ofSocket(error) ?? "tls_error"

/** What undici's parser objects to, which has a name but no code. */
const ofParser = (message: string): TransportError =>
  // A connection that ended within a chunk.
  message.includes("Invalid EOF state") ? "reset" : "bad_response"

/** The request was not answered, or not to the end. `hasHead` tells whether status and headers had arrived. */
export const ofExchange = (error: Error, hasHead: boolean): TransportError => {
  if (error.name === "HTTPParserError") return ofParser(error.message)
  const code = codeOf(error)
  switch (code) {
    case "ETIMEDOUT":
      return "timeout"
    case "UND_ERR_HEADERS_OVERFLOW":
    case "UND_ERR_INVALID_ARG":
      return "bad_response"
    case "UND_ERR_RES_CONTENT_LENGTH_MISMATCH":
      // Before the body it is the header itself that is wrong; in the body, the connection ended early.
      return hasHead ? "reset" : "bad_response"
    case "UND_ERR_SOCKET":
      // An answer that nobody may give without being asked: `101 Switching Protocols`.
      return /^bad (response|upgrade)$/.test(error.message) ? "bad_response" : "reset"
    default:
      return code.startsWith("ERR_SSL_") ? "tls_error" : "reset"
  }
}

/** undici was given what is no request: nothing was sent. */
export const isUnsendable = (error: unknown): boolean => codeOf(error) === "UND_ERR_INVALID_ARG"

/**
 * Converts errors of Node and undici to the error codes of `WebhookTransport`. People read these codes in the log of
 * attempts. When an error has no specific code, the phase in which it happened decides.
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

/** Errors of undici's parser, which have a message but no code. */
const ofParser = (message: string): TransportError =>
  // The connection ended within a chunk.
  message.includes("Invalid EOF state") ? "reset" : "bad_response"

/** The answer is missing or incomplete. `hasHead` says whether status and headers had arrived. */
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
      // Before the body, the header itself is wrong. In the body, the connection ended early.
      return hasHead ? "reset" : "bad_response"
    case "UND_ERR_SOCKET":
      // `101 Switching Protocols`, which a server must not send without being asked.
      return /^bad (response|upgrade)$/.test(error.message) ? "bad_response" : "reset"
    default:
      return code.startsWith("ERR_SSL_") ? "tls_error" : "reset"
  }
}

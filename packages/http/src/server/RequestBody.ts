/**
 * Checks and parses the body of a request.
 */
import { Effect } from "effect"
import { WrongMediaType } from "./ErrorResponse.ts"
import { BodyTooLarge, BodyUnreadable, type HttpRequest, MAX_BODY_BYTES } from "./HttpExchange.ts"
import * as Json from "./Json.ts"

/**
 * Whether a Content-Type is JSON in UTF-8. A missing Content-Type counts as JSON, because the API has no other
 * type.
 */
const isJson = (contentType: string | undefined): boolean => {
  if (contentType === undefined || contentType === "") return true
  const [type, ...parameters] = contentType.toLowerCase().split(";")
  if (type?.trim() !== "application/json") return false
  return parameters.every((parameter) => {
    const [name, value] = parameter.split("=")
    return name?.trim() !== "charset" || value?.trim().replaceAll('"', "") === "utf-8"
  })
}

/** Checks the headers about the body before the body is read. */
export const checkHeaders = (request: HttpRequest): Effect.Effect<void, WrongMediaType | BodyTooLarge> => {
  const length = Number(request.header("content-length") ?? 0)
  if (length > MAX_BODY_BYTES) return Effect.fail(new BodyTooLarge())
  if (!isJson(request.header("content-type"))) {
    return Effect.fail(
      new WrongMediaType({ problem: "the body must be sent with Content-Type: application/json" }),
    )
  }
  const encoding = request.header("content-encoding") ?? "identity"
  if (encoding !== "identity") {
    return Effect.fail(new WrongMediaType({ problem: "the body must be sent without Content-Encoding" }))
  }
  return Effect.void
}

// `ignoreBOM` keeps a byte order mark in the text, where it is not JSON (RFC 8259, section 8.1).
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Parses the JSON of a body; `undefined` when it is empty. */
export const parse = (bytes: Uint8Array): Effect.Effect<unknown, BodyUnreadable> => {
  if (bytes.length === 0) return Effect.undefined
  try {
    return Effect.succeed(Json.parse(utf8.decode(bytes)))
  } catch (cause) {
    const problem = cause instanceof Json.JsonProblem ? cause.message : "is not valid UTF-8"
    return Effect.fail(new BodyUnreadable({ problem }))
  }
}

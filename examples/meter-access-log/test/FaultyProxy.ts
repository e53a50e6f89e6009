/**
 * A proxy in front of the real server, which simulates faults of networks and busy servers.
 */
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/**
 * The fault of a request: none; an answer 429 or 503 (retry at once, or in an hour) without reaching the server; the
 * server handles it, but the answer is lost; the server handles it, but the answer never arrives; the server handles it,
 * and the answer arrives after a promise.
 */
export type Fault =
  | "none"
  | 429
  | 503
  | "busy for an hour"
  | "lose the answer"
  | "withhold the answer"
  | { readonly answerAfter: () => Promise<void> }

const PASSED_ON = ["authorization", "content-type", "idempotency-key"]

export interface FaultyProxy extends AsyncDisposable {
  readonly url: string
  /** Resolves when the first answer is withheld. The server has handled that request. */
  readonly withheld: Promise<void>
}

export const startProxy = async (
  target: string,
  faultOf: (request: { readonly number: number; readonly path: string }) => Fault,
): Promise<FaultyProxy> => {
  const withheld = Promise.withResolvers<void>()
  let number = 0
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? "/"
    const fault = faultOf({ number: ++number, path })
    const body = (await request.setEncoding("utf8").toArray()).join("")
    if (typeof fault === "number" || fault === "busy for an hour") {
      const [status, retryAfter] = typeof fault === "number" ? [fault, "0"] : [503, "3600"]
      response
        .writeHead(status, { "retry-after": retryAfter, "content-type": "text/html" })
        .end("<h1>Busy</h1>")
      return
    }
    const { method = "GET", headers } = request
    const answer = await fetch(`${target}${path}`, {
      method,
      headers: PASSED_ON.flatMap((name) => {
        const value = headers[name]
        return typeof value === "string" ? [[name, value] as [string, string]] : []
      }),
      ...(body === "" ? {} : { body }),
    })
    const text = await answer.text()
    if (typeof fault === "object") await fault.answerAfter()
    if (fault === "lose the answer") request.socket.destroy()
    else if (fault === "withhold the answer") withheld.resolve()
    else response.writeHead(answer.status, { "content-type": "application/json" }).end(text)
  }
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy())
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    withheld: withheld.promise,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    },
  }
}

/**
 * The receiver of all sides, as a separate process. Answers `200` at once, except for paths that begin with `/hang`,
 * which it never answers. Notes when the first byte of each event's first delivery came.
 */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

/** Answers a message with the times at which events came since the last message, in milliseconds since 1970. */
const arrivals = new Map<string, number>()

const server = createServer((request, response) => {
  request.resume()
  if (request.url?.startsWith("/hang") === true) return
  const id = String(request.headers["webhook-id"])
  if (!arrivals.has(id)) arrivals.set(id, performance.timeOrigin + performance.now())
  response.writeHead(200, { "content-type": "text/plain", "content-length": "2" })
  response.end("ok")
})
// Longer than any pause of a benchmark, so that the receiver never closes connections.
server.keepAliveTimeout = 60_000
server.listen(0, "127.0.0.1", () => process.send?.({ port: (server.address() as AddressInfo).port }))

process.on("message", () => {
  process.send?.({ arrivals: [...arrivals] })
  arrivals.clear()
})
process.on("disconnect", () => process.exit())

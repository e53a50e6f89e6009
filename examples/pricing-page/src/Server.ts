/** Serves the page on the loopback interface. */
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { bundle } from "./bundle.ts"

export interface Served {
  readonly url: string
  readonly server: Server
}

/** Starts the server; port 0 is any free port. */
export const serve = async (port: number): Promise<Served> => {
  const files = new Map([
    ["/", { type: "text/html", body: await readFile(new URL("index.html", import.meta.url), "utf8") }],
    ["/page.js", { type: "text/javascript", body: await bundle() }],
  ])
  const server = createServer((request, response) => {
    const file = files.get(request.url ?? "")
    if (file === undefined) response.writeHead(404).end()
    else response.writeHead(200, { "content-type": `${file.type}; charset=utf-8` }).end(file.body)
  })
  server.listen(port, "127.0.0.1")
  await once(server, "listening")
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

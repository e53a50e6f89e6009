/**
 * Produces an access log: starts a web server on the loopback interface, makes requests to it from several
 * addresses, and writes the log that the server keeps. See README.md.
 */
import { once } from "node:events"
import { createWriteStream } from "node:fs"
import { Agent, request } from "node:http"
import { connect } from "node:net"
import { finished } from "node:stream/promises"
import { parseArgs } from "node:util"
import { Random } from "./Random.ts"
import { SampleServer } from "./SampleServer.ts"
import { type Visit, visits } from "./SampleTraffic.ts"

const USAGE = `Usage: node src/produce-log.ts [options] <access.log>

  --lines <n>      requests to make; default 6000
  --seed <n>       decides which ones; default 1
  --from <instant> sets the server's clock, and lets it run as fast as it takes to spread the requests
                   over --days; default: the real time
  --days <n>       with --from; default 7
  --timezone <tz>  of the log; default UTC
  --no-ipv6        leaves out the client that comes over IPv6`

const DAY_MS = 86_400_000
/** The average number of requests of a visit, including repeated ones. */
const REQUESTS_A_VISIT = 5.4
/** How much longer a day is because nights have fewer visits. */
const NIGHT_STRETCH = 1.35

const { values, positionals } = parseArgs({
  allowPositionals: true,
  allowNegative: true,
  options: {
    lines: { type: "string", default: "6000" },
    seed: { type: "string", default: "1" },
    from: { type: "string" },
    days: { type: "string", default: "7" },
    timezone: { type: "string", default: "UTC" },
    ipv6: { type: "boolean", default: true },
  },
})
const [file] = positionals
const lines = Number(values.lines)
const seed = Number(values.seed)
const days = Number(values.days)
const from = values.from === undefined ? undefined : Date.parse(values.from)
if (file === undefined || ![lines, seed, days, from ?? 0].every(Number.isFinite)) {
  console.error(USAGE)
  process.exit(1)
}

let clock = from
const server = new SampleServer(
  { now: () => new Date(clock ?? Date.now()), timeZone: values.timezone },
  new Random(seed + 1),
)
const ports = {
  ipv4: await server.listen("127.0.0.1"),
  ipv6: values.ipv6 ? await server.listen("::1") : 0,
}
const agent = new Agent({ keepAlive: true })

const serverOf = (client: string) =>
  client.includes(":") ? { host: "::1", port: ports.ipv6 } : { host: "127.0.0.1", port: ports.ipv4 }

/** Makes a request. Returns the length of the received body in bytes. */
const make = async ({ client, method, target, headers, body }: Visit): Promise<number> => {
  const made = request({
    ...serverOf(client),
    localAddress: client,
    agent,
    method,
    path: target,
    headers: { ...headers, ...(body === undefined ? {} : { "content-length": body.length }) },
  })
  const [response] = await Promise.all([once(made, "response"), Promise.resolve(made.end(body))])
  let bytes = 0
  for await (const chunk of response[0]) bytes += chunk.length
  return bytes
}

const sendRaw = async (client: string, raw: string): Promise<number> => {
  const socket = connect({ ...serverOf(client), localAddress: client })
  socket.end(raw, "latin1")
  socket.resume()
  await once(socket, "close")
  return 0
}

const log = createWriteStream(file)
const random = new Random(seed)
const pauseMs = (days * DAY_MS * REQUESTS_A_VISIT) / lines / NIGHT_STRETCH
const traffic = visits(random, { start: clock ?? Date.now(), pauseMs, withIpv6: values.ipv6 })
for (let made = 0; made < lines; made++) {
  const visit = traffic.next().value
  if (clock !== undefined) clock += visit.afterMs
  const logged = once(server, "line")
  const received = await (visit.raw === undefined ? make(visit) : sendRaw(visit.client, visit.raw))
  const line = String((await logged)[0])
  // Compares the size that the server logged with the bytes that the client received.
  const sent = Number(/" \d{3} (\d+) "/.exec(line)?.[1] ?? 0)
  if (sent !== received) throw new Error(`${received} bytes came: ${line}`)
  log.write(`${line}\n`)
}
log.end()
await finished(log)
agent.destroy()
server.close()

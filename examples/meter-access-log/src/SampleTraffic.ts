/**
 * Generated visits to the sample server. The same seed gives the same requests.
 */
import type { Random } from "./Random.ts"

/** A request to make. */
export interface Visit {
  /** The address of the client. */
  readonly client: string
  /** The time since the previous request, in milliseconds. */
  readonly afterMs: number
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Raw bytes to send instead of a request. */
  readonly raw?: string
}

interface Client {
  readonly address: string
  readonly agents: ReadonlyArray<string>
  readonly user?: string
  readonly habit: "person" | "program" | "scanner"
}

const BROWSERS = [
  "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1",
]

const CLIENTS: ReadonlyArray<Client> = [
  // Three of Northwind's network, two of Contoso's: see Parties.ts.
  { address: "127.0.0.17", agents: BROWSERS, habit: "person" },
  { address: "127.0.0.18", agents: ["northwind-sync/2.4 (+https://northwind.example)"], habit: "program" },
  { address: "127.0.0.30", agents: BROWSERS, user: "grace hopper", habit: "person" },
  { address: "127.0.0.33", agents: ['Contoso "Quote" Fetcher/1.0'], user: "ada", habit: "program" },
  { address: "127.0.0.46", agents: BROWSERS, habit: "person" },
  { address: "127.0.0.2", agents: BROWSERS, habit: "person" },
  { address: "127.0.0.3", agents: ["curl/8.14.1"], habit: "program" },
  { address: "127.0.0.4", agents: ["C:\\tools\\fetch.exe", 'say \\"hi\\"'], habit: "program" },
  { address: "127.0.0.5", agents: ["Caf\u00e9/1.0 (na\u00efve)", ...BROWSERS], habit: "person" },
  { address: "127.0.0.15", agents: BROWSERS, habit: "person" },
  { address: "127.0.0.66", agents: ["", "zgrab/0.x"], habit: "scanner" },
  { address: "::1", agents: ["python-requests/2.33.0"], habit: "program" },
]

const QUERIES = ["invoice", "caf%C3%A9", "a+b", '"exact+phrase"', "50%25", "x%20y&page=2", "path\\to"]
const SCANNED = ["/wp-login.php", "/.env", "/.git/config", "/api/../etc/passwd", "//admin", "/cgi-bin/x?%00"]
const REFERERS = ["https://www.example/", 'https://search.example/?q="exact"', "https://app.example/reports"]
const RAW = ["\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", "HELO mail.example\r\n\r\n", "GET\r\n\r\n"]

type Asked = Pick<Visit, "method" | "target"> & Partial<Pick<Visit, "headers" | "body" | "raw">>

const image = (random: Random): string => `/api/images/${random.between(1, 400)}.jpg`

const ask = (habit: Client["habit"], random: Random): Asked => {
  const draw = random.next()
  if (habit === "scanner") {
    if (draw < 0.2) return { method: "", target: "", raw: random.pick(RAW) }
    if (draw < 0.3) return { method: "OPTIONS", target: "*" }
    return { method: random.pick(["GET", "HEAD", "PROPFIND", "TRACE"]), target: random.pick(SCANNED) }
  }
  if (draw < 0.36) return { method: "GET", target: `/api/search?q=${random.pick(QUERIES)}` }
  if (draw < 0.38) return { method: "GET", target: "/api/search" }
  if (draw < 0.52) return { method: "GET", target: image(random) }
  if (draw < 0.58) return { method: "GET", target: image(random), headers: { "if-none-match": '"1"' } }
  if (draw < 0.61)
    return { method: "POST", target: image(random), body: "x".repeat(random.between(1, 2_000)) }
  if (draw < 0.63) return { method: "DELETE", target: image(random) }
  if (draw < 0.65) return { method: "GET", target: `/api/images/samples/${random.between(1, 5)}.jpg` }
  if (draw < 0.75) return { method: "GET", target: `/api/reports/2026-0${random.between(1, 3)}` }
  if (draw < 0.78) return { method: "HEAD", target: `/files/manual-${random.between(1, 9)}.pdf` }
  if (draw < 0.83) return { method: "GET", target: `/files/manual-${random.between(1, 9)}.pdf` }
  if (draw < 0.86) return { method: "GET", target: "/files/video.mp4", headers: { range: "bytes=0-1023" } }
  if (habit === "program") return { method: "GET", target: "/healthz" }
  if (draw < 0.97) return { method: "GET", target: `/static/${random.between(1, 30)}.js` }
  return { method: "GET", target: random.pick(["/", "/login", "/favicon.ico"]) }
}

const headersOf = (client: Client, agent: string, random: Random): Record<string, string> => ({
  ...(agent === "" ? {} : { "user-agent": agent }),
  ...(client.habit === "person" && random.chance(0.7) ? { referer: random.pick(REFERERS) } : {}),
  ...(client.user === undefined ? {} : { authorization: `Basic ${btoa(`${client.user}:none`)}` }),
})

const HOUR_MS = 3_600_000
/** Hours (UTC) in which hardly anyone is awake. */
const isNight = (instant: number): boolean => new Date(instant).getUTCHours() < 6

/**
 * An endless sequence of requests. A client makes a few requests quickly (sometimes the same one several times within a
 * second, like programs that poll), and after a pause comes the next client.
 *
 * @param start the time of the first client, in milliseconds since 1970
 * @param pauseMs the average pause until the next client, by day
 */
export function* visits(
  random: Random,
  options: { readonly start: number; readonly pauseMs: number; readonly withIpv6: boolean },
): Generator<Visit, never> {
  const clients = CLIENTS.filter(({ address }) => options.withIpv6 || !address.includes(":"))
  let now = options.start
  for (;;) {
    const client = random.pick(clients)
    const agent = random.pick(client.agents)
    const pause = -Math.log(1 - random.next()) * options.pauseMs * (isNight(now) ? 4 : 1)
    let afterMs = Math.min(Math.round(pause), HOUR_MS * 12)
    for (let left = random.between(1, 9); left > 0; left--) {
      const asked = ask(client.habit, random)
      const headers = { ...headersOf(client, agent, random), ...asked.headers }
      for (let same = random.chance(0.04) ? 3 : 1; same > 0; same--) {
        now += afterMs
        yield { ...asked, client: client.address, afterMs, headers }
        afterMs = random.between(5, 300)
      }
      afterMs = random.between(50, 4_000)
    }
  }
}

/**
 * Looks up host names so that a slow name doesn't delay others.
 *
 * `dns.lookup` occupies one of the few threads of Node until the name servers answer, and can't be cancelled. Two names
 * with silent name servers would stop all look-ups of the process. So name servers are asked directly: any number of
 * names at once, each with a time limit. The operating system is asked only for names that the name servers don't know:
 * names of the hosts file, of a search list or of the local network.
 */
import { lookup, Resolver } from "node:dns/promises"
import { readFile } from "node:fs/promises"

/** The longest time for looking up one name, in milliseconds: a third of an attempt's deadline. */
const LOOKUP_MILLIS = 5_000
/** How long to wait for the first answer of a name server, in milliseconds. Later tries wait longer. */
const QUESTION_MILLIS = 1_500
/** How many times each name server is asked. */
const QUESTIONS = 2

/** Returns all addresses of a host name, as text. Rejects or returns an empty list if there are none. */
export type Resolve = (host: string) => Promise<ReadonlyArray<string>>

interface HostLookupOptions {
  /** Name servers, as `address:port`. Default: those of the system. */
  readonly servers?: ReadonlyArray<string>
  readonly hostsFile?: string
  readonly bySystem?: Resolve
  readonly limitMillis?: number
}

const HOSTS_FILE =
  process.platform === "win32"
    ? `${process.env["SystemRoot"] ?? "C:\\Windows"}\\System32\\drivers\\etc\\hosts`
    : "/etc/hosts"

/** Looks up a name as the operating system does. */
const bySystem: Resolve = async (host) => (await lookup(host, { all: true })).map(({ address }) => address)

/** Whether the hosts file has the name. Then the system looks it up without the network. */
const isListed = async (file: string, host: string): Promise<boolean> => {
  const lines = (await readFile(file, "utf8").catch(() => "")).split("\n")
  const name = host.toLowerCase()
  return lines.some((line) => line.replace(/#.*/, "").toLowerCase().split(/\s+/).slice(1).includes(name))
}

/** Whether the name servers did not answer. Then the system is not asked, because it would wait for the same ones. */
const isSilence = (error: unknown): boolean => {
  const { code } = error as NodeJS.ErrnoException
  return code === "ETIMEOUT" || code === "ECANCELLED"
}

/** The addresses from the name servers. `undefined` if they don't know the name. */
const byNameServers = async (
  host: string,
  servers: ReadonlyArray<string> | undefined,
  signal: AbortSignal,
): Promise<ReadonlyArray<string> | undefined> => {
  // One resolver for each name, because cancelling ends all questions of a resolver.
  const resolver = new Resolver({ timeout: QUESTION_MILLIS, tries: QUESTIONS })
  if (servers !== undefined) resolver.setServers(servers)
  const cancel = () => resolver.cancel()
  signal.addEventListener("abort", cancel)
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  signal.removeEventListener("abort", cancel)
  const addresses = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []))
  if (addresses.length > 0) return addresses
  for (const answer of answers) {
    if (answer.status === "rejected" && isSilence(answer.reason)) throw answer.reason
  }
  return undefined
}

/** Runs one look-up at a time, so that slow look-ups by the system occupy only one thread. */
const inTurn = (resolve: Resolve) => {
  let last: Promise<unknown> = Promise.resolve()
  return (host: string, signal: AbortSignal): Promise<ReadonlyArray<string>> => {
    const { promise, reject, resolve: settle } = Promise.withResolvers<ReadonlyArray<string>>()
    const giveUp = () => reject(signal.reason)
    signal.addEventListener("abort", giveUp)
    last = last
      .then(async () => {
        if (!signal.aborted) settle(await resolve(host))
      })
      .catch(reject)
      .finally(() => signal.removeEventListener("abort", giveUp))
    return promise
  }
}

/** Looks up names. Concurrent look-ups of the same name are shared. */
export const make = (options: HostLookupOptions = {}): Resolve => {
  const askSystem = options.bySystem ?? bySystem
  const askSystemInTurn = inTurn(askSystem)
  const lookUp = async (host: string, signal: AbortSignal) => {
    if (await isListed(options.hostsFile ?? HOSTS_FILE, host)) return askSystem(host)
    // A name without a dot belongs to the local network, so only the system can know it.
    const found = host.includes(".") ? await byNameServers(host, options.servers, signal) : undefined
    return found ?? askSystemInTurn(host, signal)
  }
  return shared(async (host) => {
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), options.limitMillis ?? LOOKUP_MILLIS)
    return lookUp(host, late.signal).finally(() => clearTimeout(timer))
  })
}

/** Shares a running look-up between all callers. */
export const shared = (resolve: Resolve): Resolve => {
  const underWay = new Map<string, Promise<ReadonlyArray<string>>>()
  return (host) => {
    const joined = underWay.get(host)
    if (joined !== undefined) return joined
    const started = Promise.resolve()
      .then(() => resolve(host))
      .finally(() => underWay.delete(host))
    underWay.set(host, started)
    return started
  }
}

/**
 * Opens tunnels to receivers through an HTTP proxy (CONNECT). The proxy gets an address that was checked here, and never
 * a name that it would look up again: decision 0043.
 */
import * as net from "node:net"
import type { SecureContext } from "node:tls"
import type { TransportError } from "@billwright/core"
import { Redacted } from "effect"
import * as ConnectAnswer from "./ConnectAnswer.ts"
import type { Resolve } from "./HostLookup.ts"
import type { ProxyServer } from "./ProxyServer.ts"
import * as Sockets from "./Sockets.ts"

export interface TunnelSettings {
  readonly server: ProxyServer
  readonly resolve: Resolve
  /** The certificate authorities that are trusted for a proxy with TLS. */
  readonly secureContext: SecureContext
  /**
   * How long it may take to reach the proxy, in milliseconds: look-up, connection and TLS. Its answer to CONNECT may take
   * as long as the attempt, because it waits for the receiver.
   */
  readonly reachMillis: number
  /** Told what is wrong with the proxy whenever a tunnel fails because of it, and `undefined` whenever one is made. */
  readonly report: (problem: string | undefined) => void
}

/** What the proxy says of the receiver by its status. All other failures are its own. */
const RECEIVER_ERRORS: ReadonlyMap<number, TransportError> = new Map([
  [502, "connection_refused"],
  [503, "connection_refused"],
  [504, "timeout"],
])

type Opened = (opened: net.Socket | TransportError) => void

/** Connects to the proxy. Calls back with the socket, or with what is wrong. */
const reach = (
  { reachMillis, resolve, secureContext, server }: TunnelSettings,
  done: (reached: net.Socket | { readonly problem: string }) => void,
): Sockets.Cancel => {
  let socket: net.Socket | undefined
  let isOver = false
  const end = () => {
    isOver = true
    clearTimeout(timer)
  }
  const fail = (problem: string) => {
    if (isOver) return
    end()
    socket?.destroy()
    done({ problem })
  }
  const timer = setTimeout(() => fail(`it could not be reached within ${reachMillis} ms`), reachMillis)
  const onFound = (addresses: ReadonlyArray<string>) => {
    if (isOver) return
    if (addresses.length === 0) {
      fail("its host has no address")
      return
    }
    socket = Sockets.connect(server, addresses, secureContext)
    Sockets.whenConnected(socket, server.isTls, (connected) => {
      if (isOver) return
      if (typeof connected === "string") fail(`it could not be reached (${connected})`)
      else {
        end()
        done(connected)
      }
    })
  }
  const found =
    net.isIP(server.host) === 0 ? resolve(server.host).catch(() => []) : Promise.resolve([server.host])
  void found.then(onFound)
  return () => {
    end()
    socket?.destroy()
  }
}

const requestFor = (address: string, port: number, { authorization }: ProxyServer): string => {
  const authority = `${net.isIPv6(address) ? `[${address}]` : address}:${port}`
  const credentials =
    authorization === undefined ? "" : `Proxy-Authorization: ${Redacted.value(authorization)}\r\n`
  return `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${credentials}\r\n`
}

/** Asks the proxy to connect to one address. Calls back once, with the status or with what is wrong. */
const ask = (
  socket: net.Socket,
  address: string,
  port: number,
  server: ProxyServer,
  done: (status: number | string) => void,
): Sockets.Cancel => {
  const stop = ConnectAnswer.read(socket, done)
  socket.write(requestFor(address, port, server))
  return () => {
    stop()
    socket.destroy()
  }
}

/**
 * Opens a tunnel to the first of the addresses that the proxy can connect to. Each is asked for on a connection of its own,
 * because a proxy may end the connection after a refusal.
 */
export const open = (
  [address, ...others]: ReadonlyArray<string>,
  port: number,
  settings: TunnelSettings,
  done: Opened,
  lastError: TransportError = "connection_refused",
): Sockets.Cancel => {
  if (address === undefined) {
    done(lastError)
    return () => {}
  }
  const fail = (problem: string) => {
    settings.report(problem)
    done("proxy_error")
  }
  let cancel = reach(settings, (reached) => {
    if ("problem" in reached) {
      fail(reached.problem)
      return
    }
    cancel = ask(reached, address, port, settings.server, (answer) => {
      if (typeof answer === "number" && answer >= 200 && answer < 300) {
        settings.report(undefined)
        done(reached)
        return
      }
      reached.destroy()
      const error = typeof answer === "number" ? RECEIVER_ERRORS.get(answer) : undefined
      if (error === undefined) fail(typeof answer === "number" ? `it answered ${answer} to CONNECT` : answer)
      else cancel = open(others, port, settings, done, error)
    })
  })
  return () => cancel()
}

/**
 * Sockets: TCP connections to checked addresses, with TLS where it is asked for.
 */
import * as net from "node:net"
import * as tls from "node:tls"
import type { TransportError } from "@billwright/core"
import * as ReceiverError from "./ReceiverError.ts"

/** How long to wait before the next address of a host is tried too, in milliseconds. */
const NEXT_ADDRESS_MILLIS = 500

/** Cancels what is under way. No callback is called afterwards. */
export type Cancel = () => void

/** Whom to connect to. */
export interface Peer {
  /** A host name or an IP address, without brackets. */
  readonly host: string
  readonly port: number
  readonly isTls: boolean
}

/** A `lookup` for `net.connect` that returns the checked addresses for every name. */
const lookupOf =
  (addresses: ReadonlyArray<string>): net.LookupFunction =>
  (_host, _options, callback) => {
    callback(
      null,
      addresses.map((address) => ({ address, family: net.isIP(address) })),
    )
  }

const tlsOptions = (host: string, secureContext: tls.SecureContext) => ({
  host,
  secureContext,
  // An IP address can't be a server name (RFC 6066, section 3). Certificates are then checked against `host`.
  servername: net.isIP(host) === 0 ? host : "",
  ALPNProtocols: ["http/1.1"],
  // Set explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED can't turn it off.
  rejectUnauthorized: true,
})

/** Begins a connection to one of the addresses of a peer: the first that answers. */
export const connect = (
  { host, isTls, port }: Peer,
  addresses: ReadonlyArray<string>,
  secureContext: tls.SecureContext,
): net.Socket => {
  const options = {
    host,
    port,
    lookup: lookupOf(addresses),
    // With this, Node asks `lookup` for all addresses.
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MILLIS,
    noDelay: true,
  }
  return isTls ? tls.connect({ ...options, ...tlsOptions(host, secureContext) }) : net.connect(options)
}

/** Begins TLS with a host over a connection that is there. When it ends, so does the connection beneath it. */
export const secure = (socket: net.Socket, host: string, secureContext: tls.SecureContext): net.Socket =>
  tls.connect({ socket, ...tlsOptions(host, secureContext) })

/** Calls back once, with a connected socket or with an error. */
export const whenConnected = (
  socket: net.Socket,
  isTls: boolean,
  done: (opened: net.Socket | TransportError) => void,
): void => {
  let errorOf = socket.connecting ? ReceiverError.ofConnect : ReceiverError.ofHandshake
  const onTcp = () => {
    if (isTls) errorOf = ReceiverError.ofHandshake
    else onConnected()
  }
  const onConnected = () => {
    socket.off("connect", onTcp).off("error", onError)
    done(socket)
  }
  const onError = (error: unknown) => {
    socket.off("connect", onTcp).off("secureConnect", onConnected)
    socket.destroy()
    done(errorOf(error))
  }
  socket.once("connect", onTcp).once("error", onError)
  if (isTls) socket.once("secureConnect", onConnected)
  // Errors can also come later, and an error of TLS doesn't end the connection by itself.
  socket.on("error", () => socket.destroy())
}

/**
 * Opens connections, only to checked addresses.
 */
import * as net from "node:net"
import * as tls from "node:tls"
import type { NetworkPolicy, TransportError } from "@billwright/core"
import * as AddressGuard from "./AddressGuard.ts"
import type { Resolve } from "./HostLookup.ts"
import * as ReceiverError from "./ReceiverError.ts"
import type { Target } from "./Target.ts"

/** How long to wait before the next address of a host is tried too, in milliseconds. */
const NEXT_ADDRESS_MILLIS = 500

export interface ConnectorSettings {
  readonly policy: NetworkPolicy
  readonly resolve: Resolve
  /** The trusted certificate authorities. */
  readonly secureContext: tls.SecureContext
}

/** Cancels the connection. No callback is called afterwards. */
export type Cancel = () => void

/** A `lookup` for `net.connect` that returns the checked addresses for every name. */
const lookupOf =
  (addresses: ReadonlyArray<string>): net.LookupFunction =>
  (_host, _options, callback) => {
    callback(
      null,
      addresses.map((address) => ({ address, family: net.isIP(address) })),
    )
  }

const connect = (
  { host, isTls, port }: Target,
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
  if (!isTls) return net.connect(options)
  return tls.connect({
    ...options,
    secureContext,
    // An IP address can't be a server name (RFC 6066, section 3). Certificates are then checked against `host`.
    servername: net.isIP(host) === 0 ? host : "",
    ALPNProtocols: ["http/1.1"],
    // Set explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED can't turn it off.
    rejectUnauthorized: true,
  })
}

/** Calls back once, with a connected socket or with an error. */
const whenConnected = (
  socket: net.Socket,
  isTls: boolean,
  done: (opened: net.Socket | TransportError) => void,
): void => {
  let errorOf = ReceiverError.ofConnect
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

/** Looks up the host, checks its addresses and connects to the first one that answers. */
export const open = (
  target: Target,
  { policy, resolve, secureContext }: ConnectorSettings,
  done: (opened: net.Socket | TransportError) => void,
): Cancel => {
  let socket: net.Socket | undefined
  let isCancelled = false
  const onFound = (found: ReadonlyArray<string> | TransportError) => {
    if (isCancelled) return
    if (typeof found === "string") {
      done(found)
      return
    }
    socket = connect(target, found, secureContext)
    whenConnected(socket, target.isTls, (opened) => {
      if (!isCancelled) done(opened)
    })
  }
  void AddressGuard.addressesOf(target, policy, resolve).then(onFound)
  return () => {
    isCancelled = true
    socket?.destroy()
  }
}

/**
 * Opens connections, only to checked addresses.
 */
import type { Socket } from "node:net"
import type { SecureContext } from "node:tls"
import type { NetworkPolicy, TransportError } from "@billwright/core"
import * as AddressGuard from "./AddressGuard.ts"
import type { Resolve } from "./HostLookup.ts"
import * as ProxyTunnel from "./ProxyTunnel.ts"
import * as Sockets from "./Sockets.ts"
import type { Target } from "./Target.ts"

export interface ConnectorSettings {
  readonly policy: NetworkPolicy
  readonly resolve: Resolve
  /** The trusted certificate authorities. */
  readonly secureContext: SecureContext
  /** Connections go through this proxy. Without one they go to the receiver directly. */
  readonly proxy: ProxyTunnel.TunnelSettings | undefined
}

type Opened = (opened: Socket | TransportError) => void

/** Connects to the first of the addresses that answers. */
const openDirectly = (
  target: Target,
  addresses: ReadonlyArray<string>,
  { secureContext }: ConnectorSettings,
  done: Opened,
): Sockets.Cancel => {
  const socket = Sockets.connect(target, addresses, secureContext)
  Sockets.whenConnected(socket, target.isTls, done)
  return () => socket.destroy()
}

/** Has the proxy connect to one of the addresses. TLS is with the receiver, and the proxy sees only its bytes. */
const openByProxy = (
  target: Target,
  addresses: ReadonlyArray<string>,
  { secureContext }: ConnectorSettings,
  proxy: ProxyTunnel.TunnelSettings,
  done: Opened,
): Sockets.Cancel => {
  let cancel = ProxyTunnel.open(addresses, target.port, proxy, (tunnel) => {
    if (typeof tunnel === "string" || !target.isTls) {
      done(tunnel)
      return
    }
    const socket = Sockets.secure(tunnel, target.host, secureContext)
    cancel = () => socket.destroy()
    Sockets.whenConnected(socket, true, done)
  })
  return () => cancel()
}

/** Looks up the host, checks its addresses and connects to the first one that answers. */
export const open = (target: Target, settings: ConnectorSettings, done: Opened): Sockets.Cancel => {
  const { policy, proxy, resolve } = settings
  let cancel: Sockets.Cancel = () => {}
  let isCancelled = false
  const onOpened: Opened = (opened) => {
    if (!isCancelled) done(opened)
  }
  const onFound = (found: ReadonlyArray<string> | TransportError) => {
    if (isCancelled) return
    if (typeof found === "string") done(found)
    else if (proxy === undefined) cancel = openDirectly(target, found, settings, onOpened)
    else cancel = openByProxy(target, found, settings, proxy, onOpened)
  }
  void AddressGuard.addressesOf(target, policy, resolve).then(onFound)
  return () => {
    isCancelled = true
    cancel()
  }
}

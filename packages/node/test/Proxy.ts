/** HTTP proxies on loopback. They make tunnels (CONNECT), or do what a test wants. */
import { connect } from "node:net"
import { Redacted } from "effect"
import { type Behaviour, receiver, type ReceiverOptions } from "./Receivers.ts"

const AUTHORITY = /^CONNECT (?:\[(.+)\]|([^:]+)):(\d+) HTTP\/1\.1\r\n/

/** Connects to the address that was asked for, or to another one, and carries bytes in both directions. */
export const tunnel =
  (
    instead?: { readonly host: string; readonly port: number },
    established = "HTTP/1.1 200 OK\r\n\r\n",
  ): Behaviour =>
  (socket, { head }) => {
    const [, ipv6, ipv4, port] = AUTHORITY.exec(head)!
    // What follows is no request to the proxy.
    socket.removeAllListeners("data")
    const onward = connect(instead?.port ?? Number(port), instead?.host ?? ipv6 ?? ipv4)
    onward.on("connect", () => {
      socket.write(established)
      socket.pipe(onward).pipe(socket)
    })
    onward.on("error", () => socket.destroy()).on("close", () => socket.destroy())
    socket.on("close", () => onward.destroy())
  }

/** Answers every CONNECT with this text. */
export const answering =
  (text: string): Behaviour =>
  (socket) =>
    socket.write(text)

/** Listens until the scope ends. `requests` are what it was asked. */
export const proxy = (behaviour: Behaviour = tunnel(), options: ReceiverOptions = {}) =>
  receiver(behaviour, options)

/** The option of the transport. */
export const through = (url: string) => ({ proxy: Redacted.make(url) })

/**
 * Allows a test to connect only to this machine, whatever the code under test tries.
 *
 * Sockets are real, and connections to loopback work. Node itself refuses all other connections (`net.BlockList`) before
 * it asks the system.
 */
import { BlockList, Socket } from "node:net"

/**
 * All addresses except 127.0.0.0/8 and ::1, and except those that reach loopback on Linux: 0.0.0.0, :: and IPv4 addresses
 * in IPv6.
 */
const elsewhere = new BlockList()
elsewhere.addRange("0.0.0.1", "126.255.255.255", "ipv4")
elsewhere.addRange("128.0.0.0", "255.255.255.255", "ipv4")
elsewhere.addRange("::2", "::fffe:ffff:ffff", "ipv6")
elsewhere.addRange("::1:0:0:0", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ipv6")

/** A socket with the field that the option `blockList` of `net.connect` sets. */
interface Blocking {
  blockList?: BlockList
}

/** All addresses of tried connections, including loopback, and a function that removes the restriction. */
export interface LoopbackOnly {
  readonly attempted: Array<string>
  readonly end: () => void
}

/** From now on every socket of this process can only connect to loopback. */
export const loopbackOnly = (): LoopbackOnly => {
  const attempted: Array<string> = []
  const connect = Socket.prototype.connect
  Socket.prototype.connect = function (this: Socket & Blocking, ...options: Array<never>) {
    this.blockList = elsewhere
    this.on("connectionAttempt", (address: string) => attempted.push(address))
    return Reflect.apply(connect, this, options) as Socket
  } as typeof connect
  return {
    attempted,
    end: () => {
      Socket.prototype.connect = connect
    },
  }
}

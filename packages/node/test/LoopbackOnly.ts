/**
 * Keeps a test on this machine, whatever the code under test would connect to.
 *
 * Sockets are real, and connections to loopback are made. Node itself refuses all others (`net.BlockList`), before
 * the system is asked for one.
 */
import { BlockList, Socket } from "node:net"

/** All but 127.0.0.0/8 and ::1, and what Linux takes for them: 0.0.0.0, :: and IPv4 in IPv6, of which the first rules are. */
const elsewhere = new BlockList()
elsewhere.addRange("0.0.0.1", "126.255.255.255", "ipv4")
elsewhere.addRange("128.0.0.0", "255.255.255.255", "ipv4")
elsewhere.addRange("::2", "::fffe:ffff:ffff", "ipv6")
elsewhere.addRange("::1:0:0:0", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ipv6")

/** What `blockList` of `net.connect` sets. */
interface Blocking {
  blockList?: BlockList
}

/** Addresses that somebody tried to connect to, loopback's too, and how to let connections go everywhere again. */
export interface LoopbackOnly {
  readonly attempted: Array<string>
  readonly end: () => void
}

/** From now on every socket of this process connects to loopback alone. */
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

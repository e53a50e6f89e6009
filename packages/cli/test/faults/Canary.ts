import { once } from "node:events"
import { type AddressInfo, connect, createServer } from "node:net"
/**
 * A listener that nothing may connect to. A connection to it shows a hole in the network guard.
 */
import { assert } from "@effect/vitest"

export class Canary {
  #connections = 0
  readonly #server = createServer((socket) => {
    this.#connections++
    socket.on("error", () => {}).destroy()
  })

  async start(host: string, port = 0): Promise<void> {
    this.#server.listen(port, host)
    await once(this.#server, "listening")
  }

  stop(): void {
    this.#server.close()
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Asserts that nothing connected. Then it connects itself, to show that connections to these addresses are seen. */
  async wasNotTouched(...addresses: ReadonlyArray<string>): Promise<void> {
    assert.strictEqual(this.#connections, 0)
    for (const address of addresses) {
      const before = this.#connections
      const socket = connect(this.port, address)
      await once(socket, "close")
      assert.strictEqual(this.#connections, before + 1, address)
    }
    this.#connections = 0
  }
}

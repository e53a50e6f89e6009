import { once } from "node:events"
import { type AddressInfo, connect, createServer } from "node:net"
/**
 * A listener that nobody may connect to.
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

  /** Nobody connected; and whoever connects to it at one of these addresses would have been seen. */
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

import { connect, createServer, type AddressInfo, type Socket } from "node:net"
/** A TCP proxy between a client and the server, to simulate faults of the network. */
import { Effect } from "effect"

export interface Proxy {
  readonly url: string
  /** What to do with the next COMMIT, once. */
  commit: "pass" | "cut before" | "cut answer"
  /** The next statement that contains this text is carried out, but its answer is lost, once. */
  loseAnswerTo: string | undefined
  /** A statement that contains this text is delayed, with everything after it, until `release` is called. */
  delayed: string | undefined
  release: () => void
  /** Whether new connections are accepted. */
  isOpen: boolean
  /** Nothing is forwarded any more, and nothing is closed. */
  isBlackhole: boolean
  /** What clients have sent. */
  readonly sent: Array<Buffer>
}

export const make = (url: string) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(
        () =>
          new Promise<{ proxy: Proxy; close: () => void }>((done) => {
            const target = new URL(url)
            const sockets = new Set<Socket>()
            const proxy = {
              url: "",
              commit: "pass",
              loseAnswerTo: undefined,
              delayed: undefined,
              release: () => {},
              isOpen: true,
              isBlackhole: false,
              sent: [],
            } as {
              -readonly [K in keyof Proxy]: Proxy[K]
            }
            const server = createServer((client) => {
              if (!proxy.isOpen) return client.destroy()
              const upstream = connect(Number(target.port), target.hostname)
              for (const socket of [client, upstream]) {
                sockets.add(socket)
                socket.on("error", () => {})
                socket.on("close", () => {
                  sockets.delete(socket)
                  client.destroy()
                  upstream.destroy()
                })
              }
              let isAnswerLost = false
              client.on("data", (data) => {
                if (proxy.isBlackhole) return
                proxy.sent.push(data)
                if (proxy.commit !== "pass" && data.includes("COMMIT\0")) {
                  const fault = proxy.commit
                  proxy.commit = "pass"
                  if (fault === "cut before") return client.destroy()
                  isAnswerLost = true
                }
                if (proxy.loseAnswerTo !== undefined && data.includes(proxy.loseAnswerTo)) {
                  proxy.loseAnswerTo = undefined
                  isAnswerLost = true
                }
                if (proxy.delayed !== undefined && data.includes(proxy.delayed)) {
                  proxy.delayed = undefined
                  upstream.cork()
                  proxy.release = () => upstream.uncork()
                }
                upstream.write(data)
              })
              upstream.on("data", (data) => {
                if (proxy.isBlackhole) return
                if (isAnswerLost) return client.destroy()
                client.write(data)
              })
            })
            server.listen(0, "127.0.0.1", () => {
              const through = new URL(url)
              through.hostname = "127.0.0.1"
              through.port = String((server.address() as AddressInfo).port)
              proxy.url = through.href
              done({
                proxy,
                close: () => {
                  for (const socket of sockets) socket.destroy()
                  server.close()
                },
              })
            })
          }),
      ),
      ({ close }) => Effect.sync(close),
    ),
    ({ proxy }) => proxy,
  )

/**
 * The processes of the webhook benchmarks: the receiver and the workers.
 */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import type { Commit, Publications, Report, Stages } from "./Scenario.ts"

const start = (script: string, env: Record<string, string>): ChildProcess => {
  return fork(join(import.meta.dirname, "..", script), [], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    env: { ...process.env, NODE_ENV: "production", ...env },
  })
}

export interface Receiver {
  readonly url: string
  readonly process: ChildProcess
  /** When the first bytes of events came since the last call, in milliseconds since 1970, by the ids of the events. */
  readonly arrivals: () => Promise<ReadonlyMap<string, number>>
}

export const startReceiver = async (): Promise<Receiver> => {
  const child = start("webhooks/Receiver.ts", {})
  const [{ port }] = (await once(child, "message")) as [{ port: number }]
  return {
    url: `http://127.0.0.1:${port}`,
    process: child,
    arrivals: async () => {
      child.send("arrivals")
      const [answer] = (await once(child, "message")) as [{ arrivals: ReadonlyArray<[string, number]> }]
      return new Map(answer.arrivals)
    },
  }
}

/** Ends a process that waits for orders. */
export const end = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, "exit")
  child.disconnect()
  await exit
}

export class Worker {
  readonly process: ChildProcess
  #written = 0
  #onNews: (news: Report) => void = () => {}
  #onCommits: (commits: ReadonlyArray<Commit>) => void = () => {}

  private constructor(child: ChildProcess) {
    this.process = child
    child.on("message", (news: Report) => {
      if (typeof news === "number") this.#written = news
      if (typeof news === "object" && "commits" in news) return this.#onCommits(news.commits)
      this.#onNews(news)
    })
    child.on("exit", (code) => {
      if (code !== 0) throw new Error(`a worker ended with ${code}`)
    })
  }

  /** Starts a worker that works when it is told to. */
  static async start(script: string, env: Record<string, string>): Promise<Worker> {
    const worker = new Worker(start(script, env))
    await worker.#until((news) => news === "ready")
    return worker
  }

  /** How many results it has written since its start. */
  get written(): number {
    return this.#written
  }

  go(): void {
    this.process.send("go")
  }

  /** Stops working. The process stays. */
  async stop(): Promise<void> {
    this.process.send("stop")
    await this.#until((news) => news === "stopped")
  }

  end(): Promise<void> {
    return end(this.process)
  }

  /** Publishes events in this process, too. */
  publish(publications: Publications): Promise<ReadonlyArray<Commit>> {
    return new Promise((done) => {
      this.#onCommits = done
      this.process.send(publications)
    })
  }

  /** The times of its stages for events since the last call. */
  stages(): Promise<ReadonlyMap<string, Stages>> {
    return new Promise((done) => {
      this.#onNews = (news) => {
        if (Array.isArray(news)) done(new Map(news as ReadonlyArray<readonly [string, Stages]>))
      }
      this.process.send("stages")
    })
  }

  /** Calls back for every result from now on. */
  onWritten(look: () => void): void {
    this.#onNews = look
  }

  #until(isIt: (news: Report) => boolean): Promise<void> {
    return new Promise((done) => {
      this.#onNews = (news) => {
        if (isIt(news)) done()
      }
    })
  }
}

/** Waits until the workers have written this many results in all. */
export const written = (
  workers: ReadonlyArray<Worker>,
  count: number,
  deadlineMillis: number,
): Promise<void> =>
  new Promise((done, fail) => {
    const sum = () => workers.reduce((total, worker) => total + worker.written, 0)
    const timer = setTimeout(
      () => fail(new Error(`${sum()} results of ${count} after ${deadlineMillis} ms`)),
      deadlineMillis,
    )
    const look = () => {
      if (sum() < count) return
      clearTimeout(timer)
      done()
    }
    for (const worker of workers) worker.onWritten(look)
    look()
  })

/**
 * A shell for the commands of a document, typed one after another as a reader would.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process"
import { EventEmitter, once } from "node:events"
import { createInterface } from "node:readline"
import type { Readable, Writable } from "node:stream"

export class Terminal {
  /** The printed lines. */
  readonly lines: Array<string> = []
  /** The output on standard error. */
  errors = ""
  readonly #shell: ChildProcessByStdio<Writable, Readable, Readable>
  readonly #printed = new EventEmitter()
  #count = 0

  constructor(folder: string) {
    // npm's own messages depend on the user and the folder.
    const env = { ...process.env, npm_config_loglevel: "error" }
    // In a process group of its own, so that background processes end with it.
    this.#shell = spawn("bash", ["-eu"], { cwd: folder, env, detached: true, stdio: "pipe" })
    this.#shell.stderr.setEncoding("utf8").on("data", (text: string) => (this.errors += text))
    createInterface({ input: this.#shell.stdout }).on("line", (line) => {
      this.lines.push(line)
      this.#printed.emit("line")
    })
    this.#shell.once("exit", () => this.#printed.emit("line"))
  }

  /** Runs commands to their end, except those in the background. */
  async run(commands: string): Promise<void> {
    const end = `end of ${++this.#count}`
    this.#shell.stdin.write(`${commands}\necho; echo ${end}\n`)
    await this.shows(end)
  }

  /** Waits for a line. */
  async shows(wanted: string | RegExp): Promise<void> {
    const isWanted = (line: string) => (typeof wanted === "string" ? line === wanted : wanted.test(line))
    while (!this.lines.some(isWanted)) {
      if (this.#shell.exitCode !== null) throw new Error(`the shell ended: ${this.errors}`)
      await once(this.#printed, "line")
    }
  }

  async close(): Promise<void> {
    const { pid } = this.#shell
    const ended = once(this.#shell, "close")
    // The group exists for as long as there is a background process.
    if (pid !== undefined) process.kill(-pid)
    await ended
  }
}

/**
 * A PgBouncer in front of a Postgres, in transaction pooling mode. No npm package contains PgBouncer, so it must be
 * installed on the machine, or named by the environment variable PGBOUNCER.
 */
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { chmod, chown, mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer, type AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { type ProcessUser, userFor } from "../../src/embedded/ProcessUser.ts"

export interface PgBouncer {
  /** The URL of one of the server's databases, through PgBouncer. */
  readonly through: (url: string) => string
  /** PgBouncer's version line. */
  readonly version: string
  readonly stop: () => Promise<void>
}

const freePort = async (): Promise<number> => {
  const probe = createServer().listen(0, "127.0.0.1")
  await once(probe, "listening")
  const { port } = probe.address() as AddressInfo
  probe.close()
  return port
}

/** Settings of PgBouncer, beside those that all tests need. */
export type Settings = Readonly<Record<string, string>>

/**
 * Connections are lent in turn, so that the consecutive transactions of a client get the sessions of others. Unknown
 * startup parameters are refused. The passwords of other users than the server's superuser are those of the server.
 */
const configuration = (
  server: URL,
  port: number,
  userlist: string,
  settings: Settings,
): string => `[databases]
* = host=${server.hostname} port=${server.port || "5432"} auth_user=${server.username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${userlist}
pool_mode = transaction
server_round_robin = 1
default_pool_size = 10
max_client_conn = 500
${Object.entries(settings)
  .map(([name, value]) => `${name} = ${value}\n`)
  .join("")}`

const MISSING =
  "pgbouncer is not installed: install it (apt-get install pgbouncer, brew install pgbouncer), or set the environment variable PGBOUNCER to the program"

const program = (): string => process.env["PGBOUNCER"] ?? "pgbouncer"

/** The version of the installed PgBouncer, such as 1.18.0. Fails with what to do when there is none. */
export const version = async (): Promise<string> => {
  const { stdout } = await promisify(execFile)(program(), ["--version"]).catch(() => {
    throw new Error(MISSING)
  })
  return /PgBouncer (\S+)/.exec(stdout)?.[1] ?? ""
}

interface Process {
  /** Whether it is ready. Otherwise it has ended. */
  readonly isUp: boolean
  readonly log: string
  readonly ended: Promise<void>
  readonly kill: () => void
}

/** Runs it, and waits until it is ready or has ended. */
const run = async (command: string, args: ReadonlyArray<string>, id: ProcessUser["id"]): Promise<Process> => {
  const child = spawn(command, args, { ...id, stdio: ["ignore", "ignore", "pipe"] })
  const ended = new Promise<void>((done) => {
    child.once("close", () => done())
    child.once("error", () => done())
  })
  let log = ""
  const isUp = await new Promise<boolean>((done) => {
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      log = (log + chunk).slice(-16_384)
      if (log.includes("process up")) done(true)
    })
    void ended.then(() => done(false))
  })
  // SIGTERM waits for clients since version 1.23.
  return { isUp, log, ended, kill: () => child.kill("SIGKILL") }
}

/**
 * PgBouncer refuses to run as root, so root runs it as another user. One that ends by itself is started again, as a service
 * manager does: 1.18 ends when it can't pass on a request to cancel a statement
 * (https://github.com/pgbouncer/pgbouncer/issues/801).
 */
export const start = async (serverUrl: string, settings: Settings = {}): Promise<PgBouncer> => {
  const server = new URL(serverUrl)
  const folder = await mkdtemp(join(tmpdir(), "billwright-pgbouncer-"))
  const [ini, userlist] = [join(folder, "pgbouncer.ini"), join(folder, "userlist.txt")]
  const port = await freePort()
  const [user, password] = [server.username, server.password].map(decodeURIComponent)
  await writeFile(ini, configuration(server, port, userlist, settings))
  await writeFile(userlist, `"${user}" "${password}"\n`, { mode: 0o600 })
  const { id, prefix } = await userFor(folder)
  if (id !== undefined) {
    await chmod(folder, 0o711)
    await chown(userlist, id.uid, id.gid)
  }
  const [command = "", ...args] = [...prefix, program(), ini]
  const stopping = new AbortController()
  let running = await run(command, args, id)
  const { isUp, log } = running
  const remain = async (): Promise<void> => {
    while (running.isUp && !stopping.signal.aborted) {
      await running.ended
      if (!stopping.signal.aborted) running = await run(command, args, id)
    }
    running.kill()
    await running.ended
  }
  const gone = remain()
  const stop = async (): Promise<void> => {
    stopping.abort()
    running.kill()
    await gone
    await rm(folder, { recursive: true, force: true })
  }
  if (!isUp) {
    await stop()
    throw new Error(log === "" || log.includes("No such file") ? MISSING : log)
  }
  return {
    version: /process up: ([^,]+)/.exec(log)?.[1] ?? "",
    stop,
    through: (url) => {
      const pooled = new URL(url)
      pooled.host = `127.0.0.1:${port}`
      return pooled.href
    },
  }
}

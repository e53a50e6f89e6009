/**
 * A PgBouncer in front of a Postgres, in transaction pooling mode. No npm package contains PgBouncer, so it must be
 * installed on the machine, or named by the environment variable PGBOUNCER.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmod, chown, mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer, type AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { userFor } from "../../src/embedded/ProcessUser.ts"

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

/**
 * Connections are lent in turn, so that the consecutive transactions of a client get the sessions of others. Unknown
 * startup parameters are refused.
 */
const configuration = (server: URL, port: number, userlist: string): string => `[databases]
* = host=${server.hostname} port=${server.port || "5432"}
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
`

const MISSING =
  "pgbouncer is not installed: install it (apt-get install pgbouncer, brew install pgbouncer), or set the environment variable PGBOUNCER to the program"

/** PgBouncer refuses to run as root, so root runs it as another user. */
export const start = async (serverUrl: string): Promise<PgBouncer> => {
  const server = new URL(serverUrl)
  const folder = await mkdtemp(join(tmpdir(), "billwright-pgbouncer-"))
  const [ini, userlist] = [join(folder, "pgbouncer.ini"), join(folder, "userlist.txt")]
  const port = await freePort()
  const [user, password] = [server.username, server.password].map(decodeURIComponent)
  await writeFile(ini, configuration(server, port, userlist))
  await writeFile(userlist, `"${user}" "${password}"\n`, { mode: 0o600 })
  const { id, prefix } = await userFor(folder)
  if (id !== undefined) {
    await chmod(folder, 0o711)
    await chown(userlist, id.uid, id.gid)
  }
  const [command = "", ...args] = [...prefix, process.env["PGBOUNCER"] ?? "pgbouncer", ini]
  const child = spawn(command, args, { ...id, stdio: ["ignore", "ignore", "pipe"] })
  const ended = new Promise<void>((done) => {
    child.once("close", () => done())
    child.once("error", () => done())
  })
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM")
    await ended
    await rm(folder, { recursive: true, force: true })
  }
  let log = ""
  const isUp = await new Promise<boolean>((done) => {
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      log = (log + chunk).slice(-16_384)
      if (log.includes("process up")) done(true)
    })
    void ended.then(() => done(false))
  })
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

/**
 * Starts the server on a port of 127.0.0.1.
 */
import { createServer } from "node:net"
import { Effect, Schedule } from "effect"
import { attempt, EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"
import type { PostgresBinaries } from "./PostgresBinaries.ts"
import { type ProcessUser, spawnAs } from "./ProcessUser.ts"
import { awaitReady, type ServerProcess, watch } from "./ServerProcess.ts"

/** Starts the server and waits until it is ready. */
export const launch = (
  binaries: PostgresBinaries,
  cluster: string,
  user: ProcessUser,
  port: number,
  settings: Readonly<Record<string, string>>,
): Effect.Effect<ServerProcess, EmbeddedPostgresError> =>
  attempt("Postgres did not start", async () => {
    const fixed = {
      port: String(port),
      listen_addresses: "127.0.0.1",
      unix_socket_directories: "",
      lc_messages: "C",
    }
    const flags = Object.entries({ ...settings, ...fixed }).flatMap(([name, value]) => [
      "-c",
      `${name}=${value}`,
    ])
    const child = spawnAs(user, binaries.postgres, ["-D", cluster, ...flags], {
      cwd: cluster,
      // In a process group of its own. So Ctrl+C in the terminal reaches only us, and we then stop the server
      // cleanly.
      detached: true,
      stdio: ["ignore", "ignore", "pipe"],
    })
    return awaitReady(watch(child))
  }).pipe(
    Effect.mapError((error) =>
      /lock file "postmaster.pid" already exists/.test(error.message)
        ? new EmbeddedPostgresError({ reason: "in_use", message: error.message, cause: error.cause })
        : error,
    ),
    // The backends of a killed server take a moment to notice that it is gone.
    Effect.retry({
      times: 50,
      schedule: Schedule.spaced("100 millis"),
      while: (error) => error.message.includes("pre-existing shared memory block"),
    }),
  )

export const freePort = (): Promise<number> =>
  new Promise((done, fail) => {
    const probe = createServer()
    probe.once("error", fail)
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address()
      probe.close(() => done(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

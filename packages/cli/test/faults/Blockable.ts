import { writeSync } from "node:fs"
/**
 * Loaded into a worker before the command. SIGUSR2 prints a line and then blocks the event loop for `BLOCK_MILLIS`.
 */
const STDERR = 2
const millis = Number(process.env["BLOCK_MILLIS"])

process.on("SIGUSR2", () => {
  writeSync(STDERR, "blocked\n")
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, millis)
})

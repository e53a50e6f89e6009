import { writeSync } from "node:fs"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
/**
 * Loaded into a process before the command. SIGUSR2 makes it collect garbage and print the size of the heap.
 */
const STDERR = 2

setFlagsFromString("--expose-gc")
const collect = runInNewContext("gc") as () => void

process.on("SIGUSR2", () => {
  collect()
  writeSync(STDERR, `heap ${process.memoryUsage().heapUsed}\n`)
})

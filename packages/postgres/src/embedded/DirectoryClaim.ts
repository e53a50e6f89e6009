/**
 * Which process uses a data directory.
 *
 * Postgres protects its own files. This claim protects against a second process of ours, which would mistake the
 * first one's running server for an abandoned one.
 */
import { readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { isAlive } from "./PostmasterFile.ts"

export const FILE = "owner.pid"

/**
 * When a process started, where the system tells. Process ids are reused: after a container restarts, at once. It is
 * field 22 of /proc/<pid>/stat; field 2 may contain spaces and ends with the last parenthesis.
 */
const startOf = async (pid: number): Promise<string> => {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "")
  const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "")
  return `${boot.trim()}/${stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? ""}`
}

const tokenOf = async (pid: number): Promise<string> => `${pid}\n${await startOf(pid)}\n`

/** The process that has claimed the directory, if it is still running. */
export const holder = async (directory: string): Promise<number | undefined> => {
  const found = await readFile(join(directory, FILE), "utf8").catch(() => "")
  const pid = Number.parseInt(found, 10)
  const isHeld = Number.isSafeInteger(pid) && isAlive(pid) && found === (await tokenOf(pid))
  return isHeld ? pid : undefined
}

/** Claims the directory. Returns the id of the process that already has it, if there is one. */
export const claim = async (directory: string): Promise<{ readonly holder: number | undefined }> => {
  const file = join(directory, FILE)
  const token = await tokenOf(process.pid)
  for (;;) {
    try {
      await writeFile(file, token, { mode: 0o600, flag: "wx" })
      return { holder: undefined }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
    }
    const pid = await holder(directory)
    if (pid !== undefined) return { holder: pid }
    await rm(file, { force: true })
  }
}

/** Releases the directory, if this process has claimed it. */
export const release = async (directory: string): Promise<void> => {
  const file = join(directory, FILE)
  if ((await readFile(file, "utf8").catch(() => "")) === (await tokenOf(process.pid)))
    await rm(file, { force: true })
}

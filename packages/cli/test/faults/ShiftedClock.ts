/**
 * Loaded into a process before the command. Its clock starts at the instant `CLOCK_AT`, or is off by
 * `CLOCK_OFFSET_MILLIS`. SIGUSR2 makes the clock jump by the next of `CLOCK_JUMPS_MILLIS`. Timers are not affected, as
 * when somebody sets the clock of a machine.
 */
const { Date: RealDate } = globalThis
const at = process.env["CLOCK_AT"]
const jumps = (process.env["CLOCK_JUMPS_MILLIS"] ?? "").split(",").map(Number)
let offset =
  at === undefined ? Number(process.env["CLOCK_OFFSET_MILLIS"] ?? 0) : RealDate.parse(at) - RealDate.now()

const now = (): number => RealDate.now() + offset

class ShiftedDate extends RealDate {
  constructor(...parts: ReadonlyArray<unknown>) {
    // Arguments of `Date` are passed on.
    super(...((parts.length === 0 ? [now()] : parts) as [number]))
  }

  static override now(): number {
    return now()
  }
}

globalThis.Date = ShiftedDate as DateConstructor

process.on("SIGUSR2", () => {
  offset += jumps.shift() ?? 0
  process.stderr.write(`clock ${new RealDate(now()).toISOString()}\n`)
})

/**
 * Loaded into a process before the command: its clock says `CLOCK_AT` (an instant) when it starts, or is off by
 * `CLOCK_OFFSET_MILLIS`, and SIGUSR2 makes it jump by the next of `CLOCK_JUMPS_MILLIS`. Timers go on as they do when
 * somebody sets the clock of a machine.
 */
const { Date: RealDate } = globalThis
const at = process.env["CLOCK_AT"]
const jumps = (process.env["CLOCK_JUMPS_MILLIS"] ?? "").split(",").map(Number)
let offset =
  at === undefined ? Number(process.env["CLOCK_OFFSET_MILLIS"] ?? 0) : RealDate.parse(at) - RealDate.now()

const now = (): number => RealDate.now() + offset

class ShiftedDate extends RealDate {
  constructor(...parts: ReadonlyArray<unknown>) {
    // Whatever a date can be made of is passed on.
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

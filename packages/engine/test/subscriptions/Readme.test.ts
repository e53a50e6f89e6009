import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { availableActions } from "../../src/index.ts"
import { at, done, started } from "./Subscriptions.ts"

const readme = readFileSync(new URL("../../src/subscriptions/README.md", import.meta.url), "utf8")

describe("the README of subscriptions", () => {
  it("says in which phases each command may be asked for", () => {
    const active = started()
    const samples = [
      started({ startAt: at("2027-01-01") }),
      started({ trial: { days: 5 } }),
      active,
      done(active, { type: "pause" }, "2026-01-05").subscription,
      done(active, { type: "cancel", at: "now" }, "2026-01-05").subscription,
    ].map((sample) => ({ ...sample, endsAt: at("2027-02-01") }))
    const commands = [...readme.matchAll(/^\| `(change|pause|resume|cancel|uncancel)` +\| ([^|]+?) +\|/gm)]
    const documented = commands
      .filter(([, , phases]) => /scheduled|active|paused|any/.test(phases!))
      .slice(-5)
    assert.deepStrictEqual(
      documented.map(([, command, phases]) => [
        command,
        samples
          .map(({ phase }) => phase)
          .filter((phase) =>
            phases!.startsWith("any") ? phase !== "ended" : phases!.split(", ").includes(phase),
          ),
      ]),
      (["change", "pause", "resume", "cancel", "uncancel"] as const).map((command) => [
        command,
        samples.filter((sample) => availableActions(sample).includes(command)).map(({ phase }) => phase),
      ]),
    )
  })
})

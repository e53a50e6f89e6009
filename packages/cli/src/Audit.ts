/**
 * `billwright audit usage`: checks that roll-ups equal their records.
 */
import { Billing, CurrentTenant, type Tenant, Usage, type UsageDiscrepancy } from "@billwright/core"
import { Console, Data, Effect, Layer } from "effect"
import { Command } from "effect/cli"
import * as Store from "./Store.ts"
import { account, json } from "./TenantFlags.ts"

/** The audit found differences, which are already printed. */
export class AuditFailed extends Data.TaggedError("AuditFailed")<{ readonly message: string }> {}

interface Finding {
  readonly mode: Tenant.Mode
  readonly discrepancies: ReadonlyArray<UsageDiscrepancy>
}

const auditMode = (accountId: Tenant.AccountId, mode: Tenant.Mode) =>
  Effect.flatMap(Usage, (usage) => usage.audit).pipe(
    Effect.provideService(CurrentTenant, { accountId, mode }),
    Effect.map((discrepancies): Finding => ({ mode, discrepancies })),
  )

const describe = ({ discrepancies, mode }: Finding): ReadonlyArray<string> =>
  discrepancies.length === 0
    ? [`${mode}: every roll-up equals its records.`]
    : discrepancies.map(
        (found) =>
          `${mode}: ${found.customerId} ${found.productId} (${found.unit}) on ${found.day}: ` +
          `records ${found.recordsQuantity} in ${found.recordsCount}, roll-up ${found.rollupQuantity} in ${found.rollupCount}`,
      )

const toJson = (findings: ReadonlyArray<Finding>): string =>
  JSON.stringify(findings, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value), 2)

const auditUsage = Command.make(
  "usage",
  { ...Store.databaseFlags, account, json },
  Effect.fn(function* (options) {
    const services = Billing.layer.pipe(Layer.provide(Store.layerBeside(options)))
    const findings = yield* Effect.forEach(["live", "test"] as const, (mode) =>
      auditMode(options.account, mode),
    ).pipe(Effect.provide(services))
    yield* Console.log(options.json ? toJson(findings) : findings.flatMap(describe).join("\n"))
    const count = findings.reduce((sum, { discrepancies }) => sum + discrepancies.length, 0)
    if (count > 0) return yield* new AuditFailed({ message: `${count} roll-ups differ from their records` })
  }),
).pipe(Command.withDescription("Compare every usage roll-up with its records"))

export const audit = Command.make("audit").pipe(
  Command.withDescription("Check that stored data is consistent"),
  Command.withSubcommands([auditUsage]),
)

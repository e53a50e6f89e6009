/**
 * Notes the calls of services that work makes, as if clients had made them: those that record usage, and that make and
 * erase customers.
 */
import { type Billing, type CurrentTenant, Customers, Tenant, Usage } from "@billwright/core"
import { DateTime, Effect, Exit } from "effect"
import type { Answer, Ask, UsageAsked } from "../History.ts"
import { answerOf, learn } from "./Clients.ts"
import type { Known } from "./Known.ts"
import type { Process } from "./Process.ts"
import type { Recorder } from "./Recorder.ts"

/** What a command of a tenant does. */
export type Work = Effect.Effect<unknown, unknown, Billing.Services | CurrentTenant>

/** What is noted of a process that makes calls. */
type NotedProcess = Pick<Process, "name" | "now">

/** Gives work of a command that is done in a process, and notes something of it. */
export type Noting = (process: NotedProcess, tenant: Tenant.Tenant, work: Work) => Work

type Done = Extract<Answer, { readonly _tag: "Done" }>
type Recording = Parameters<Usage["Service"]["record"]>[0]

const done = (...ids: ReadonlyArray<string>): Done => ({ _tag: "Done", ids })

const usageOf = ({
  customerId,
  dimensions,
  idempotencyKey,
  productId,
  quantity,
  timestamp,
  unit,
}: Recording) => {
  const asked: UsageAsked = {
    customerId,
    productId,
    unit,
    quantity,
    dimensions: dimensions ?? {},
    key: idempotencyKey ?? null,
    ...(timestamp === undefined ? {} : { timestamp: DateTime.toEpochMillis(timestamp) }),
  }
  return asked
}

/**
 * Gives the function that notes the calls of the work of commands. Clients learn of customers without a test clock, and of
 * usage of customers that they know. So they never void usage of a customer with a test clock, also not where the call that
 * made the customer got no answer: such records don't say when they were voided by that clock.
 */
export const noted = (recorder: Recorder, known: ReadonlyArray<Known>): Noting => {
  const noting =
    (process: NotedProcess, tenant: Tenant.Tenant, of: Known) =>
    <A, E, R>(ask: Ask, call: Effect.Effect<A, E, R>, doneOf: (value: A) => Done, isKnown: boolean) =>
      Effect.suspend(() => {
        const asked = recorder.asks(process.now, Tenant.tenantKey(tenant), process.name, ask)
        return Effect.onExit(call, (exit) =>
          Effect.sync(() => {
            const answer = answerOf(recorder, Exit.map(exit, doneOf))
            recorder.answered(asked, process.now, answer)
            if (isKnown) learn(of, ask, answer)
          }),
        )
      })
  return (process, tenant, work) => {
    const of = known.find((one) => Tenant.tenantKey(one.tenant) === Tenant.tenantKey(tenant))!
    const note = noting(process, tenant, of)
    return work.pipe(
      Effect.updateService(Usage, (usage) => ({
        ...usage,
        record: (input) =>
          note(
            { _tag: "RecordUsage", records: [usageOf(input)] },
            usage.record(input),
            ({ _tag, record }) => ({ ...done(record.id), repeats: [_tag === "Duplicate"] }),
            of.customers.includes(input.customerId),
          ),
        voidRecord: (id) =>
          note({ _tag: "VoidUsage", recordId: id }, usage.voidRecord(id), (record) => done(record.id), true),
      })),
      Effect.updateService(Customers, (customers) => ({
        ...customers,
        create: (input) => {
          const { name, testClockId = null } = input
          const ask = { _tag: "CreateCustomer", marker: name, key: `create-${name}`, isValid: true } as const
          return note(ask, customers.create(input), ({ id }) => done(id), testClockId === null)
        },
        erase: (id) =>
          note({ _tag: "EraseCustomer", customerId: id }, customers.erase(id), () => done(id), true),
      })),
    )
  }
}

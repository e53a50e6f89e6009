/**
 * `billwright export`: what `createTestBilling({ snapshot })` goes on with.
 */
import {
  Billing,
  CurrentTenant,
  Customer,
  snapshotText,
  takeSnapshot,
  withoutPersonalData,
} from "@billwright/core"
import { Console, Effect, Layer } from "effect"
import { Command, Flag } from "effect/cli"
import * as Store from "./Store.ts"
import { account, mode } from "./TenantFlags.ts"

const customer = Flag.String("customer").pipe(
  Flag.withDescription("The customer to export: cus_…"),
  Flag.withSchema(Customer.CustomerId),
)

const personalData = Flag.Boolean("personal-data").pipe(
  Flag.withDescription(
    "Whether to export what names a person. --no-personal-data leaves out name, addresses, tax id, metadata, idempotency keys and digits of cards. Descriptions and dimensions of usage stay. Default: everything is exported.",
  ),
  Flag.withDefault(true),
)

export const exportCustomer = Command.make(
  "export",
  { ...Store.databaseFlags, account, mode, customer, personalData },
  Effect.fn(function* (options) {
    const services = Billing.layer.pipe(Layer.provideMerge(Store.layerBeside(options)))
    const snapshot = yield* takeSnapshot(options.customer).pipe(
      Effect.provideService(CurrentTenant, { accountId: options.account, mode: options.mode }),
      Effect.provide(services),
    )
    const text = snapshotText(options.personalData ? snapshot : withoutPersonalData(snapshot))
    yield* Console.log(text.trimEnd())
  }),
).pipe(
  Command.withDescription("Print everything that a customer is billed by as JSON, for a fork in a test"),
  Command.withExamples([
    {
      command:
        "billwright export --customer cus_01kb2r6ghefxhs59czp23x4vmk --mode live --no-personal-data > case.json",
      description: "Keep a support case for a test",
    },
  ]),
)

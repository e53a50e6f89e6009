/**
 * The `billwright` command.
 */
import { Command } from "effect/cli"
import { audit } from "./Audit.ts"
import { auditLog } from "./AuditLog.ts"
import { bill } from "./Bill.ts"
import { books } from "./Books.ts"
import { catalog } from "./Catalog.ts"
import { coupons } from "./Coupons.ts"
import { credits } from "./Credits.ts"
import { customers } from "./Customers.ts"
import { demo } from "./Demo.ts"
import { entitlements } from "./Entitlements.ts"
import { exportCustomer } from "./Export.ts"
import type { Failure } from "./Failure.ts"
import * as Help from "./Help.ts"
import { invoiceItems, invoices } from "./Invoices.ts"
import { keys } from "./Keys.ts"
import { listen } from "./Listen.ts"
import { meters } from "./Meters.ts"
import { migrate } from "./Migrate.ts"
import { creditNotes, disputes, payments, refunds } from "./Payments.ts"
import { proofs } from "./Proofs.ts"
import { prune } from "./Prune.ts"
import { replay } from "./Replay.ts"
import { root } from "./Root.ts"
import { serve } from "./Serve.ts"
import { spendAlerts } from "./SpendAlerts.ts"
import { subscriptions } from "./Subscriptions.ts"
import { clock } from "./TestClocks.ts"
import { tokenUsages } from "./TokenUsages.ts"
import { trigger } from "./Trigger.ts"
import { usage } from "./Usage.ts"

const help = Help.make(() => billwright)

/** Every subcommand under one name. */
export const billwright: Command.Command<"billwright", {}, {}, Failure> = root.pipe(
  Command.withSubcommands([
    serve,
    demo,
    migrate,
    keys,
    customers,
    exportCustomer,
    usage,
    meters,
    catalog,
    subscriptions,
    entitlements,
    credits,
    tokenUsages,
    spendAlerts,
    invoices,
    invoiceItems,
    proofs,
    creditNotes,
    payments,
    refunds,
    disputes,
    coupons,
    clock,
    trigger,
    listen,
    replay,
    bill,
    prune,
    audit,
    auditLog,
    books,
    help,
  ]),
)

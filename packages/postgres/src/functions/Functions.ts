/**
 * All functions of the schema in this release.
 */
import { createHash } from "node:crypto"
import type { SchemaName } from "../SchemaName.ts"
import { pruneAuditLog } from "./AuditLogFunctions.ts"
import { deferredRevenue } from "./BookFunctions.ts"
import { claimDue, claimDueCalls, nextDue } from "./ClaimDueFunction.ts"
import { claimDeliveries } from "./ClaimFunction.ts"
import { commitHold, consumeCredits } from "./CreditCallFunctions.ts"
import { holdCredits, settleHolds, takeCredits } from "./CreditFunctions.ts"
import {
  advanceCredits,
  customerTime,
  moveCredits,
  returnCredits,
  spendCredits,
  writeCredits,
} from "./CreditLedgerFunctions.ts"
import { cancelDeliveries, replayDeliveries, settleDeliveries } from "./DeliveryFunctions.ts"
import { handedDeliveries, leftDeliveries } from "./HandedFunction.ts"
import { formatId, makeUuidV7, offsetId, parseId } from "./IdFunctions.ts"
import {
  addToCells,
  measureUsage,
  refreshCells,
  refuseRecords,
  removeFromCells,
  serveRollups,
  widestDimension,
} from "./MeterFunctions.ts"
import { awaitWriters, buildCells, sweepCells } from "./MeterWorkFunctions.ts"
import { isInstant, publishEvent } from "./PublishEventFunction.ts"
import {
  announceCommit,
  eventJson,
  eventPayload,
  formatInstant,
  isSameData,
  publishEventRow,
  publishEventRows,
} from "./PublishFunctions.ts"
import { recordUsage } from "./RecordUsageFunction.ts"
import { redactEvents } from "./RedactFunction.ts"
import type { SqlFunction } from "./SqlFunction.ts"
import {
  fireThresholds,
  periodDays,
  periodKey,
  thresholdEventData,
  usageThresholdJson,
} from "./ThresholdFunctions.ts"
import { appendUsage, usageRecordJson, voidUsage } from "./UsageFunctions.ts"
import { renewOffer, watchWorkers } from "./WorkerFunctions.ts"

/** All functions. A function whose language is SQL comes after those that it calls. */
export const functions: ReadonlyArray<SqlFunction> = [
  formatId,
  parseId,
  makeUuidV7,
  offsetId,
  deferredRevenue,
  formatInstant,
  usageRecordJson,
  usageThresholdJson,
  periodDays,
  periodKey,
  eventJson,
  eventPayload,
  isSameData,
  isInstant,
  announceCommit,
  publishEventRow,
  publishEventRows,
  thresholdEventData,
  fireThresholds,
  measureUsage,
  widestDimension,
  refreshCells,
  refuseRecords,
  addToCells,
  removeFromCells,
  serveRollups,
  awaitWriters,
  buildCells,
  sweepCells,
  appendUsage,
  voidUsage,
  recordUsage,
  publishEvent,
  watchWorkers,
  renewOffer,
  claimDeliveries,
  handedDeliveries,
  leftDeliveries,
  settleDeliveries,
  cancelDeliveries,
  replayDeliveries,
  claimDue,
  claimDueCalls,
  nextDue,
  takeCredits,
  holdCredits,
  settleHolds,
  customerTime,
  moveCredits,
  spendCredits,
  returnCredits,
  advanceCredits,
  writeCredits,
  consumeCredits,
  commitHold,
  pruneAuditLog,
  redactEvents,
]

/** The SHA-256 digest of the statements that define a function, in hexadecimal. */
export const digestOf = (schema: SchemaName, { statements }: SqlFunction): string =>
  createHash("sha256").update(statements(schema).join(";\n")).digest("hex")

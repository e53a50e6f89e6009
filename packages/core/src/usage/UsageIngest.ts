/**
 * Single records that arrive while a commit is under way are written together by the next one. A busy tenant needs one
 * transaction for up to `MAX_BATCH_RECORDS` records.
 */
import type { Effect, Scope } from "effect"
import * as GroupCommit from "../shared/GroupCommit.ts"
import { MAX_BATCH_RECORDS, type NewUsageRecord } from "./UsageRecord.ts"
import type { AppendOutcome } from "./UsageStore.ts"

/** The limits of the ingest queue, in records. Each tenant has one transaction at a time. */
export interface UsageIngestOptions extends GroupCommit.GroupCommitLimits {}

/** Appends a group in one transaction. Gives an outcome for each record, in the same order. */
export type AppendGroup = GroupCommit.WriteGroup<NewUsageRecord, AppendOutcome>

/** Appends single records in groups. */
export type UsageIngest = GroupCommit.GroupCommit<NewUsageRecord, AppendOutcome>

/** Makes the queue of one process. It lives until its scope closes. */
export const make = (
  append: AppendGroup,
  options: UsageIngestOptions,
): Effect.Effect<UsageIngest, never, Scope.Scope> =>
  GroupCommit.make(append, {
    ...options,
    operation: "UsageIngest.submit",
    name: "the usage queue",
    maxGroup: MAX_BATCH_RECORDS,
  })

/**
 * Which claimed subjects a run works on in one transaction.
 */
import { tenantKey } from "../shared/Tenant.ts"
import type { ClaimedSubject } from "./DueStore.ts"

/** Most subjects of one transaction. */
export const MAX_BATCH = 100

type Batches = ReadonlyArray<ReadonlyArray<ClaimedSubject>>

/**
 * Splits claimed subjects into batches, round by round. Those of a batch have the same tenant and kind. Those of a round are
 * of different customers, so that none of them depends on another one, and its batches may be worked on at the same time.
 * Subjects of a customer stay in their order, in one round after the other. One that has failed before is alone, so that it
 * does not undo the work on others again.
 */
export const batchesOf = (
  all: ReadonlyArray<ClaimedSubject>,
  mayShare: (claimed: ClaimedSubject) => boolean,
): ReadonlyArray<Batches> => {
  const turns = new Map<string, number>()
  const rounds: Array<Map<string, Array<ClaimedSubject>>> = []
  for (const claimed of all) {
    const { attempts, customerId, subject, tenant } = claimed
    const owner = `${tenantKey(tenant)} ${customerId ?? subject.id}`
    const turn = turns.get(owner) ?? 0
    turns.set(owner, turn + 1)
    const isShared = customerId !== null && attempts === 0 && mayShare(claimed)
    const key = isShared ? `${tenantKey(tenant)} ${subject.kind}` : subject.id
    const round = (rounds[turn] ??= new Map())
    const batch = round.get(key)
    if (batch === undefined) round.set(key, [claimed])
    else batch.push(claimed)
  }
  return rounds.map((round) => [...round.values()].flatMap(cut))
}

const cut = (batch: ReadonlyArray<ClaimedSubject>): Batches => {
  const parts: Array<ReadonlyArray<ClaimedSubject>> = []
  for (let from = 0; from < batch.length; from += MAX_BATCH) parts.push(batch.slice(from, from + MAX_BATCH))
  return parts
}

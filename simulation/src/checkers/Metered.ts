/**
 * I3: a key counts once, and totals contain everything that was acknowledged and nothing that was not requested. I13:
 * totals, records and roll-ups agree. A threshold fires once.
 */
import { Tenant, Threshold, type UsageRecord } from "@billwright/core"
import { DateTime } from "effect"
import { type Call, callsOf, entriesOf, type History, type UsageAsked } from "../History.ts"
import { valueOf } from "./MeterValue.ts"

interface AskedUsage {
  readonly call: Call
  readonly asked: UsageAsked
  /** The index of the record's id in the answer. */
  readonly index: number
}

const askedUsage = (history: History): ReadonlyArray<AskedUsage> =>
  history.calls.flatMap((call): ReadonlyArray<AskedUsage> => {
    const { ask } = call
    if (ask._tag === "RecordUsage") return ask.records.map((asked, index) => ({ call, asked, index }))
    return ask._tag === "RecordAndPublish" ? [{ call, asked: ask.record, index: 0 }] : []
  })

const grouped = <A>(items: Iterable<A>, keyOf: (item: A) => string): Map<string, Array<A>> => {
  const groups = new Map<string, Array<A>>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}

const contentOf = ({
  dimensions,
  productId,
  quantity,
  unit,
}: Pick<UsageAsked, "dimensions" | "productId" | "quantity" | "unit">) =>
  `${productId} ${unit} ${quantity} ${dimensions["model"] ?? "-"} ${dimensions["region"] ?? "-"}`

const keyOf = (tenant: string, customerId: string, key: string) => `${tenant} ${customerId} ${key}`

/** What contradicts I3 in the answers to the calls with one key, given the stored rows of that key. */
const problemsOfKey = (
  key: string,
  asks: ReadonlyArray<AskedUsage>,
  rows: ReadonlyArray<UsageRecord.UsageRecord>,
): ReadonlyArray<string> => {
  const problems: Array<string> = []
  if (rows.length > 1) problems.push(`the key ${key} has ${rows.length} records`)
  const done = asks.filter(({ call }) => call.answer._tag === "Done")
  const ids = new Set(
    done.map(({ call, index }) => (call.answer._tag === "Done" ? call.answer.ids[index] : "")),
  )
  if (ids.size > 1) problems.push(`the key ${key} was answered with ${[...ids].join(" and ")}`)
  const firsts = done.filter(({ call, index }) => call.answer._tag === "Done" && !call.answer.repeats![index])
  if (firsts.length > 1) problems.push(`the key ${key} was answered as new ${firsts.length} times`)
  const contents = new Set(asks.map(({ asked }) => `${contentOf(asked)} ${asked.timestamp ?? ""}`))
  const conflict = asks.find(
    ({ call }) => call.answer._tag === "Rejected" && call.answer.error === "UsageKeyConflict",
  )
  // In a batch, the conflict may be that of another record.
  const isAlone = conflict?.call.ask._tag === "RecordUsage" && conflict.call.ask.records.length === 1
  if (isAlone && contents.size === 1)
    problems.push(`the key ${key} was refused for other content, but was used with only one`)
  const repeat = done.find(({ call, index }) => call.answer._tag === "Done" && call.answer.repeats![index])
  const others = asks.filter((ask) => ask !== repeat && ask.call.order < (repeat?.call.endOrder ?? 0))
  if (repeat !== undefined && others.length === 0)
    problems.push(`the key ${key} was new, but was answered as a duplicate`)
  return problems
}

const problemsOfKeys = (history: History): ReadonlyArray<string> => {
  const asks = grouped(
    askedUsage(history).filter(({ asked }) => asked.key !== null),
    ({ asked, call }) => keyOf(call.tenant, asked.customerId, asked.key!),
  )
  const rows = grouped(
    history.stored.records.filter(({ record }) => record.idempotencyKey !== null),
    ({ record, tenant }) => keyOf(Tenant.tenantKey(tenant), record.customerId, record.idempotencyKey!),
  )
  const unasked = [...rows.keys()].filter((key) => !asks.has(key)).map((key) => `no call used the key ${key}`)
  const problems = [...asks].flatMap(([key, some]) =>
    problemsOfKey(
      key,
      some,
      (rows.get(key) ?? []).map(({ record }) => record),
    ),
  )
  return [...unasked, ...problems]
}

/** Records without a key: at least those acknowledged, and at most those that may have been stored. */
const problemsOfKeyless = (history: History): ReadonlyArray<string> => {
  const placeOf = (
    tenant: string,
    usage: Pick<UsageAsked, "customerId" | "dimensions" | "productId" | "unit" | "quantity">,
  ) => `${tenant} ${usage.customerId} ${contentOf(usage)}`
  const asks = grouped(
    askedUsage(history).filter(({ asked }) => asked.key === null),
    ({ asked, call }) => placeOf(call.tenant, asked),
  )
  const rows = grouped(
    history.stored.records.filter(({ record }) => record.idempotencyKey === null),
    ({ record, tenant }) => placeOf(Tenant.tenantKey(tenant), record),
  )
  return [...new Set([...asks.keys(), ...rows.keys()])].flatMap((place) => {
    const answers = (asks.get(place) ?? []).map(({ call }) => call.answer._tag)
    const least = answers.filter((tag) => tag === "Done").length
    const most = answers.filter((tag) => tag !== "Rejected").length
    const count = rows.get(place)?.length ?? 0
    return count < least || count > most
      ? [`${count} records exist, but ${least} to ${most} were requested: ${place}`]
      : []
  })
}

/** A total must lie between the bounds that follow from what was committed before and during its reading. */
const problemsOfReads = (history: History): ReadonlyArray<string> => {
  const appended = entriesOf(history, "Appended")
  const voids = grouped(
    callsOf(history, "VoidUsage").filter(({ answer }) => answer._tag !== "Rejected"),
    ({ ask }) => ask.recordId,
  )
  return callsOf(history, "ReadTotal").flatMap(({ answer, ask, endOrder, order, tenant }) => {
    if (answer._tag !== "Done") return []
    const mayBeVoid = (id: string) => voids.get(id)?.some((call) => call.order < endOrder) ?? false
    const isVoid = (id: string) =>
      voids.get(id)?.some((call) => call.answer._tag === "Done" && call.endOrder < order) ?? false
    let [least, most, last] = [0n, 0n, 0]
    for (const entry of appended) {
      if (entry.tenant !== tenant || entry.order > endOrder) continue
      for (const record of entry.records) {
        const isOther = record.productId !== ask.productId || record.unit !== ask.unit
        if (record.customerId !== ask.customerId || isOther) continue
        if (entry.order < order && !mayBeVoid(record.id)) {
          least += BigInt(record.quantity)
          last = entry.order
        }
        if (!isVoid(record.id)) most += BigInt(record.quantity)
      }
    }
    const total = answer.total!
    return total < least || total > most
      ? [
          `a total of ${ask.customerId} was read as ${total}, but was ${least} to ${most}: asked at ${order}, answered at ${endOrder}, last record at ${last}`,
        ]
      : []
  })
}

/** A threshold fires once for a period, with one event, and only when the total had reached it. */
const problemsOfThresholds = (history: History): ReadonlyArray<string> => {
  const { firings } = history.stored
  const crossings = entriesOf(history, "Appended").flatMap(({ crossings: some }) =>
    some.map(({ periodKey, thresholdId }) => `${thresholdId} ${periodKey}`),
  )
  const fired = new Set(firings.map(({ periodKey, thresholdId }) => `${thresholdId} ${periodKey}`))
  const twice = crossings.filter((crossing, index) => crossings.indexOf(crossing) !== index)
  return [
    ...twice.map((crossing) => `the threshold fired twice: ${crossing}`),
    ...entriesOf(history, "ThresholdStored").flatMap((entry) => missedFirings(history, entry, fired)),
  ]
}

/** The records that were never voided took the total over the threshold, but it has not fired. */
const missedFirings = (
  history: History,
  { order, tenant, threshold }: ReturnType<typeof entriesOf<"ThresholdStored">>[number],
  fired: ReadonlySet<string>,
): ReadonlyArray<string> => {
  const voided = new Set(
    callsOf(history, "VoidUsage")
      .filter(({ answer }) => answer._tag !== "Rejected")
      .map(({ ask }) => ask.recordId),
  )
  const totals = new Map<string, bigint>()
  const missed = new Set<string>()
  for (const entry of entriesOf(history, "Appended")) {
    const own = entry.records.filter(
      ({ customerId, productId, unit }) =>
        entry.tenant === tenant &&
        customerId === threshold.customerId &&
        productId === threshold.productId &&
        unit === threshold.unit,
    )
    for (const { id, quantity, timestamp } of own) {
      const period = Threshold.periodKey(threshold.period, DateTime.toUtc(timestamp))
      if (!voided.has(id)) totals.set(period, (totals.get(period) ?? 0n) + BigInt(quantity))
      const isOver = (totals.get(period) ?? 0n) >= threshold.quantity
      if (entry.order > order && isOver && !fired.has(`${threshold.id} ${period}`)) missed.add(period)
    }
  }
  return [...missed].map((period) => `the threshold ${threshold.id} did not fire for ${period}`)
}

/** I3. */
export const metersExactly = (history: History): ReadonlyArray<string> => [
  ...problemsOfKeys(history),
  ...problemsOfKeyless(history),
  ...problemsOfReads(history),
  ...problemsOfThresholds(history),
]

/** Meters whose value is not what their aggregation makes of the records. */
const wrongMeters = (history: History): ReadonlyArray<string> =>
  callsOf(history, "ReadMeter").flatMap(({ answer, ask, order, tenant }) => {
    if (order < history.quietSince) return []
    const of = `the meter ${ask.meter} of ${ask.customerId}`
    const found = history.stored.meters.find(
      (row) => Tenant.tenantKey(row.tenant) === tenant && row.meter.key === ask.meter,
    )
    if (answer._tag !== "Done" || found?.meter.status !== "ready")
      return found === undefined
        ? []
        : [`${of}, which is ${found.meter.status}, can't be read: ${JSON.stringify(answer)}`]
    const { meter } = found
    const own = history.stored.records.flatMap(({ record, tenant: owner }) =>
      Tenant.tenantKey(owner) === tenant &&
      record.customerId === ask.customerId &&
      record.productId === meter.productId &&
      record.unit === meter.unit &&
      record.voidedAt === null
        ? [record]
        : [],
    )
    const expected = valueOf(meter, own, endOf(ask.endDate))
    return answer.total === expected
      ? []
      : [`${of} (${meter.aggregation}) is ${answer.total}, not ${expected}`]
  })

const endOf = (date: string): number =>
  DateTime.toEpochMillis(DateTime.add(DateTime.makeUnsafe(`${date}T00:00:00Z`), { days: 1 }))

/** I13. */
export const totalsAgree = (history: History): ReadonlyArray<string> => {
  const { records, rollups } = history.stored
  const sums = new Map<string, bigint>()
  const dayOf = ({ timestamp }: UsageRecord.UsageRecord) => DateTime.formatIsoDateUtc(timestamp)
  for (const { record, tenant } of records) {
    if (record.voidedAt !== null) continue
    const { customerId, productId, quantity, unit } = record
    const place = `${Tenant.tenantKey(tenant)} ${customerId} ${productId} ${unit}`
    for (const key of [place, `${place} ${dayOf(record)}`])
      sums.set(key, (sums.get(key) ?? 0n) + BigInt(quantity))
  }
  const wrongRollups = rollups.filter(
    ({ customerId, day, productId, quantity, tenant, unit }) =>
      quantity !== (sums.get(`${Tenant.tenantKey(tenant)} ${customerId} ${productId} ${unit} ${day}`) ?? 0n),
  )
  const wrongReads = callsOf(history, "ReadTotal").filter(({ answer, ask, order, tenant }) => {
    if (order < history.quietSince || answer._tag !== "Done") return false
    return answer.total !== (sums.get(`${tenant} ${ask.customerId} ${ask.productId} ${ask.unit}`) ?? 0n)
  })
  return [
    ...wrongRollups.map(
      ({ customerId, day, quantity }) => `the roll-up of ${customerId} on ${day} says ${quantity}`,
    ),
    ...wrongReads.map(
      ({ answer, ask }) =>
        `the total of ${ask.customerId} is read as ${answer._tag === "Done" ? answer.total : ""}, which is not the sum of its records`,
    ),
    ...wrongMeters(history),
    ...history.discrepancies.map(
      ({ customerId, day, meterKey }) =>
        `the audit found a difference for ${customerId} on ${day}${meterKey === null ? "" : ` in ${meterKey}`}`,
    ),
  ]
}

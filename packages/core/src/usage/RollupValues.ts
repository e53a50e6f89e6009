/**
 * The values of a meter from its cells. Stores read the cells; what they make together is computed here.
 */
import * as Aggregation from "./Aggregation.ts"
import * as Rollup from "./Rollup.ts"
import type { Period } from "./UsagePeriod.ts"
import type { RollupAnswer, RollupQuery, RollupTotal } from "./UsageStore.ts"

/** The state of some records with the same combination. */
export interface Cell {
  readonly combination: Rollup.Combination
  readonly state: Aggregation.State
}

/** Identifies a combination among others of the same dimensions. */
export const keyOf = (combination: Rollup.Combination): string => JSON.stringify(combination)

/** A record from which cells are made. */
export interface CellEntry extends Aggregation.Entry {
  readonly dimensions: Readonly<Record<string, string>>
  readonly isVoided: boolean
}

/** The cells of some records, by the keys of their combinations. A combination has one, even if all its records are voided. */
export const cellsOf = (
  definition: Rollup.Definition,
  entries: Iterable<CellEntry>,
): ReadonlyMap<string, Cell> => {
  const found = new Map<string, { combination: Rollup.Combination; counted: Array<CellEntry> }>()
  for (const entry of entries) {
    const combination = Rollup.combinationOf(definition, entry.dimensions)
    const key = keyOf(combination)
    const of = found.get(key) ?? { combination, counted: [] }
    found.set(key, of)
    if (!entry.isVoided) of.counted.push(entry)
  }
  return new Map(
    Array.from(found, ([key, { combination, counted }]) => [
      key,
      { combination, state: Aggregation.stateOf(definition.aggregation, counted) },
    ]),
  )
}

/** A combination, the state of its records in a window, and its level before the window. */
interface Line {
  readonly combination: Rollup.Combination
  state: Aggregation.State
  readonly carried: number
}

type Lines = Map<string, Line>

/**
 * Answers a query. `cellsIn` gives the cells of the records in a period, also several of one combination, in the order of
 * time. Before the first window of `time_weighted`, only the last cell of each combination that has records is needed.
 */
export const answer = (
  rollup: Rollup.Rollup,
  { boundaries, groupBy, most, where }: RollupQuery,
  cellsIn: (period: Period) => Iterable<Cell>,
): RollupAnswer => {
  const isLevel = rollup.aggregation === "time_weighted"
  const totals: Array<RollupTotal> = []
  const whole: Array<RollupTotal> = []
  const groups = new Set<string>()
  let levels: Lines = new Map()
  const merge = (lines: Lines, period: Period) => mergeCells(rollup, where, lines, cellsIn(period))
  if (isLevel) levels = levelsAfter(merge(levels, { start: undefined, end: boundaries[0] }))
  for (let window = 0; window < boundaries.length - 1; window++) {
    const period = { start: boundaries[window], end: boundaries[window + 1] }
    const lines = merge(isLevel ? levels : new Map(), period)
    for (const total of totalsOf(rollup, lines, groupBy, period)) {
      groups.add(keyOf(total.group))
      if (groups.size > most) return { _tag: "TooManyGroups" }
      totals.push({ window, ...total })
    }
    for (const total of totalsOf(rollup, lines, [], period)) whole.push({ window, ...total })
    if (isLevel) levels = levelsAfter(lines)
  }
  return { _tag: "Totals", totals, whole }
}

/** Adds later cells to lines, and gives the lines. */
const mergeCells = (
  rollup: Rollup.Rollup,
  where: Rollup.Where,
  lines: Lines,
  later: Iterable<Cell>,
): Lines => {
  const rule = Aggregation.ruleOf(rollup.aggregation)
  for (const { combination, state } of later) {
    if (!Rollup.isWanted(rollup, where, combination)) continue
    const key = keyOf(combination)
    const line = lines.get(key) ?? { combination, state: Aggregation.zero, carried: 0 }
    lines.set(key, line)
    line.state = rule.merge(line.state, state)
  }
  return lines
}

/**
 * The level of each combination after some lines. One whose level is 0 adds nothing, and its next cell makes it anew. So a
 * window takes no time for combinations that ended before it.
 */
const levelsAfter = (lines: Lines): Lines => {
  const levels: Lines = new Map()
  for (const [key, { carried, combination, state }] of lines) {
    const level = state.last?.quantity ?? carried
    if (level > 0) levels.set(key, { combination, state: Aggregation.zero, carried: level })
  }
  return levels
}

/** The values of the groups of a window. */
const totalsOf = (
  rollup: Rollup.Rollup,
  lines: Lines,
  groupBy: ReadonlyArray<string>,
  period: Period,
): ReadonlyArray<Omit<RollupTotal, "window">> => {
  const places = groupBy.map((name) => rollup.dimensions.indexOf(name))
  const counted = rollup.counted === null ? -1 : rollup.dimensions.indexOf(rollup.counted)
  const groups = new Map<string, { group: Rollup.Combination; parts: Array<Aggregation.Part> }>()
  for (const { carried, combination, state } of lines.values()) {
    const group = places.map((place) => combination[place] ?? null)
    const found = groups.get(keyOf(group)) ?? { group, parts: [] }
    groups.set(keyOf(group), found)
    found.parts.push({ state, carried, counted: combination[counted] ?? null })
  }
  return Array.from(groups.values(), ({ group, parts }) => ({
    group,
    ...Aggregation.totalOf(rollup.aggregation, parts, period),
  })).filter(({ quantity, recordCount }) => recordCount > 0 || quantity !== 0n)
}

/**
 * Reads a web server's access log and records it as usage in Billwright. See README.md.
 */
import { createReadStream } from "node:fs"
import { parseArgs } from "node:util"
import { Client } from "./Client.ts"
import { stringifyExactly } from "./ExactJson.ts"
import { type LineProblem, Metering, type Report } from "./Metering.ts"
import { Problem } from "./Problem.ts"
import { table } from "./Table.ts"

const USAGE = `Usage: node src/meter.ts [options] <access.log>

  --url <url>     where Billwright serves; default http://127.0.0.1:4100
  --key <key>     its API key; default BILLWRIGHT_API_KEY of the environment
  --batch <n>     records sent at once, 2 to 1000; default 1000
  --json          prints JSON instead of a table
  --help          prints this`

/** How many lines with a problem are printed. Further ones are only counted. */
const MAX_PRINTED_PROBLEMS = 20

const readOptions = () => {
  const options = {
    url: { type: "string", default: "http://127.0.0.1:4100" },
    key: { type: "string", default: process.env["BILLWRIGHT_API_KEY"] ?? "" },
    batch: { type: "string", default: "1000" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  } as const
  try {
    return parseArgs({ allowPositionals: true, options })
  } catch (error) {
    throw new Problem(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`)
  }
}

const check = ({ values, positionals }: ReturnType<typeof readOptions>) => {
  const [file, ...more] = positionals
  if (file === undefined || more.length > 0) throw new Problem(`Name one access log.\n\n${USAGE}`)
  if (!/^[\x21-\x7e]+$/.test(values.key)) throw new Problem("Give an API key: --key or BILLWRIGHT_API_KEY.")
  if (!/^https?:$/.test(URL.parse(values.url)?.protocol ?? ""))
    throw new Problem("--url must be an http or https address.")
  const batchSize = Number(values.batch)
  if (!Number.isInteger(batchSize) || batchSize < 2 || batchSize > 1000)
    throw new Problem("--batch must be 2 to 1000.")
  return { file, url: values.url, key: values.key, batchSize }
}

/** The bytes of a file as characters, so that all different lines differ in any encoding. */
async function* read(file: string): AsyncGenerator<string> {
  try {
    yield* createReadStream(file, { encoding: "latin1" })
  } catch (error) {
    throw new Problem(`Cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

const asJson = ({ counts, period, totals }: Report, problems: ReadonlyArray<LineProblem>): string =>
  stringifyExactly({
    ...counts,
    problems,
    period: period ?? null,
    totals: totals.map(({ customer, ...total }) => ({
      customer_id: customer.id,
      name: customer.name,
      email: customer.email,
      ...total,
    })),
  })

let hasRecorded = false

const main = async (): Promise<void> => {
  const options = readOptions()
  if (options.values.help) {
    console.log(USAGE)
    return
  }
  const { file, url, key, batchSize } = check(options)
  const problems: Array<LineProblem> = []
  const onProblem = (problem: LineProblem): void => {
    if (problems.length === MAX_PRINTED_PROBLEMS) return
    problems.push(problem)
    console.error(`${file}:${problem.line}: ${problem.problem}`)
    if (problems.length === MAX_PRINTED_PROBLEMS) console.error("Further ones are only counted.")
  }
  const meter = new Metering(new Client({ url, key }), { batchSize, onProblem })
  const report = await meter.run(read(file)).finally(() => {
    hasRecorded = meter.counts.recorded + meter.counts.duplicates > 0
  })
  const { late } = report.counts
  if (late > 0)
    console.error(
      `${late} lines come far after later ones. They are recorded, but if one is identical to an earlier line, ` +
        "both count as one. Is the log in order?",
    )
  console.log(options.values.json ? asJson(report, problems) : table(report))
}

try {
  await main()
} catch (error) {
  if (!(error instanceof Problem)) throw error
  console.error(error.message)
  if (hasRecorded) console.error("Everything recorded so far stays. Running again counts nothing twice.")
  process.exitCode = 1
}

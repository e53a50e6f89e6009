/**
 * The dashboard's handlers for each framework.
 */
import { ClosedError, ConfigurationError } from "../errors/RuntimeError.ts"
import { type Engine, toTenant } from "../runtime/Engine.ts"
import { DATA_PATH, type Data, forOperators, pageVerdict } from "./DashboardData.ts"
import type { DashboardHandlers, DashboardOptions } from "./DashboardHandlers.ts"
import type { Handlers } from "./Handlers.ts"
import { checkOpen } from "./MountedHandlers.ts"
import { type Answer, closedAnswer, mounted } from "./MountedPages.ts"
import * as MountPath from "./MountPath.ts"

const OPTIONS = new Set<keyof DashboardOptions>(["accountId", "authorize", "basePath", "directory", "mode"])

/** Returns the base path. Throws a `ConfigurationError` when an option is wrong. */
const checkOptions = (options: DashboardOptions): string => {
  const unknown = Object.keys(options).find((name) => !OPTIONS.has(name as keyof DashboardOptions))
  if (unknown !== undefined) {
    throw new ConfigurationError(`dashboard has no option "${unknown}": there are ${[...OPTIONS].join(", ")}`)
  }
  const { authorize, mode } = options
  if (authorize !== undefined && typeof authorize !== "function")
    throw new ConfigurationError("authorize must be a function of a Request")
  if (mode !== undefined && mode !== "live" && mode !== "test")
    throw new ConfigurationError('mode must be "live" or "test"')
  const basePath = MountPath.normalize(options.basePath)
  if (!/^(\/[\w.~-]+)+$/.test(basePath))
    throw new ConfigurationError(
      'the dashboard needs a path of its own: dashboard({ basePath: "/admin/billing" })',
    )
  return basePath
}

/** Whether a target below the dashboard's path is a request for data. */
const isData = (target: string): boolean => MountPath.strip(target, DATA_PATH) !== undefined

const makeAnswer = (engine: Engine, api: Handlers["fetch"], options: DashboardOptions): Answer => {
  const basePath = checkOptions(options)
  const { authorize, directory } = options
  const { tenant } = engine.calls
  const data: Data =
    authorize === undefined
      ? (request, env) => api(request, { ...env, basePath })
      : forOperators(
          engine,
          toTenant(options.accountId ?? tenant.accountId, options.mode ?? tenant.mode),
          basePath,
          authorize,
        )
  let loading: Promise<Answer> | undefined
  const load = async (): Promise<Answer> => {
    const { Dashboard } = await import("@billwright/dashboard")
    return Dashboard.handler({
      basePath,
      apiUrl: `${basePath}${DATA_PATH}`,
      signIn: authorize === undefined ? "key" : "host",
      ...(authorize === undefined
        ? {}
        : { authorize: async (request) => pageVerdict(await authorize(request)) }),
      ...(directory === undefined ? {} : { directory }),
    })
  }
  return async (request, env) => {
    const target = MountPath.strip(MountPath.targetOf(request), basePath)
    if (target === undefined) return undefined
    try {
      return await engine.whileOpen(async () =>
        isData(target) ? data(request, env) : (await (loading ??= load()))(request),
      )
    } catch (error) {
      if (error instanceof ClosedError) return closedAnswer()
      throw error
    }
  }
}

export const makeDashboard =
  (engine: Engine, api: Handlers["fetch"]) =>
  (options: DashboardOptions): DashboardHandlers => {
    // In JavaScript, the options may be missing.
    const given = options ?? {}
    checkOpen(engine)
    const answer = makeAnswer(engine, api, given)
    return mounted({ name: "the dashboard", basePath: MountPath.normalize(given.basePath), answer })
  }

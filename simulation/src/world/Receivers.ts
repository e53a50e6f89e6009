/**
 * Receivers of webhooks, and the network in front of them: they give any answer, late, twice or never.
 */
import type { WebhookRequest, WebhookResponse } from "@billwright/core"
import { Clock, Effect } from "effect"
import type { Choice } from "./Choice.ts"
import type { Life } from "./FaultyPorts.ts"
import type { OpenRequest, Recorder } from "./Recorder.ts"

/** The behaviour of a receiver. `well`: answers at once. `moody`: answers anything. `broken`: always answers 500. */
type Mood = "well" | "moody" | "broken"

type Conduct =
  | { readonly _tag: "Unreachable"; readonly error: NetworkError }
  | { readonly _tag: "Cut" }
  | { readonly _tag: "Hangs" }
  | { readonly _tag: "Answers"; readonly status: number; readonly retryAfter: string | undefined }

type NetworkError = Extract<WebhookResponse, { readonly _tag: "Failed" }>["error"]

const well: Conduct = { _tag: "Answers", status: 204, retryAfter: undefined }

/** The time limit of an attempt in a simulation. It is short, so that a run contains whole attempts. */
export const DEADLINE_MILLIS = 4_000

export class Receivers {
  readonly #choice: Choice
  readonly #recorder: Recorder
  readonly #moods = new Map<string, Mood>()
  /** All receivers answer well, except broken ones. */
  isCalm = true

  constructor(choice: Choice, recorder: Recorder) {
    this.#choice = choice
    this.#recorder = recorder
  }

  /** Sends a request for a process. Ends within `DEADLINE_MILLIS`, as every transport does. */
  send(process: string, life: Life, request: WebhookRequest): Effect.Effect<WebhookResponse> {
    const choice = this.#choice
    const { injects, noticed } = this
    const conduct = this.#conduct(request.url)
    const transit = this.isCalm || choice.chance(0.5) ? 0 : choice.int(1, 100)
    const isDoubled = !this.isCalm && choice.chance(0.03)
    const thinking = this.isCalm
      ? 0
      : choice.weighted([
          [4, 0],
          [4, choice.int(1, 50)],
          [2, choice.int(50, DEADLINE_MILLIS - transit)],
        ])
    const point = "WebhookTransport.send"
    return Effect.gen(function* () {
      const sentAt = yield* Clock.currentTimeMillis
      yield* life.gate
      yield* life.passes(`${point}: before`)
      if (transit > 0) yield* Effect.sleep(transit)
      yield* life.gate
      if (conduct._tag === "Unreachable") return failed(conduct.error)
      const seen = noticed({ sentAt, process, url: request.url, request, isCopy: false })
      if (isDoubled) {
        injects("receiver: sent twice by the network")
        noticed({ sentAt, process, url: request.url, request, isCopy: true }).status = 204
      }
      yield* life.passes(`${point}: sent`)
      if (conduct._tag === "Cut") return failed("reset")
      if (conduct._tag === "Hangs") {
        yield* Effect.sleep(DEADLINE_MILLIS - transit)
        yield* life.gate
        return failed("timeout")
      }
      if (thinking > 0) yield* Effect.sleep(thinking)
      seen.status = conduct.status
      yield* life.passes(`${point}: answered`)
      yield* life.gate
      return answered(conduct.status, conduct.retryAfter)
    })
  }

  readonly injects = (fault: string): void => this.#recorder.injects(fault)

  readonly noticed = ({
    request,
    ...seen
  }: Pick<OpenRequest, "sentAt" | "process" | "url" | "isCopy"> & {
    readonly request: WebhookRequest
  }): OpenRequest => this.#recorder.receives({ ...seen, headers: request.headers, body: request.body })

  #conduct(url: string): Conduct {
    const conduct = this.#moodOf(url)
    if (conduct !== well) {
      const detail = conduct._tag === "Answers" ? ` ${conduct.status}` : ""
      this.injects(`receiver: ${conduct._tag.toLowerCase()}${detail}`)
    }
    return conduct
  }

  #moodOf(url: string): Conduct {
    let mood = this.#moods.get(url)
    if (mood === undefined) {
      mood = this.#choice.weighted<Mood>([
        [4, "well"],
        [5, "moody"],
        [1, "broken"],
      ])
      this.#moods.set(url, mood)
    }
    if (mood === "broken") return { _tag: "Answers", status: 500, retryAfter: undefined }
    return mood === "well" || this.isCalm ? well : this.#whim()
  }

  #whim(): Conduct {
    const choice = this.#choice
    const status = choice.weighted([
      [8, 204],
      [2, 200],
      [1, 299],
      [1, 301],
      [1, 400],
      [3, 500],
      [2, 503],
      [2, 429],
      [1, 502],
      [0.5, 410],
    ])
    return choice.weighted<Conduct>([
      [20, { _tag: "Answers", status, retryAfter: choice.pick([undefined, "1", "30", "soon"]) }],
      [2, { _tag: "Unreachable", error: choice.pick(["connection_refused", "dns_error", "tls_error"]) }],
      [2, { _tag: "Cut" }],
      [2, { _tag: "Hangs" }],
    ])
  }
}

const failed = (error: NetworkError): WebhookResponse => ({ _tag: "Failed", error })

const answered = (status: number, retryAfter: string | undefined): WebhookResponse => ({
  _tag: "Answered",
  status,
  headers: retryAfter === undefined ? {} : { "retry-after": retryAfter },
  body: "",
})

/**
 * A user of the API whose requests and answers are recorded.
 */
import type { Answer } from "../Command.ts"
import { Tenant } from "../Tenant.ts"
import type { Journal } from "./history/Journal.ts"
import { answerOf, askOf } from "./history/Requests.ts"

export class RecordedTenant extends Tenant {
  readonly #journal: Journal
  readonly #name: string

  constructor(url: string, key: string, journal: Journal, name: string) {
    super(url, key)
    this.#journal = journal
    this.#name = name
  }

  override async call(method: string, path: string, body?: unknown): Promise<Answer> {
    const ask = askOf(method, path, body)
    if (ask === undefined) return super.call(method, path, body)
    const end = this.#journal.asks(this.#name, ask)
    try {
      const answer = await super.call(method, path, body)
      end(answerOf(ask, answer))
      return answer
    } catch (error) {
      end({ _tag: "Unknown" })
      throw error
    }
  }
}

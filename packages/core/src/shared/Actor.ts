/**
 * Who makes a change, and from where: for the audit log.
 *
 * It is a reference and no requirement: what runs without one acts for the host's own program. Where somebody else begins to act,
 * such as a request with an API key or a billing run, it is provided once.
 */
import { Context, Effect, Schema } from "effect"
import * as Text from "./Text.ts"

/** The longest id of an actor, in code points. */
export const MAX_ACTOR_ID_LENGTH = 128
/** The longest name of a role, in code points. */
export const MAX_ROLE_LENGTH = 64
/** The longest user agent that is kept, in code points. The rest is cut off. */
export const MAX_USER_AGENT_LENGTH = 256
/** The longest id of a request, in code points. */
export const MAX_REQUEST_ID_LENGTH = 64
/** The longest text of an IP address. */
export const MAX_IP_LENGTH = 45

/**
 * - `host`: the program that billing is part of, or a command on its database;
 * - `key`: a request with an API key;
 * - `operator`: a person, whom the host has named;
 * - `payer`: somebody with a link to the pages for payers;
 * - `provider`: a notice of a payment provider;
 * - `runner`: work in the background, such as billing runs and deliveries.
 */
export const ActorType = Schema.Literals(["host", "key", "operator", "payer", "provider", "runner"])
export type ActorType = typeof ActorType.Type

export const ActorId = Text.bounded(1, MAX_ACTOR_ID_LENGTH)
export const ActorRole = Text.bounded(1, MAX_ROLE_LENGTH)

export interface Actor {
  readonly type: ActorType
  /** The id of the key, what the host calls the person, the id of the payer's customer, or the name of the provider. Others have their type as id. */
  readonly id: string
  readonly role: string | null
  /** The IP address that the request came from. `null`: not from a request, or it is not known. */
  readonly ip: string | null
  readonly userAgent: string | null
  /** The id of the request, as its answer says it. */
  readonly requestId: string | null
}

const NOWHERE = { role: null, ip: null, userAgent: null, requestId: null }

/** The program that billing is part of. */
export const host: Actor = { type: "host", id: "host", ...NOWHERE }
/** Work in the background. */
export const runner: Actor = { type: "runner", id: "runner", ...NOWHERE }
/** Somebody with a link to the pages for payers, by the id of the customer that the link is for. */
export const payer = (customerId: string): Actor => ({ type: "payer", id: customerId, ...NOWHERE })
/** A payment provider, by its name. */
export const provider = (name: string): Actor => ({ type: "provider", id: name, ...NOWHERE })

/** The actor that the current fiber acts for. */
export class CurrentActor extends Context.Reference<Actor>("@billwright/core/shared/CurrentActor", {
  defaultValue: () => host,
}) {}

/** Runs work of the background as what it is, whoever asked for it. */
export const asRunner = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(work, CurrentActor, runner)

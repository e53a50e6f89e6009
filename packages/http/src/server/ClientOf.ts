/**
 * Finds the IP address that a request comes from.
 */
import { InvalidInput, NetworkAddress } from "@billwright/core"
import { Effect } from "effect"
import type { HttpRequest } from "./HttpExchange.ts"

/** The header in which each proxy adds the address that it was asked from, at the end. */
const FORWARDED_FOR = "x-forwarded-for"

/** Gives the address of the client of a request; `undefined` when it is not known. */
export type ClientOf = (request: HttpRequest) => string | undefined

/**
 * Makes the function. The address is that of the connection. If it is in one of the networks, it is a proxy of the host's,
 * and the address is the one that this proxy has added to `x-forwarded-for`; and so on from the end of that header. What
 * stands before the first address that is no such proxy was written by the client, and is not read.
 *
 * Fails with `InvalidInput` of the first text that is not a network.
 */
export const make = (trustedProxies: ReadonlyArray<string> = []): Effect.Effect<ClientOf, InvalidInput> =>
  Effect.map(
    Effect.forEach(trustedProxies, (text, index) => {
      const network = NetworkAddress.parseNetwork(text)
      if (network !== undefined) return Effect.succeed(network)
      const problem =
        "must be a network such as 10.20.0.0/16 or fd00:7::/64, with no bits set after its prefix"
      return Effect.fail(new InvalidInput({ field: `trustedProxies[${index}]`, problem }))
    }),
    (networks) => {
      // Nearly every request comes through here.
      if (networks.length === 0) return ({ remoteAddress }) => remoteAddress
      const isProxy = (text: string): boolean => {
        const address = NetworkAddress.parseUnmapped(text)
        return address !== undefined && networks.some((network) => NetworkAddress.contains(network, address))
      }
      return ({ header, remoteAddress }) => {
        if (remoteAddress === undefined || !isProxy(remoteAddress)) return remoteAddress
        const hops = header(FORWARDED_FOR)?.split(",") ?? []
        return hops.map((hop) => hop.trim()).findLast((hop) => !isProxy(hop)) ?? remoteAddress
      }
    },
  )

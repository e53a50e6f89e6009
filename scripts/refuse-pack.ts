/**
 * The `prepack` of every package. Its own manifest points to sources, which can't run once they are installed.
 */
const directory = process.env.npm_package_name?.split("/").at(-1) ?? "<name>"
console.error(`Pack the staged package instead: npm run build && npm pack ./packages/${directory}/.package`)
process.exit(1)

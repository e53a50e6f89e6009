/** The `prepack` of every package: its own manifest points to sources, which nobody could run once installed. */
const directory = process.env.npm_package_name?.split("/").at(-1) ?? "<name>"
console.error(`Pack the staged package instead: npm run build && npm pack ./packages/${directory}/.package`)
process.exit(1)

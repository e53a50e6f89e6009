/**
 * All plans: the file for `billwright catalog diff` and `push`.
 */
export { assistantTeam } from "./assistant.ts"
export { deskYearly } from "./desk.ts"
export { mapsGrowth } from "./maps.ts"

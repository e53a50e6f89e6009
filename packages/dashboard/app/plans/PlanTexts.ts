import type { Plan } from "../api/Types.ts"

/** `every month`, `every 3 months`. */
export const intervalText = ({ count, unit }: Plan["terms"]["interval"]): string =>
  count === 1 ? `every ${unit}` : `every ${count} ${unit}s`

import { memory } from "billwright/memory"

export const store = memory()

import { Memory } from "@billwright/memory"

export const storage = Memory.layer

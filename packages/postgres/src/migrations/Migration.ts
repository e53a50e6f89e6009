/**
 * One step in the life of the tables.
 */
import type { SchemaName } from "../SchemaName.ts"

export interface Migration {
  /** 1, 2, 3, … without gaps. Applied ones never change: a test compares digests of their statements. */
  readonly id: number
  readonly name: string
  /**
   * The lowest number of migrations that a release must know to work with the schema after this one. A
   * migration that only adds leaves it; one that breaks older releases raises it to its own id.
   */
  readonly minReader: number
  /** The statements, one command each, without trailing semicolons. */
  readonly statements: (schema: SchemaName) => ReadonlyArray<string>
}

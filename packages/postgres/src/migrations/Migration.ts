/**
 * One migration of the tables.
 */
import type { SchemaName } from "../SchemaName.ts"

export interface Migration {
  /** 1, 2, 3, … without gaps. A released migration never changes: a test compares digests of the statements. */
  readonly id: number
  readonly name: string
  /**
   * How many migrations a release must know to work with the schema after this one. A migration that only adds keeps
   * the number of the one before it. A migration that breaks older releases sets it to its own id.
   */
  readonly minReader: number
  /** The statements, one command each, without trailing semicolons. */
  readonly statements: (schema: SchemaName) => ReadonlyArray<string>
}

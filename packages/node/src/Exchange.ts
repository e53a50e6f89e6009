/**
 * Who waits for the answer to a request. It is told of each part as it comes.
 */
export interface Exchange {
  /** The request is being written. From now on the receiver may see it. */
  onSent(): void
  /** The status and the headers have come. Interim answers (1xx) may come before the final one. */
  onHead(status: number, headers: Readonly<Record<string, string>>): void
  /** A part of the body has come. */
  onBody(bytes: Uint8Array): void
  /** The answer is complete. */
  onEnd(): void
  /** There will be no complete answer. */
  onError(error: Error): void
  /** More bytes have come than are read for one answer. */
  onFlood(): void
}

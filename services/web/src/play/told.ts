/** A text with its language. */
export interface Told {
  readonly text: string;
  /** Undefined: the page's. */
  readonly lang: string | undefined;
}

/** Says one of a game's event templates; knows the names of seats and the game's terms. */
export interface Say {
  (key: string, args: Record<string, string>): string;
  seat(seat: number): string;
  term(key: string): string;
  /** What an item of a catalogue is called. */
  item(id: string): string;
}

/** What a game adds to the sentence of an event: another template than the event's code, ready-made arguments. */
export interface Phrase {
  readonly key?: string;
  readonly args?: Readonly<Record<string, string>>;
}

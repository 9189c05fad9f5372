export const SPEEDS = [0.5, 1, 2, 4, 8] as const;
const STEP_MS = 1000;

/** Plays on by itself, step after step, until a step says that there is none. */
export class Player {
  playing = $state(false);
  speed = $state<number>(1);
  #timer: ReturnType<typeof setTimeout> | undefined;

  toggle(step: () => boolean): void {
    if (this.playing) this.stop();
    else {
      this.playing = true;
      this.#run(step);
    }
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.playing = false;
  }

  faster(by: 1 | -1): void {
    const at = SPEEDS.findIndex((speed) => speed === this.speed);
    this.speed = SPEEDS[at + by] ?? this.speed;
  }

  #run(step: () => boolean): void {
    if (!step()) {
      this.stop();
      return;
    }
    this.#timer = setTimeout(() => this.#run(step), STEP_MS / this.speed);
  }
}

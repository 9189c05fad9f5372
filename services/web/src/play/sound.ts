/** What a tone says; none of them is the only sign of it. */
export type Tone = "turn" | "reaction" | "move" | "gain" | "loss" | "low" | "win" | "end";

/** Notes of each tone: frequency in Hz, when it begins and how long it sounds in seconds. */
const TONES: Readonly<Record<Tone, readonly (readonly [number, number, number])[]>> = {
  turn: [
    [523, 0, 0.12],
    [784, 0.1, 0.2],
  ],
  reaction: [
    [784, 0, 0.09],
    [784, 0.14, 0.09],
  ],
  move: [[330, 0, 0.09]],
  gain: [
    [440, 0, 0.08],
    [554, 0.07, 0.1],
  ],
  loss: [
    [294, 0, 0.1],
    [220, 0.08, 0.16],
  ],
  low: [
    [880, 0, 0.07],
    [880, 0.12, 0.07],
  ],
  win: [
    [523, 0, 0.14],
    [659, 0.12, 0.14],
    [784, 0.24, 0.32],
  ],
  end: [
    [392, 0, 0.16],
    [330, 0.14, 0.28],
  ],
};

let context: AudioContext | null = null;

/** Browsers let a page sound only after a gesture; before one, nothing is even made. */
function ready(): AudioContext | null {
  if (!(navigator.userActivation?.hasBeenActive ?? false)) return null;
  context ??= new AudioContext();
  if (context.state === "suspended") void context.resume();
  return context;
}

/** Sounds a short tone; volume from 0 (silent) to 1. */
export function play(tone: Tone, volume: number): void {
  if (volume <= 0) return;
  const audio = ready();
  if (audio === null) return;
  for (const [frequency, at, length] of TONES[tone]) {
    const begin = audio.currentTime + at;
    const gain = audio.createGain();
    gain.gain.setValueAtTime(0, begin);
    gain.gain.linearRampToValueAtTime(0.16 * volume, begin + 0.012);
    gain.gain.exponentialRampToValueAtTime(0.0008, begin + length);
    const voice = audio.createOscillator();
    voice.type = "triangle";
    voice.frequency.value = frequency;
    voice.connect(gain).connect(audio.destination);
    voice.start(begin);
    voice.stop(begin + length + 0.02);
  }
}

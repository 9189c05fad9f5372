import type { Marks } from "../games/module";

/** Which of its refs a click on a thing means now: put back what is selected, else go on with what was begun, else begin. */
export function meant(refs: readonly string[], marks: Marks): string {
  const found = (set: ReadonlySet<string>) => refs.find((ref) => set.has(ref));
  return found(marks.selected) ?? found(marks.targets) ?? found(marks.usable) ?? refs[0] ?? "";
}

/** How a thing is marked now. */
export function markedAs(refs: readonly string[], marks: Marks): { readonly usable: boolean; readonly target: boolean; readonly selected: boolean } {
  const [usable, target, selected] = [marks.usable, marks.targets, marks.selected].map((set) => refs.some((ref) => set.has(ref)));
  return { usable: usable === true, target: target === true, selected: selected === true };
}

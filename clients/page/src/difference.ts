// What restoring a snapshot changes.
import type { MemoryState, MemoryUnit } from "runtime-memory-client";

export interface Difference {
  /** Of the snapshot, not remembered now. */
  comesBack: MemoryUnit[];
  /** Remembered now, not of the snapshot. */
  goesAway: MemoryUnit[];
  /** Of both, with other words: as they will be again. */
  changesBack: MemoryUnit[];
  typed: boolean;
}

/** What is different in `then`, seen from `now`. */
export function difference(now: MemoryState, then: MemoryState): Difference {
  const [today, former] = [unitsOf(now), unitsOf(then)];
  return {
    comesBack: [...former.values()].filter((unit) => !today.has(unit.id)),
    goesAway: [...today.values()].filter((unit) => !former.has(unit.id)),
    changesBack: [...former.values()].filter((unit) => (today.get(unit.id)?.text ?? unit.text) !== unit.text),
    typed: JSON.stringify(now.dataMemoryUnits) !== JSON.stringify(then.dataMemoryUnits),
  };
}

function unitsOf(state: MemoryState): Map<string, MemoryUnit> {
  const units = [...state.shortTermMemoryUnits, ...state.sessionMemoryUnits, ...state.userMemoryUnits];
  return new Map(units.map((unit) => [unit.id, unit]));
}

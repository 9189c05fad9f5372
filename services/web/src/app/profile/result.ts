import { OutcomeKind } from "../../gen/grimoire/v1/match_pb";
import type { MatchSummary } from "../../gen/grimoire/v1/matchmaking_pb";

export type Result = "won" | "lost" | "drawn" | "void" | "running" | "over";

/** How a match ended for whoever sits in the seats marked as the caller's. */
export function resultOf(match: MatchSummary): Result {
  const { closed } = match;
  if (!match.finished || closed === undefined) return "running";
  switch (closed.kind) {
    case OutcomeKind.VOID:
      return "void";
    case OutcomeKind.COOP_WON:
      return "won";
    case OutcomeKind.COOP_LOST:
      return "lost";
    case OutcomeKind.DRAW:
      return "drawn";
    default: {
      const mine = match.seats.find((seat) => seat.mine);
      const rank = mine === undefined ? undefined : closed.ranks[mine.seat];
      if (rank === undefined) return "over";
      if (rank !== 1) return "lost";
      return closed.ranks.filter((other) => other === 1).length > 1 ? "drawn" : "won";
    }
  }
}

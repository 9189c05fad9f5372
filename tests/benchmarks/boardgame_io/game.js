// A game of the same shape as Two Towers on boardgame.io: two seats, hidden hands, stocks, towers, one card a turn.
const RESOURCES = ["ore", "mana", "recruits"];
const HAND = 6;

const side = () => ({ tower: 20, wall: 5, stock: [5, 5, 5], producers: [2, 2, 2] });

module.exports.TowerGame = {
  name: "towers",
  setup: ({ random }) => ({
    sides: [side(), side()],
    hands: [0, 1].map(() => Array.from({ length: HAND }, () => random.Die(102))),
    discards: [],
    turns: 0,
  }),
  playerView: ({ G, playerID }) => ({
    ...G,
    hands: G.hands.map((hand, seat) => (String(seat) === playerID ? hand : hand.map(() => 0))),
  }),
  turn: { minMoves: 1, maxMoves: 1 },
  moves: {
    play: ({ G, ctx, random }, slot) => {
      const seat = Number(ctx.currentPlayer);
      const [mine, theirs] = [G.sides[seat], G.sides[1 - seat]];
      const card = G.hands[seat][slot];
      if (card === undefined) return "INVALID_MOVE";
      RESOURCES.forEach((_, n) => {
        mine.stock[n] += mine.producers[n];
      });
      mine.stock[card % 3] = Math.max(0, mine.stock[card % 3] - (card % 12));
      if (card % 2 === 0) mine.tower += 1;
      else theirs.wall = Math.max(0, theirs.wall - 1);
      G.discards.push(card);
      G.hands[seat][slot] = random.Die(102);
      G.turns += 1;
    },
  },
};

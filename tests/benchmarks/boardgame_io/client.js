// Two seats of every match over socket.io; each moves as soon as it sees its turn: node client.js PORT MATCHES SECONDS
const { Client } = require("boardgame.io/client");
const { SocketIO } = require("boardgame.io/multiplayer");
const { TowerGame } = require("./game");

const [port, matches, seconds] = process.argv.slice(2).map(Number);
const url = `http://127.0.0.1:${port}`;
const lobby = `http://127.0.0.1:${port + 1}`;
const WARM_MS = 1500;
let moves = 0;
let counting = false;

async function post(path, body) {
  const answer = await fetch(`${lobby}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}

async function table() {
  const { matchID } = await post("/games/towers/create", { numPlayers: 2 });
  for (const playerID of ["0", "1"]) {
    const { playerCredentials } = await post(`/games/towers/${matchID}/join`, { playerID, playerName: playerID });
    const client = Client({
      game: TowerGame,
      multiplayer: SocketIO({ server: url }),
      matchID,
      playerID,
      credentials: playerCredentials,
      debug: false,
    });
    let moved = -1;
    client.subscribe((state) => {
      if (state === null || !client.getState()?.isConnected) return;
      if (state.ctx.currentPlayer === playerID && state._stateID !== moved) {
        moved = state._stateID;
        if (counting) moves += 1;
        setImmediate(() => client.moves.play(moved % 6));
      }
    });
    client.start();
  }
}

(async () => {
  for (let n = 0; n < matches; n += 1) await table();
  await new Promise((resolve) => setTimeout(resolve, WARM_MS));
  counting = true;
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  counting = false;
  console.log(JSON.stringify({ rate: moves / seconds }));
  process.exit(0);
})();

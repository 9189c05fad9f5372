// boardgame.io with its in-memory store; its lobby listens one port higher: node server.js PORT
const { Server } = require("boardgame.io/server");
const { TowerGame } = require("./game");

const server = Server({ games: [TowerGame], origins: [/127\.0\.0\.1/] });
const port = Number(process.argv[2]);
server.run({ port, lobbyConfig: { apiPort: port + 1 } }, () => console.log("ready"));

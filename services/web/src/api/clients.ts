import { createClient } from "@connectrpc/connect";

import { AccountService } from "../gen/grimoire/v1/account_pb";
import { ChatService } from "../gen/grimoire/v1/chat_pb";
import { LobbyService } from "../gen/grimoire/v1/lobby_pb";
import { MatchmakingService } from "../gen/grimoire/v1/matchmaking_pb";
import { PlayService, SessionService } from "../gen/grimoire/v1/play_pb";
import { transport } from "./transport";

export const sessions = createClient(SessionService, transport);
export const accounts = createClient(AccountService, transport);
export const play = createClient(PlayService, transport);
export const lobby = createClient(LobbyService, transport);
export const matchmaking = createClient(MatchmakingService, transport);
export const chat = createClient(ChatService, transport);

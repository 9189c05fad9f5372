/** The published test vectors, each with its computation: anyone may watch them come out. */
import { type Bytes, hex, unhex, utf8 } from "./bytes";
import { streamOf } from "./draws";
import { hmacText, linkHash, partBytes, sha256Text, text } from "./formulas";
import type { Hasher } from "./hasher";
import { leafHash, nodeHash } from "./merkle";
import { isSigned, readCheckpoint, readKey } from "./note";

export interface Vector {
  readonly name: string;
  readonly expected: string;
  compute(hasher: Hasher): Promise<string>;
}

const GAME = "two_towers";
const MATCH = "tt-vector-1";
const SEED = Uint8Array.from({ length: 32 }, (_, n) => n);
const NONCES = [new Uint8Array(32).fill(0x11), new Uint8Array(32).fill(0x22)] as const;
const JOINT = unhex("a3cf2d2ced3fa6c8ef17d2865fbf425b0abd714bef60d21fccfe9a5b0ccd4f87");
const COMMITMENT = "a69e6e1196a108796ef35c779e4f58e74ef6b60defc5048c8e199210581bcd7b";
const HASH_1 = unhex("dd07d55b05b9a16e1493ea58ea6ae4d74cfc955fb7867f021690ef220ed718e6");
const HASH_2 = "c44941a3fee77c6ff6ba96e7da0b28bb9518f439e238c65413b030c35d47f50a";
const SALT = "c61f2236ed98eaf196a3871a591098649b051efb366de028d5a373d82f85c487";
const LOG_KEY = "example.com/log+d455c521+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4";
const CHECKPOINT = [
  "example.com/log",
  "2",
  "MJoKhcUrpJaPBpYRqJ9oW+AZyUOhlBTQZsJSw8C7dDU=",
  "",
  "\u2014 example.com/log 1FXFIY/dZzPX437iQypuOobaiBOOIVniRVkYcoP2PNyCUIy/RP/YJObLXOXOENgn3LCoVzAp18hxxID+udwt0vfJbgk=",
  "",
].join("\n");
const LEAVES = [
  `grimoire/log/commit/1\n${MATCH}\n${GAME}\n${"aa".repeat(32)}\n${COMMITMENT}\n1767225600000\n`,
  `grimoire/log/start/1\n${MATCH}\n${HASH_2}\n1767225601000\n`,
] as const;

/** The cards of Two Towers in the order of their catalogue. */
const CARDS = `
  brick_shortage earthquake strip_mine lucky_cache friendly_terrain rock_garden innovations basic_wall
  work_overtime sturdy_wall foundations miners mother_lode collapse copping_the_tech big_wall flood_water
  new_equipment dwarven_miners forced_labor tremors reinforced_wall secret_room portcullis crystal_rocks barracks
  harmonic_ore mondo_wall battlements focused_designs great_wall shift rock_launcher dragons_heart bag_of_baubles
  rainbow quartz amethyst smoky_quartz prism gemstone_flaw power_burn ruby spell_weavers solar_flare gem_spear
  quarrys_help apprentice discord lodestone crystal_matrix emerald harmonic_vibe crumblestone parity shatterer
  crystallize pearl_of_wisdom sapphire lightning_shard crystal_shield fire_ruby empathy_gem sanctuary diamond
  lava_jewel phase_jewel dragons_eye mad_cow_disease full_moon moody_goblins faerie gnome spearman elven_scouts
  goblin_mob minotaur orc berserker goblin_archers dwarves slasher imp rabid_sheep little_snakes ogre
  shadow_faerie troll_trainer tower_gremlin spizzer unicorn werewolf elven_archers corrosion_cloud rock_stompers
  thief warlord succubus stone_giant vampire pegasus_lancer dragon
`
  .trim()
  .split(/\s+/);

async function part(hasher: Hasher): Promise<{ salt: Bytes; digest: Bytes }> {
  const salt = (await hmacText(hasher, SEED, text.partSalt(MATCH, 2, "seat/0"))).slice(0, 16);
  return { salt, digest: await hasher.sha256(partBytes("seat/0", salt, utf8("ruby"))) };
}

async function cards(hasher: Hasher, label: string, from: readonly string[]): Promise<string[]> {
  const order = await (await streamOf(hasher, GAME, JOINT, label)).shuffle(from.length);
  return order.map((index) => from[index] ?? "");
}

async function standardDeal(hasher: Hasher): Promise<string> {
  const deal = ["standard", "1", (await cards(hasher, "deck", CARDS)).join(",")];
  return hex(await sha256Text(hasher, text.deal(GAME, MATCH, unhex(SALT), deal)));
}

const of = (name: string, expected: string, compute: Vector["compute"]): Vector => ({ name, expected, compute });

export const VECTORS: readonly Vector[] = [
  of("commitment", COMMITMENT, async (h) => hex(await sha256Text(h, text.commitment(GAME, MATCH, SEED)))),
  of("seal_0", "2b09ac24ecac9e389b043a498e576cc3b1da140e9ffc2ebcc3dfe03636f887d5", async (h) =>
    hex(await sha256Text(h, text.seal(GAME, MATCH, 0, NONCES[0]))),
  ),
  of("seal_1", "4e078de40d5f572718e222ab90341a86eeefe48ff93ff581d7243550ab4b4783", async (h) =>
    hex(await sha256Text(h, text.seal(GAME, MATCH, 1, NONCES[1]))),
  ),
  of("joint", hex(JOINT), async (h) => hex(await sha256Text(h, text.joint(GAME, MATCH, SEED, NONCES)))),
  of("salt", SALT, async (h) => hex(await hmacText(h, JOINT, text.salt(GAME)))),
  of("first_word", "11174516263788401379", async (h) => String(await (await streamOf(h, GAME, JOINT, "first_seat")).word())),
  of("below", "1", async (h) => String(await (await streamOf(h, GAME, JOINT, "first_seat")).below(2))),
  of("sample", "6, 1, 9, 2", async (h) => {
    const sample = await (await streamOf(h, GAME, JOINT, "x/1")).sample(12, 4);
    return sample.map((index) => index + 1).join(", ");
  }),
  of("phrase", "bd143ad67e4c873307211336718aefec8f656e42e3daeb84f8774d99c2821c47", async (h) =>
    hex(await sha256Text(h, text.phrase(new Uint8Array(32).fill(0x33), "open sesame"))),
  ),
  of("hash_0", "522216945be1987cbfadf1e5bd833d2e35677b3303efc52ea6a1e68a84ce6e04", async (h) =>
    hex(await sha256Text(h, text.genesis(MATCH))),
  ),
  of("hash_1", hex(HASH_1), async (h) => {
    const genesis = await sha256Text(h, text.genesis(MATCH));
    return hex(await linkHash(h, genesis, utf8("header-1"), utf8("public-1"), []));
  }),
  of("part_salt", "57fa197d586e206670cabe5fef95985f", async (h) => hex((await part(h)).salt)),
  of("part_digest", "6dd8d83a7c620afd15e0a22d523aa3f93b4939e5a9cf35f57be76ccc5027cb4d", async (h) => hex((await part(h)).digest)),
  of("hash_2", HASH_2, async (h) => {
    const { digest } = await part(h);
    return hex(await linkHash(h, HASH_1, utf8("header-2"), utf8("public-2"), [{ audience: "seat/0", digest }]));
  }),
  of("standard_first", "dragons_heart rabid_sheep succubus emerald forced_labor troll_trainer", async (h) =>
    (await cards(h, "deck", CARDS)).slice(0, 6).join(" "),
  ),
  of("standard_digest", "7a59ecc3d8fc4093d7b5989525288ebe08a228afcca4b53b4e5e044878064d65", standardDeal),
  of("reshuffle", "earthquake friendly_terrain lucky_cache brick_shortage strip_mine rock_garden", async (h) =>
    (await cards(h, "reshuffle/1", CARDS.slice(0, 6))).join(" "),
  ),
  of("draw_13", "elven_archers gnome ogre", async (h) => {
    const stream = await streamOf(h, GAME, JOINT, "draw/13");
    const drawn: string[] = [];
    for (let n = 0; n < 3; n++) drawn.push(CARDS[await stream.below(CARDS.length)] ?? "");
    return drawn.join(" ");
  }),
  of("leaf_0", "12dfe2fadb6a9898fffd22e5014447573546588a27d29f1b130a851d1997fe17", async (h) => hex(await leafHash(h, utf8(LEAVES[0])))),
  of("leaf_1", "a68d2f1a8af357b5a43d8692e04992dc6a44e74df37c208b5d294ba90bf7c125", async (h) => hex(await leafHash(h, utf8(LEAVES[1])))),
  of("log_root", "309a0a85c52ba4968f069611a89f685be019c943a19414d066c252c3c0bb7435", async (h) =>
    hex(await nodeHash(h, await leafHash(h, utf8(LEAVES[0])), await leafHash(h, utf8(LEAVES[1])))),
  ),
  of("signature", "true", async (h) => {
    const key = await readKey(h, LOG_KEY);
    const checkpoint = readCheckpoint(utf8(CHECKPOINT));
    return String(key !== null && checkpoint !== null && (await isSigned(h, checkpoint, key)));
  }),
];

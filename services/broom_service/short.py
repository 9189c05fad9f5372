"""What a view shows, in signs and in words: towers, clouds, tiles, the trick, open steps, what a seat has.

Every sign stands beside its word somewhere on the same page, and nothing is told by colour alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from broom_service.boards import BOARDS, Board
from broom_service.names import name_of, pawn_name
from broom_service.resources import read
from broom_service.roles import EVENT
from broom_service.text import amounts_words
from broom_service.tiles import TILES
from broom_service.words import Words, words_in
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb

__all__ = [
    "CASTLE_SIGN",
    "CLOUD_SIGN",
    "LIGHTNING_SIGN",
    "SEAT_SIGNS",
    "STORM_SIGN",
    "WITCHED_SIGN",
    "board_of",
    "cards_left",
    "charmed_words",
    "cloud_sign",
    "cloud_words",
    "clouds_at",
    "legend",
    "open_steps",
    "pawns_at",
    "play_words",
    "region_words",
    "resources_words",
    "scoring_words",
    "seat_flags",
    "step_words",
    "tile_at",
    "tile_sign",
    "tower_sign",
    "tower_words",
    "towers_at",
    "trick_of",
]

SEAT_SIGNS: Final = ("●", "▲", "■", "◆", "✚")
"""By which players are told apart all over the client."""
CASTLE_SIGN: Final = "♜"
CLOUD_SIGN: Final = "☁"
STORM_SIGN: Final = "≋"
LIGHTNING_SIGN: Final = "↯"
WITCHED_SIGN: Final = "☠"
_WAND_SIGN: Final = "+"
_OCCUPIED_SIGN: Final = "×"

_TILE_SIGNS: Final = {"take": "", "deliver": "♟→", "moves": "»2", "dispel": "☁×"}
_FOREST_SIGNS: Final = {"brave_action": "♥", "extra_role": "+1", "five_points": "+5"}

_LEGEND: Final = (
    "regions",
    "pawns",
    "castle",
    "circle",
    "round",
    "square",
    "wands",
    "occupied",
    "cloud",
    "storm",
    "mountain",
    "forest",
    "hill",
    "bewitched",
    "hand",
    "won",
    "turn",
)


def legend(language: str) -> tuple[str, ...]:
    """What the signs mean, one line each."""
    words = words_in(language)
    return tuple(words.terminal[f"legend_{key}"] for key in _LEGEND)


# ---- signs -----------------------------------------------------------------------------------------------------------


def tower_sign(tower: pb.TowerView) -> str:
    """Colour, small for a round tower and large for a square one; points, a plus for each wand; or that it is occupied.

    >>> tower_sign(pb.TowerView(colour="purple", shape="round", vp=3, wands=1))
    'p3+'
    >>> tower_sign(pb.TowerView(colour="orange", shape="square", vp=4))
    'O4'
    >>> tower_sign(pb.TowerView(colour="green", shape="round", vp=9, occupied=True))
    'g×'
    """
    colour = tower.colour[:1]
    if tower.occupied:
        return f"{colour}{_OCCUPIED_SIGN}"
    return f"{colour.upper() if tower.shape == 'square' else colour}{tower.vp}{_WAND_SIGN * tower.wands}"


def cloud_sign(cloud: pb.CloudView) -> str:
    """Its kind and its stars, and its lightning.

    >>> cloud_sign(pb.CloudView(stars=2, lightning=1)), cloud_sign(pb.CloudView(stars=1, storm="gust"))
    ('☁2↯1', '≋1↯0')
    """
    return f"{STORM_SIGN if cloud.storm else CLOUD_SIGN}{cloud.stars}{LIGHTNING_SIGN}{cloud.lightning}"


def tile_sign(tile: str) -> str:
    """What a tile gives, in three cells.

    >>> [tile_sign(each) for each in ("m_potions", "m_wands", "f_five_1", "h_ac", "h_vat")]
    ['ogp', '+w2', '+5', 'A/C', 'O7']
    """
    record = TILES[tile]
    params = record.params
    if record.effect == "take":
        return f"+w{params.wand}" if params.wand else "ogp"
    if record.effect == "turbo":
        return "/".join(params.circles)
    if record.effect == "tower":
        return f"{(params.colour or '')[:1].upper()}{params.vp}"
    return _TILE_SIGNS.get(record.effect) or _FOREST_SIGNS[record.effect]


# ---- look-ups --------------------------------------------------------------------------------------------------------


def board_of(view: pb.View) -> Board:
    """The side of the board that is played on."""
    return BOARDS[view.board or "front"]


def towers_at(view: pb.View, region: str) -> list[pb.TowerView]:
    """Towers that touch a region, those of the match."""
    return [tower for tower in view.towers if region in tower.touches and not tower.covered]


def clouds_at(view: pb.View, region: str) -> list[pb.CloudView]:
    """Clouds that hang over a region."""
    return [cloud for cloud in view.clouds if cloud.region == region]


def tile_at(view: pb.View, region: str) -> str:
    """The landscape tile in a region; empty: there is none."""
    return next((tile.tile for tile in view.tiles if tile.region == region), "")


def pawns_at(view: pb.View, region: str) -> list[tuple[int, int]]:
    """Seats and pawns that stand there."""
    return [(seat.seat, pawn) for seat in view.seats for pawn, place in enumerate(seat.pawns) if place == region]


def trick_of(view: pb.View) -> list[pb.Play]:
    """What was laid down and passed in the last trick that has begun, in order."""
    return [play for play in view.plays if play.trick_no == view.trick_no]


def open_steps(view: pb.View) -> list[pb.Step]:
    """Steps that may be taken now: the top of the stack (BS-6.1)."""
    top = max((step.group for step in view.steps), default=0)
    return [step for step in view.steps if step.group == top]


# ---- words -----------------------------------------------------------------------------------------------------------


def resources_words(resources: pb.Resources, language: str) -> str:
    """Resources, those that are not 0."""
    return amounts_words(read(resources), language)


def tower_words(tower: pb.TowerView, language: str, *, without: str = "") -> str:
    """A tower with what it is worth, and the regions that it touches besides one.

    >>> tower = pb.TowerView(tower="orange_rd_08", colour="orange", shape="round", vp=3, touches=["h6", "f6"])
    >>> tower_words(tower, "en", without="h6")
    'orange round tower 8, VP 3, also forest 6'
    """
    say = words_in(language).terminal
    key = "tower_occupied" if tower.occupied else "tower_wands" if tower.wands else "tower"
    line = say[key].format(tower=name_of(tower.tower, language), vp=tower.vp, wands=tower.wands)
    others = [name_of(region, language) for region in tower.touches if region != without]
    if not others or not without:
        return line
    return say["tower_also"].format(tower=line, regions=", ".join(others))


def cloud_words(cloud: pb.CloudView, language: str) -> str:
    """A cloud and where it hangs."""
    say = words_in(language)
    return say.terminal["cloud"].format(cloud=name_of(cloud.cloud, language), region=name_of(cloud.region, language))


def play_words(play: pb.Play, view: pb.View, language: str, names: Mapping[int, str]) -> str:
    """What one seat did in a trick: played brave or cowardly, with what, out, or passed."""
    words = words_in(language)
    say = words.terminal
    seat = words.seat(play.seat, names)
    if play.passed:
        return say["play_next"].format(seat=seat)
    if play.spent_role:
        return say["play_spent"].format(seat=seat)
    if play.outdone:
        return say["play_out"].format(seat=seat)
    if play.instead:
        what = view.event if play.instead == EVENT else play.instead
        return say["play_instead"].format(seat=seat, what=name_of(what, language))
    return say[f"play_{play.stance}"].format(seat=seat)


def step_words(step: pb.Step, language: str) -> str:
    """An open step: what may be done, how much of it, where."""
    say = words_in(language).terminal
    line = say[_step_key(step)].format(
        list=amounts_words(read(step.take), language),
        n=step.moves,
        terrains=say["or"].join(name_of(each, language) for each in step.terrains),
        region=name_of(step.region, language),
        pawn=pawn_name(step.pawn, language),
        circles=say["or"].join(step.circles),
    )
    if step.bonus_vp:
        line = say["step_bonus"].format(step=line, n=step.bonus_vp)
    return say["step_cause"].format(step=line, cause=name_of(step.cause, language)) if step.cause else line


def _step_key(step: pb.Step) -> str:
    if step.kind == "gather":
        return "step_gather_one" if step.one else "step_gather"
    if step.kind == "move":
        return "step_move_terrains" if step.terrains else "step_move"
    if step.kind == "deliver":
        if step.region:
            return "step_deliver_region"
        return "step_deliver_terrains" if step.terrains else "step_deliver"
    return f"step_{step.kind}"


def cards_left(seat: pb.SeatView) -> str:
    """How many role cards it has; a question mark while that is hidden."""
    return str(seat.cards_left) if seat.HasField("cards_left") else "?"


def charmed_words(seat: pb.SeatView, language: str) -> str:
    """Clouds that a seat has charmed away: how many, their bolts, what those are worth."""
    say = words_in(language).terminal
    return say["charmed"].format(n=len(seat.clouds), lightning=seat.lightning, vp=seat.lightning_vp)


def scoring_words(seat: pb.SeatView, language: str) -> str:
    """What the final scoring would bring a seat now."""
    say = words_in(language).terminal
    total = seat.lightning_vp + seat.sets_vp + seat.amulets_vp
    return say["scoring"].format(
        lightning=seat.lightning_vp, sets=seat.sets_vp, amulets=seat.amulets_vp, vp=seat.vp, sum=seat.vp + total
    )


def seat_flags(seat: pb.SeatView, view: pb.View, words: Words) -> Iterator[str]:
    """What is special about a seat now."""
    say = words.terminal
    if seat.retired:
        yield say["flag_retired"]
    if view.HasField("result"):
        return
    if view.HasField("brave_seat") and view.brave_seat == seat.seat:
        yield say["flag_brave"]
    if view.trick_no and view.leader == seat.seat:
        yield say["flag_leads"]
    if seat.seat in view.asked:
        yield say["flag_asked"]


def region_words(region: str, view: pb.View, language: str, names: Mapping[int, str]) -> str:
    """Everything in a region: castle, circle or tile, clouds, pawns, towers, and what lies beside it."""
    say = words_in(language).terminal
    parts = [*_region_parts(region, view, language, names)]
    beside = sorted(board_of(view).adjacent[region], key=board_of(view).regions.index)
    parts.append(say["beside"].format(regions=", ".join(name_of(each, language) for each in beside)))
    return say["region"].format(region=name_of(region, language), parts=say["then"].join(parts))


def _region_parts(region: str, view: pb.View, language: str, names: Mapping[int, str]) -> Iterable[str]:
    words, board = words_in(language), board_of(view)
    say = words.terminal
    if region in board.castles:
        yield name_of("castle", language)
    yield from (name_of(circle, language) for circle, place in board.circles.items() if place == region)
    tile = tile_at(view, region)
    if tile:
        yield say["tile"].format(tile=name_of(tile, language))
    pawns = pawns_at(view, region)
    if pawns:
        yield say["pawns"].format(pawns=_listed((words.seat(seat, names) for seat, _ in pawns), words))
    clouds = clouds_at(view, region)
    if clouds:
        yield ", ".join(name_of(cloud.cloud, language) for cloud in clouds)
    towers = towers_at(view, region)
    if towers:
        yield say["then"].join(tower_words(tower, language, without=region) for tower in towers)


def _listed(texts: Iterable[str], words: Words) -> str:
    """Texts, those alike counted."""
    counted: dict[str, int] = {}
    for text in texts:
        counted[text] = counted.get(text, 0) + 1
    say: str = words.terminal["times"]
    named: Sequence[str] = [say.format(what=text, n=n) if n > 1 else text for text, n in counted.items()]
    return ", ".join(named)

"""TT-2.4: every card against what its text says. The expectations were written from the texts, not from the data."""

from __future__ import annotations

import pytest

from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from tests.two_towers.table import GAME, Table
from two_towers.cards import CARDS
from two_towers.fields import FIELDS

# Both seats before the card, unless a case says otherwise; goals are out of reach.
BEFORE = {
    "tower": 20,
    "wall": 10,
    "mines": 3,
    "monasteries": 3,
    "barracks": 3,
    "ore": 40,
    "mana": 40,
    "recruits": 40,
}
GOALS = {"goal_tower": 1000, "goal_resource": 1000}

# card, cost, what it does to oneself, what it does to the enemy, [own numbers before, enemy's numbers before]
CASES: list[tuple[str, str, str, str, str, str]] = [
    ("brick_shortage", "0 ore", "ore-8", "ore-8", "", ""),
    ("earthquake", "0 ore", "mines-1", "mines-1", "", ""),
    ("strip_mine", "0 ore", "mines-1 wall+10 mana+5", "", "", ""),
    ("lucky_cache", "0 ore", "ore+2 mana+2", "", "", ""),
    ("friendly_terrain", "1 ore", "wall+1", "", "", ""),
    ("rock_garden", "1 ore", "wall+1 tower+1 recruits+2", "", "", ""),
    ("innovations", "2 ore", "mines+1 mana+4", "mines+1", "", ""),
    ("basic_wall", "2 ore", "wall+3", "", "", ""),
    ("work_overtime", "2 ore", "wall+5 mana-6", "", "", ""),
    ("sturdy_wall", "3 ore", "wall+4", "", "", ""),
    ("foundations", "3 ore", "wall+3", "", "", ""),
    ("foundations", "3 ore", "wall+5", "", "wall=0", ""),
    ("miners", "3 ore", "mines+1", "", "", ""),
    ("mother_lode", "4 ore", "mines+1", "", "", ""),
    ("mother_lode", "4 ore", "mines+2", "", "", "mines=4"),
    ("collapse", "4 ore", "", "mines-1", "", ""),
    ("copping_the_tech", "5 ore", "", "", "", ""),
    ("copping_the_tech", "5 ore", "", "", "mines=4", ""),
    ("copping_the_tech", "5 ore", "mines+5", "", "", "mines=8"),
    ("big_wall", "5 ore", "wall+6", "", "", ""),
    ("flood_water", "6 ore", "", "", "", ""),
    ("flood_water", "6 ore", "barracks-1 tower-2", "", "wall=9", ""),
    ("flood_water", "6 ore", "", "barracks-1 tower-2", "", "wall=9"),
    ("new_equipment", "6 ore", "mines+2", "", "", ""),
    ("dwarven_miners", "7 ore", "wall+4 mines+1", "", "", ""),
    ("forced_labor", "7 ore", "wall+9 recruits-5", "", "", ""),
    ("tremors", "7 ore", "wall-5", "wall-5", "", ""),
    ("tremors", "7 ore", "wall-3", "wall-5", "wall=3", ""),
    ("reinforced_wall", "8 ore", "wall+8", "", "", ""),
    ("secret_room", "8 ore", "monasteries+1", "", "", ""),
    ("portcullis", "9 ore", "wall+5 barracks+1", "", "", ""),
    ("crystal_rocks", "9 ore", "wall+7 mana+7", "", "", ""),
    ("barracks", "10 ore", "recruits+6 wall+6", "", "", ""),
    ("barracks", "10 ore", "recruits+6 wall+6 barracks+1", "", "", "barracks=4"),
    ("harmonic_ore", "11 ore", "wall+6 tower+3", "", "", ""),
    ("mondo_wall", "13 ore", "wall+12", "", "", ""),
    ("battlements", "14 ore", "wall+7", "wall-6", "", ""),
    ("focused_designs", "15 ore", "wall+8 tower+5", "", "", ""),
    ("great_wall", "16 ore", "wall+15", "", "", ""),
    ("shift", "17 ore", "wall+7", "wall-7", "", "wall=17"),
    ("shift", "17 ore", "", "", "", ""),
    ("rock_launcher", "18 ore", "wall+6", "wall-10", "", ""),
    ("dragons_heart", "24 ore", "wall+20 tower+8", "", "", ""),
    ("bag_of_baubles", "0 mana", "tower+1", "", "", ""),
    ("bag_of_baubles", "0 mana", "tower+2", "", "", "tower=21"),
    ("rainbow", "0 mana", "tower+1 mana+3", "tower+1", "", ""),
    ("quartz", "1 mana", "tower+1", "", "", ""),
    ("amethyst", "2 mana", "tower+3", "", "", ""),
    ("smoky_quartz", "2 mana", "", "tower-1", "", ""),
    ("prism", "2 mana", "", "", "", ""),
    ("gemstone_flaw", "2 mana", "", "tower-3", "", ""),
    ("power_burn", "3 mana", "tower-5 monasteries+2", "", "", ""),
    ("ruby", "3 mana", "tower+5", "", "", ""),
    ("spell_weavers", "3 mana", "monasteries+1", "", "", ""),
    ("solar_flare", "4 mana", "tower+2", "tower-2", "", ""),
    ("gem_spear", "4 mana", "", "tower-5", "", ""),
    ("quarrys_help", "4 mana", "tower+7 ore-10", "", "", ""),
    ("apprentice", "5 mana", "tower+4 recruits-3", "tower-2", "", ""),
    ("discord", "5 mana", "tower-7 monasteries-1", "tower-7 monasteries-1", "", ""),
    ("lodestone", "5 mana", "tower+8", "", "", ""),
    ("crystal_matrix", "6 mana", "monasteries+1 tower+3", "tower+1", "", ""),
    ("emerald", "6 mana", "tower+8", "", "", ""),
    ("harmonic_vibe", "7 mana", "monasteries+1 tower+3 wall+3", "", "", ""),
    ("crumblestone", "7 mana", "tower+5", "ore-6", "", ""),
    ("parity", "7 mana", "", "", "", ""),
    ("parity", "7 mana", "monasteries+2", "", "", "monasteries=5"),
    ("parity", "7 mana", "", "monasteries+2", "monasteries=5", ""),
    ("shatterer", "8 mana", "monasteries-1", "tower-9", "", ""),
    ("crystallize", "8 mana", "tower+11 wall-6", "", "", ""),
    ("pearl_of_wisdom", "9 mana", "tower+5 monasteries+1", "", "", ""),
    ("sapphire", "10 mana", "tower+11", "", "", ""),
    ("lightning_shard", "11 mana", "", "tower-8", "", ""),
    ("lightning_shard", "11 mana", "wall-8", "wall-8", "", "wall=20"),
    ("crystal_shield", "12 mana", "tower+8 wall+3", "", "", ""),
    ("fire_ruby", "13 mana", "tower+6", "tower-4", "", ""),
    ("empathy_gem", "14 mana", "tower+8 barracks+1", "", "", ""),
    ("sanctuary", "15 mana", "tower+10 wall+5 recruits+5", "", "", ""),
    ("diamond", "16 mana", "tower+15", "", "", ""),
    ("lava_jewel", "17 mana", "tower+12", "wall-6", "", ""),
    ("phase_jewel", "18 mana", "tower+13 recruits+6 ore+6", "", "", ""),
    ("dragons_eye", "21 mana", "tower+20", "", "", ""),
    ("mad_cow_disease", "0 recruits", "recruits-6", "recruits-6", "", ""),
    ("full_moon", "0 recruits", "barracks+1 recruits+3", "barracks+1", "", ""),
    ("moody_goblins", "1 recruits", "mana-3", "wall-4", "", ""),
    ("faerie", "1 recruits", "", "wall-2", "", ""),
    ("gnome", "2 recruits", "mana+1", "wall-3", "", ""),
    ("spearman", "2 recruits", "", "wall-2", "", ""),
    ("spearman", "2 recruits", "", "wall-3", "wall=11", ""),
    ("elven_scouts", "2 recruits", "", "", "", ""),
    ("goblin_mob", "3 recruits", "wall-3", "wall-6", "", ""),
    ("minotaur", "3 recruits", "barracks+1", "", "", ""),
    ("orc", "3 recruits", "", "wall-5", "", ""),
    ("berserker", "4 recruits", "tower-3", "wall-8", "", ""),
    ("goblin_archers", "4 recruits", "wall-1", "tower-3", "", ""),
    ("dwarves", "5 recruits", "wall+3", "wall-4", "", ""),
    ("slasher", "5 recruits", "", "wall-6", "", ""),
    ("imp", "5 recruits", "ore-5 mana-5 recruits-5", "wall-6 ore-5 mana-5 recruits-5", "", ""),
    ("rabid_sheep", "6 recruits", "", "wall-6 recruits-3", "", ""),
    ("little_snakes", "6 recruits", "", "tower-4", "", ""),
    ("ogre", "6 recruits", "", "wall-7", "", ""),
    ("ogre", "6 recruits", "", "wall-3 tower-4", "", "wall=3"),
    ("shadow_faerie", "6 recruits", "", "tower-2", "", ""),
    ("troll_trainer", "7 recruits", "barracks+2", "", "", ""),
    ("tower_gremlin", "8 recruits", "wall+4 tower+2", "wall-2", "", ""),
    ("spizzer", "8 recruits", "", "wall-6", "", ""),
    ("spizzer", "8 recruits", "", "tower-10", "", "wall=0"),
    ("unicorn", "9 recruits", "", "wall-8", "", ""),
    ("unicorn", "9 recruits", "", "wall-10 tower-2", "monasteries=4", ""),
    ("werewolf", "9 recruits", "", "wall-9", "", ""),
    ("elven_archers", "10 recruits", "", "wall-6", "", ""),
    ("elven_archers", "10 recruits", "", "tower-6", "wall=11", ""),
    ("corrosion_cloud", "11 recruits", "", "wall-7", "", ""),
    ("corrosion_cloud", "11 recruits", "", "wall-10", "", "wall=11"),
    ("rock_stompers", "11 recruits", "", "wall-8 mines-1", "", ""),
    ("thief", "12 recruits", "mana+5 ore+3", "mana-10 ore-5", "", ""),
    ("thief", "12 recruits", "mana+4 ore+1", "mana-7 ore-2", "", "mana=7 ore=2"),
    ("warlord", "13 recruits", "mana-3", "wall-10 tower-3", "", ""),
    ("succubus", "14 recruits", "", "tower-5 recruits-6", "", ""),
    ("stone_giant", "15 recruits", "wall+4", "wall-10", "", ""),
    ("vampire", "17 recruits", "", "wall-10 recruits-5 barracks-1", "", ""),
    ("pegasus_lancer", "18 recruits", "", "tower-12", "", ""),
    ("dragon", "25 recruits", "", "wall-10 tower-10 mana-10 barracks-1", "", ""),
]

ACT_AGAIN = {
    "lucky_cache",
    "friendly_terrain",
    "tremors",
    "secret_room",
    "quartz",
    "smoky_quartz",
    "prism",
    "faerie",
    "elven_scouts",
    "shadow_faerie",
}


def named(text: str, sign: str) -> dict[str, int]:
    """`wall=0 ore=2` by field."""
    return {name: int(value) for name, _, value in (item.partition(sign) for item in text.split())}


def changed(before: dict[str, int], text: str) -> dict[str, int]:
    """The numbers after `wall+3 ore-5`."""
    after = dict(before)
    for item in text.split():
        sign = "+" if "+" in item else "-"
        field, _, amount = item.partition(sign)
        after[field] += int(sign + amount)
    return after


def test_every_card_is_in_the_table() -> None:
    assert {case[0] for case in CASES} == {*CARDS}


@pytest.mark.parametrize(("card", "cost", "own", "enemy", "own_before", "enemy_before"), CASES)
def test_card(card: str, cost: str, own: str, enemy: str, own_before: str, enemy_before: str) -> None:
    amount, resource = cost.split()
    before = [BEFORE | named(own_before, "="), BEFORE | named(enemy_before, "=")]
    after_cost = before[0] | {resource: before[0][resource] - int(amount)}
    expected = [changed(after_cost, own), changed(before[1], enemy)]
    table = Table.arranged({"seats": [{**before[0], "hand": [card]}, before[1]], **GOALS})
    state = table.state
    events = table.play(card)
    for event in events:
        if isinstance(event, pb.CardPlayed | pb.EffectsApplied):
            state = GAME.evolve(state, event)
    numbers = [dict(zip(FIELDS, side.numbers, strict=True)) for side in state.seats]
    assert numbers == expected
    assert any(isinstance(e, pb.EffectsApplied) for e in events) == bool(own or enemy)
    assert (table.state.active == 0) == (card in ACT_AGAIN)


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("card", CARDS)
def test_a_card_works_alike_for_both_seats(card: str, seat: int) -> None:
    # TT-11.11, card by card, with numbers that differ in every field.
    near = dict(zip(FIELDS, (17, 8, 4, 2, 3, 31, 32, 33), strict=True))
    far = dict(zip(FIELDS, (23, 11, 3, 5, 1, 12, 6, 9), strict=True))
    seats = [{**near, "hand": [card]}, far]
    table = Table.arranged({"seats": seats if seat == 0 else seats[::-1], "active": seat, **GOALS})
    mirror = Table.arranged({"seats": seats, **GOALS})
    table.play(card)
    mirror.play(card)
    assert [table.numbers(seat), table.numbers(1 - seat)] == [mirror.numbers(0), mirror.numbers(1)]


def test_names_tell_cards_apart_by_id() -> None:
    assert CARDS["big_wall"].name.fi == "Vahvistettu muuri"
    assert CARDS["sturdy_wall"].name.fi == "Iso muuri"
    assert CARDS["reinforced_wall"].name.fi == "Mahtava muuri"
    assert [CARDS[c].name.fi for c in ("shatterer", "slasher")] == ["Murskaus", "Murskaaja"]
    assert [card.no for card in CARDS.values()] == list(range(1, 103))
    assert {card.id for card in CARDS.values() if card.play_again} == ACT_AGAIN
    assert {card.id for card in CARDS.values() if card.draws} == {"prism", "elven_scouts"}

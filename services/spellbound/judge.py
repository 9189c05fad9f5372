"""Commands by type: in which states each belongs, and who judges it (SB-18)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from google.protobuf.message import Message

from grimoire.engine import Illegal
from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from spellbound import battle, story
from spellbound.catalogue import DATA
from spellbound.course import Course
from spellbound.fate import go_on, move_chosen_book
from spellbound.places import BOOK_INDEX, on_track
from spellbound.rejections import refuse
from spellbound.spells import CIRCLE_OF_MAGI, PUPPETRY, SUN_BURST, WINNING_SMILE, cast_spell, pass_window
from spellbound.state import Stage
from spellbound.steps import answer_ride, card_step
from spellbound.windows import HAT_TRICK, TELEPORT, asked_seat, fits

__all__ = ["ANY_TIME", "judge", "set_reaction_policy"]

ANY_TIME: Final = "any_time"
"""Kind of the optional prompt of SB-16.2."""

Judge = Callable[[Course, Any], str]
"""The code of the rejection, or an empty text: the command is carried out."""

_MAIN: Final = frozenset({Stage.WITCHING, Stage.STORY, Stage.CARD})
_WITCHING: Final = frozenset({Stage.WITCHING})
_STORY: Final = frozenset({Stage.STORY})
_CARD: Final = frozenset({Stage.CARD})


def _choose_book(course: Course, command: pb.ChooseBook) -> str:
    """SB-14.9."""
    book = BOOK_INDEX.get(command.book)
    if book is None:
        return "unknown_id"
    if not on_track(course.draft.books[book]):
        return "book_not_on_track"
    move_chosen_book(course, book)
    return ""


_COMMANDS: Final[dict[type[Message], tuple[frozenset[Stage], Judge]]] = {
    pb.SendToTower: (_WITCHING, story.send_to_tower),
    pb.SkipTurn: (_WITCHING, story.skip_turn),
    pb.PlayCard: (_STORY, story.play_card),
    pb.DiscardCard: (_STORY, story.discard_card),
    pb.CardStep: (_CARD, card_step),
    pb.EndCard: (_CARD, story.end_card),
    pb.UseWand: (_STORY | _CARD, story.use_wand),
    pb.DiscardInfluence: (_MAIN, story.discard_influence),
    pb.EndStory: (_STORY, story.end_story),
    pb.DeclareFinalBattle: (_WITCHING | _STORY, battle.declare_final_battle),
    pb.AnswerRide: (frozenset({Stage.CONSENT}), answer_ride),
    pb.ChooseBook: (frozenset({Stage.CHOOSE_BOOK}), _choose_book),
}

_RULES: Final[dict[tuple[type[Message], str, str], str]] = {
    (pb.CardStep, "watchman", "same_place"): "SB-8.3",
    (pb.CastSpell, TELEPORT, "same_place"): "SB-10.9",
    (pb.CastSpell, CIRCLE_OF_MAGI, "not_a_city"): "SB-10.4",
    (pb.CastSpell, CIRCLE_OF_MAGI, "book_not_on_track"): "SB-10.4",
    (pb.CastSpell, WINNING_SMILE, "no_ally_here"): "SB-10.11",
    (pb.CastSpell, SUN_BURST, "no_target"): "SB-10.8",
    (pb.CastSpell, SUN_BURST, "not_wicked"): "SB-10.8",
    (pb.CastSpell, SUN_BURST, "card_elsewhere"): "SB-10.8",
    (pb.CastSpell, PUPPETRY, "no_target"): "SB-10.7",
    (pb.CastSpell, HAT_TRICK, "no_target"): "SB-10.5",
    (pb.CardStep, "tower_discard_top", "no_target"): "SB-8.6",
    (pb.SendToTower, "", "card_not_in_display"): "SB-5.1",
    (pb.PlayCard, "", "card_not_in_display"): "SB-6.1",
    (pb.PlayCard, "decimate", "cost_impossible"): "SB-8.8",
    (pb.DiscardCard, "", "card_not_in_display"): "SB-6.5",
    (pb.DiscardInfluence, "", "card_elsewhere"): "SB-7.14",
    (pb.UseWand, "", "card_elsewhere"): "SB-9.2",
    (pb.SkipTurn, "", "books_missing"): "SB-4.3",
    (pb.ChooseBook, "", "book_not_on_track"): "SB-14.9",
}
"""Where a command breaks another rule than the code's usual one: by command, its step, spell or mode, and the code."""


def judge(course: Course, seat: int, command: Message, prompt_kind: str) -> Illegal | None:
    """Carries out a command of an asked seat, or says why not and leaves everything as it was.

    Args:
        prompt_kind: of the prompt that it answers.
    """
    code = _judge(course, seat, command, prompt_kind)
    if not code:
        return None
    kind = type(command)
    which = next((str(getattr(command, name)) for name in ("step", "spell", "mode") if hasattr(command, name)), "")
    return refuse(code, _RULES.get((kind, which, code)) or _RULES.get((kind, "", code), ""))


def _judge(course: Course, seat: int, command: Message, prompt_kind: str) -> str:
    asked = course.draft.asked
    if isinstance(command, pb.CastSpell):
        fits = prompt_kind in (ANY_TIME, asked) and (asked in _MAIN or asked is Stage.REACTION)
        return cast_spell(course, seat, command) if fits else "wrong_state"
    if isinstance(command, pb.Pass):
        return pass_window(course, seat) if prompt_kind == Stage.REACTION else "wrong_state"
    entry = _COMMANDS.get(type(command))
    if entry is None:
        return "not_authorised"
    stages, do = entry
    return do(course, command) if asked in stages and prompt_kind == asked else "wrong_state"


def set_reaction_policy(course: Course, seat: int, command: pb.SetReactionPolicy) -> Illegal | None:
    """SB-16.8; a seat that is asked and wants no more windows has passed, even if it changes its mind again."""
    if command.policy not in DATA.reaction_policies:
        return refuse("unknown_id", "SB-16.8")
    draft = course.draft
    was_asked = asked_seat(draft) == seat
    course.tell(pb.ReactionPolicySet(seat=seat, policy=command.policy))
    if draft.window is not None and was_asked and not fits(draft, draft.window.kind, seat):
        course.tell(pb.Passed(window=draft.window.kind.value, seat=seat))
    go_on(course)
    return None

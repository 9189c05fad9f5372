"""What matchmaking says no with: stable codes, and sentences that say what to do next, in English and Finnish."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from grimoire.engine import Illegal
from grimoire.v1 import envelope_pb2

__all__ = ["DEFAULT_LANGUAGE", "SENTENCES", "TERMS", "illegal", "rejection", "term"]

DEFAULT_LANGUAGE: Final = "en"

SENTENCES: Final[Mapping[str, Mapping[str, str]]] = {
    "malformed": {
        "en": "This request cannot be read: {detail}.",
        "fi": "Pyyntöä ei voi lukea: {detail}.",
    },
    "bad_option": {
        "en": "{detail}",
        "fi": "{detail}",
    },
    "unknown_game": {
        "en": "No game called {game} is played here. List the games and choose one of them.",
        "fi": "Peliä {game} ei pelata täällä. Katso pelien luettelo ja valitse niistä.",
    },
    "unknown_challenge": {
        "en": "There is no challenge with this id. Check the id, or look at the list of open challenges.",
        "fi": "Tällä tunnuksella ei ole haastetta. Tarkista tunnus tai katso avoimien haasteiden luettelo.",
    },
    "own_challenge": {
        "en": "This is your own challenge: wait until somebody joins, or play against a bot.",
        "fi": "Tämä on oma haasteesi: odota, että joku liittyy, tai pelaa bottia vastaan.",
    },
    "challenge_full": {
        "en": "All seats of this challenge are taken. Pick another challenge, or open your own.",
        "fi": "Haasteen kaikki paikat on varattu. Valitse toinen haaste tai avaa oma.",
    },
    "challenge_gone": {
        "en": "This challenge is no longer open: it was withdrawn or its time ran out. Pick another, or open your own.",
        "fi": "Haaste ei ole enää avoinna: se peruttiin tai sen aika loppui. Valitse toinen haaste tai avaa oma.",
    },
    "not_invited": {
        "en": "This rematch is for those who played the match before. Pick another challenge, or open your own.",
        "fi": "Uusintaottelu on varattu edellisen ottelun pelaajille. Valitse toinen haaste tai avaa oma.",
    },
    "not_your_challenge": {
        "en": "Only who opened a challenge can withdraw it.",
        "fi": "Vain haasteen avaaja voi perua sen.",
    },
    "too_late_to_cancel": {
        "en": "All seats are taken, so this challenge cannot be withdrawn any more. Open the match; you may resign.",
        "fi": "Kaikki paikat on varattu, joten haastetta ei voi enää perua. Avaa ottelu ja luovuta, jos on pakko.",
    },
    "too_many_challenges": {
        "en": "You have {limit} open challenges already. Withdraw one of them, or wait until somebody joins.",
        "fi": "Sinulla on jo {limit} avointa haastetta. Peru jokin niistä tai odota, että joku liittyy.",
    },
    "too_many_matches": {
        "en": "You play {limit} matches already. Finish one of them first.",
        "fi": "Sinulla on jo {limit} ottelua kesken. Pelaa jokin niistä ensin loppuun.",
    },
    "rate_limited": {
        "en": "That was too fast. Try again in a moment.",
        "fi": "Liian nopeasti. Yritä hetken kuluttua uudelleen.",
    },
    "too_many_streams": {
        "en": "You follow {limit} challenges already. Stop following one of them first.",
        "fi": "Seuraat jo {limit} haastetta. Lopeta ensin jonkin seuraaminen.",
    },
    "overloaded": {
        "en": "There are more challenges than this server can hold right now. Join one of them, or try again later.",
        "fi": "Haasteita on nyt enemmän kuin palvelin jaksaa. Liity johonkin niistä tai yritä myöhemmin uudelleen.",
    },
    "unavailable": {
        "en": "A part of the server does not answer, so this cannot be done right now. Try again in a moment.",
        "fi": "Osa palvelimesta ei vastaa, joten tämä ei onnistu juuri nyt. Yritä hetken kuluttua uudelleen.",
    },
    "command_id_reused": {
        "en": "This request id was used for another challenge. Send every new request under a new id.",
        "fi": "Pyynnön tunnusta on käytetty jo toiseen haasteeseen. Käytä jokaisessa pyynnössä uutta tunnusta.",
    },
    "unknown_match": {
        "en": "There is no match with this id. Check the id, or list your matches.",
        "fi": "Tällä tunnuksella ei ole ottelua. Tarkista tunnus tai katso ottelusi.",
    },
    "not_a_seat": {
        "en": "You did not play in this match, so there is no rematch to offer. Open a challenge of your own.",
        "fi": "Et pelannut tässä ottelussa, joten et voi pyytää uusintaa. Avaa oma haaste.",
    },
    "match_not_over": {
        "en": "This match is still being played. Ask for a rematch when it is over.",
        "fi": "Ottelu on vielä kesken. Pyydä uusintaa, kun se on ohi.",
    },
    "rematch_too_late": {
        "en": "A rematch can be asked for within {minutes} minutes after the end. Open a new challenge instead.",
        "fi": "Uusintaa voi pyytää {minutes} minuutin kuluessa ottelun päättymisestä. Avaa sen sijaan uusi haaste.",
    },
    "people_only": {
        "en": "Quick play is for people. A program can open challenges, and join them.",
        "fi": "Pikapeli on ihmisille. Ohjelma voi avata haasteita ja liittyä niihin.",
    },
    "already_searching": {
        "en": "{name} waits in another queue already. Leave that one first.",
        "fi": "{name} odottaa jo toisessa jonossa. Poistu ensin siitä.",
    },
    "unknown_ticket": {
        "en": "You have no ticket with this id. Enter a queue to get one.",
        "fi": "Sinulla ei ole tällaista jonotuslippua. Mene jonoon, niin saat sellaisen.",
    },
    "not_searching": {
        "en": "You are not waiting in any queue. Enter one.",
        "fi": "Et odota missään jonossa. Mene jonoon.",
    },
    "ticket_gone": {
        "en": "This search is over, so there is nothing to leave.",
        "fi": "Tämä haku on jo päättynyt, joten siitä ei voi poistua.",
    },
    "unknown_ready_check": {
        "en": "Nobody asks you whether you are ready. Enter a queue first.",
        "fi": "Valmiuttasi ei kysytä. Mene ensin jonoon.",
    },
    "ready_check_over": {
        "en": "This ready check is over: somebody declined or did not answer in time.",
        "fi": "Tämä valmiuskysely on ohi: joku kieltäytyi tai ei ehtinyt vastata.",
    },
    "unknown_party": {
        "en": "There is no such party: it was broken up, or its time ran out. Ask your friend for a new one.",
        "fi": "Tällaista seuruetta ei ole: se purettiin tai sen aika loppui. Pyydä ystävältäsi uusi.",
    },
    "party_full": {
        "en": "This party is full: a match has {seats} seats.",
        "fi": "Seurue on täynnä: ottelussa on {seats} paikkaa.",
    },
    "party_too_large": {
        "en": "Your party has {size} members, and this match only {seats} seats. Choose a larger match.",
        "fi": "Seurueessanne on {size} jäsentä mutta ottelussa vain {seats} paikkaa. Valitse suurempi ottelu.",
    },
    "party_searching": {
        "en": "This party waits in a queue already. Join it when it has come out.",
        "fi": "Seurue odottaa jo jonossa. Liity siihen, kun se on tullut jonosta pois.",
    },
    "not_party_owner": {
        "en": "Only who made the party can take it into a queue.",
        "fi": "Vain seurueen perustaja voi viedä sen jonoon.",
    },
    "wrong_game": {
        "en": "This party is for {game}. Make another one for another game.",
        "fi": "Tämä seurue pelaa peliä {game}. Perusta toista peliä varten toinen.",
    },
    "seat_taken": {
        "en": "Somebody sits there already. Choose a seat that is open.",
        "fi": "Siinä istuu jo joku. Valitse vapaa paikka.",
    },
    "one_seat_each": {
        "en": "In a rated match everybody holds one seat. Open a casual table to play several.",
        "fi": "Lukuihin vaikuttavassa ottelussa kullakin on yksi paikka. Avaa vapaa pöytä, jos haluat pelata useaa.",
    },
    "no_own_seat": {
        "en": "None of these seats is yours. Take at least one seat at a table that you open.",
        "fi": "Mikään paikoista ei ole sinun. Ota avaamastasi pöydästä itsellesi ainakin yksi paikka.",
    },
    "host_stays": {
        "en": "You opened this table: withdraw it instead of leaving it.",
        "fi": "Avasit tämän pöydän: peru se, jos et halua pelata.",
    },
    "too_late_to_leave": {
        "en": "All seats are taken and the match begins. Open it; you may leave it there.",
        "fi": "Kaikki paikat on varattu ja ottelu alkaa. Avaa se; voit lähteä siellä.",
    },
    "not_host": {
        "en": "Only who opened this table can fill it.",
        "fi": "Vain pöydän avaaja voi täyttää sen.",
    },
    "match_not_running": {
        "en": "This match is not being played now.",
        "fi": "Tätä ottelua ei pelata nyt.",
    },
    "no_vacancy": {
        "en": "Nobody has to be found for this seat: its player is there, or it is decided already.",
        "fi": "Paikalle ei tarvita ketään: sen pelaaja on paikalla, tai asia on jo päätetty.",
    },
    "not_a_voter": {
        "en": "Only the people who still play at this table vote.",
        "fi": "Vain pöydässä vielä pelaavat ihmiset äänestävät.",
    },
    "bad_choice": {
        "en": "Choose a bot, or one of the people who still play at this table.",
        "fi": "Valitse botti tai joku pöydässä vielä pelaavista ihmisistä.",
    },
    "nothing_to_return_to": {
        "en": "You had no seat in this match. You may watch it.",
        "fi": "Sinulla ei ollut paikkaa tässä ottelussa. Voit katsoa sitä.",
    },
    "match_not_revealed": {
        "en": "This match is still being played. Play on from it when it is over and its secrets are open.",
        "fi": "Ottelu on vielä kesken. Jatka siitä, kun se on ohi ja sen salaisuudet on avattu.",
    },
}
"""Code to sentence by language; named arguments stand in braces."""

TERMS: Final[Mapping[str, Mapping[str, str]]] = {
    "withdrawn": {"en": "It was withdrawn.", "fi": "Se peruttiin."},
    "former_player": {"en": "Former player", "fi": "Entinen pelaaja"},
    "unknown_preset": {
        "en": "There is no queue called {preset}. Choose one of: {presets}.",
        "fi": "Jonoa {preset} ei ole. Valitse jokin näistä: {presets}.",
    },
    "preset_or_options": {
        "en": "Name a preset, or options of your own, not both.",
        "fi": "Valitse valmis jono tai omat asetukset, ei molempia.",
    },
    "party_is_casual": {
        "en": "A party plays casual matches only, unless all play together.",
        "fi": "Seurue pelaa vain otteluita, jotka eivät vaikuta lukuihin, paitsi kun kaikki pelaavat yhdessä.",
    },
    "no_queue_for_seats": {
        "en": "Quick play of this game is for {known} players, not {seats}.",
        "fi": "Tämän pelin pikapeli on {known} pelaajalle, ei {seats}.",
    },
    "bots_are_casual": {
        "en": "A match with a bot is not rated.",
        "fi": "Ottelu bottia vastaan ei vaikuta lukuihin.",
    },
    "at_most_seconds": {
        "en": "At most {max} seconds are possible.",
        "fi": "Enintään {max} sekuntia on mahdollista.",
    },
    "rated_or_casual": {
        "en": "A match is rated or casual.",
        "fi": "Ottelu joko vaikuttaa lukuihin tai ei.",
    },
    "no_seat": {
        "en": "There is no seat {seat}; the seats are 0 to {last}.",
        "fi": "Paikkaa {seat} ei ole; paikat ovat 0–{last}.",
    },
    "unknown_level": {
        "en": "There is no bot called {level}. Choose one of: {levels}.",
        "fi": "Bottia {level} ei ole. Valitse jokin näistä: {levels}.",
    },
    "bad_seats": {
        "en": "This game is for {min} to {max} players; {seats} do not fit.",
        "fi": "Tätä peliä pelaa {min}–{max} pelaajaa; {seats} ei käy.",
    },
    "too_many_bots": {
        "en": "At least one seat must be left for you: with {seats} seats at most {max} bots fit.",
        "fi": "Ainakin yksi paikka pitää jäädä sinulle: {seats} paikalle mahtuu enintään {max} bottia.",
    },
}
"""Other words of the lobby."""


def term(key: str, language: str, **arguments: object) -> str:
    """A text of `TERMS`; an unknown language gives English."""
    by_language = TERMS[key]
    return by_language.get(language, by_language[DEFAULT_LANGUAGE]).format(**arguments)


def illegal(code: str, *, field: str = "", **arguments: object) -> Illegal:
    """A refusal with its English sentence.

    >>> illegal("too_many_challenges", limit=5).message
    'You have 5 open challenges already. Withdraw one of them, or wait until somebody joins.'
    """
    return Illegal(
        code=code,
        rule="",
        message=SENTENCES[code][DEFAULT_LANGUAGE].format(**arguments),
        arguments=tuple((name, str(value)) for name, value in arguments.items()),
        field=field,
    )


def rejection(refusal: Illegal, language: str = DEFAULT_LANGUAGE) -> envelope_pb2.Rejection:
    """A refusal as it travels, worded in the caller's language where it was refused here (a game has its own words)."""
    arguments = dict(refusal.arguments)
    template = "" if refusal.rule else SENTENCES.get(refusal.code, {}).get(language, "")
    try:
        message = template.format(**arguments)
    except KeyError:
        message = ""
    return envelope_pb2.Rejection(
        code=refusal.code,
        rule=refusal.rule,
        message=message or refusal.message,
        field=refusal.field,
        retry_after_ms=int(arguments.get("retry_after_ms", "0")),
        arguments=[envelope_pb2.Argument(name=name, value=value) for name, value in refusal.arguments],
    )

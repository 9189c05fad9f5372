"""Scenarios: positions, commands and what must come of them, as YAML files (format: `tests/scenarios/README.md`)."""

from grimoire.match.scenario.document import ScenarioError
from grimoire.match.scenario.result import Failure, ScenarioResult, summary
from grimoire.match.scenario.runner import run_document, run_file, run_text

__all__ = ["Failure", "ScenarioError", "ScenarioResult", "run_document", "run_file", "run_text", "summary"]

"""How quick play matches, and a model world to try it in. Pure; the service and the simulator share it."""

from grimoire.quickplay.pairing import Waiting, form_groups, is_legal
from grimoire.quickplay.policy import POLICY, Policy
from grimoire.quickplay.simulation import Demand, Outcome, Simulation

__all__ = ["POLICY", "Demand", "Outcome", "Policy", "Simulation", "Waiting", "form_groups", "is_legal"]

"""Broom Service: two to five rivals deliver potions by broom, bravely or cowardly."""

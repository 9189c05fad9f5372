"""The Wizard's Garden: two wizards race to set five lanterns in a garden that is fought over."""

"""The terminal client's screens. They know no game: a game brings its board (`GamePlugin.screen`) and its words."""

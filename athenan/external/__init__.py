"""Other people's programs as players: run as processes, asked by their protocols."""

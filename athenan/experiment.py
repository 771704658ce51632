"""Studies: two settings of a player that differ in what is studied, compared on sets of networks.

Within a set every ordered pair (i, j) of its evaluators is played, the first player with i and the
second with j, once first and once second. A match scores from -1 to 1 for the first. The four
matches of {i, j} are a block, in which the strengths of the networks cancel (bootstrap.py).

checkpoints/studies/<name>/   study.yaml (who plays with what)  games.jsonl, games.claims
                              (worklist.py)  results.json  results.csv
"""

from __future__ import annotations

import csv
import io
import itertools
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from athenan.bootstrap import Mean, Means, bootstrap
from athenan.checkpoint import find_run, runs_of, step_number, steps_of
from athenan.checks import read
from athenan.config import compose, read_values
from athenan.errors import InputError
from athenan.evaluators import find_step_of, is_checkpoint
from athenan.files import write_whole
from athenan.fixtures import Fixture, counts, play_list
from athenan.games import make_game
from athenan.players import Player, make_player
from athenan.run import flat
from athenan.settings import ExperimentSettings, PlayerSettings
from athenan.worklist import WorkList, check_folder, locked, number_of

PATTERN = "{}"  # in a player's evaluator: the one that it is given
BETWEEN = " / "  # parts of a key
HANDS = ("first", "second")  # the players, and the colours that the first of them has


@dataclass(frozen=True)
class EvaluatorSet:
    """Of one game."""

    game: str  # its config
    name: str
    evaluators: tuple[str, ...]


class Experiment:
    """Plays nothing before it is told to."""

    def __init__(self, config: ExperimentSettings) -> None:
        self.config = config
        check_folder(config.study_name, "a study")
        self.folder = Path(config.checkpoints) / "studies" / config.study_name
        # By configs, since two of them may be boards of one game.
        self.options = {game: compose("play", [f"game={game}"]).game for game in config.games}
        self.games = {game: make_game(**options) for game, options in self.options.items()}
        for game, made in self.games.items():
            if made.num_players != 2:
                raise InputError(f"A study is of games for two; '{game}' is not.")
        self.sets = [
            self._set(game, text.replace("{game}", game))
            for text in config.sets
            for game in config.games
        ]
        self.fixtures = list(self._fixtures())
        self._players: dict[str, Player] = {}  # of the set that is being played
        self._playing: EvaluatorSet | None = None

    def _set(self, game: str, text: str) -> EvaluatorSet:
        runs, config = self._runs(game), self.config
        if "," in text:
            named = [word.strip() for word in text.split(",") if word.strip()]
            found = [settled(word, runs) for word in named]
        else:
            run = find_run(text, Path(config.checkpoints), self.options[game]["name"])
            trained = [step for step in steps_of(run) if step_number(step)]
            found = [str(step) for step in trained[-config.last :]]
            if len(found) < config.last:
                raise InputError(
                    f"Run '{run}' has {len(found)} trained checkpoints; a set of the last "
                    f"{config.last} wants more: last=…, or train with checkpoint.keep=…."
                )
        if len(set(found)) < len(found):
            raise InputError(f"Set '{text}' has an evaluator twice.")
        if len(found) < (1 if config.same else 2):
            raise InputError(f"Set '{text}' has no two evaluators.")
        return EvaluatorSet(game, text, tuple(found))

    def _runs(self, game: str) -> Path:
        return runs_of(Path(self.config.checkpoints), self.options[game]["name"])

    def _fixtures(self) -> Iterator[Fixture]:
        for own in self.sets:
            opening = self.games[own.game].initial_state()
            numbers = range(len(own.evaluators))
            for i, j in itertools.product(numbers, numbers):
                if i == j and not self.config.same:
                    continue
                one, other = f"{HANDS[0]}{BETWEEN}{i}", f"{HANDS[1]}{BETWEEN}{j}"
                for colour, seats in zip(HANDS, ((one, other), (other, one)), strict=True):
                    key = BETWEEN.join([own.game, own.name, str(i), str(j), colour])
                    yield Fixture(key, seats, opening, number_of(key) + self.config.seed)

    def note(self) -> None:
        """What is studied, for those who go on; refuses to go on as another study."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / "study.yaml"
        told: dict[str, Any] = {
            "players": {hand: asdict(getattr(self.config, hand)) for hand in HANDS},
            "seed": self.config.seed,
            "games": self.options,
            "sets": {f"{own.game}{BETWEEN}{own.name}": list(own.evaluators) for own in self.sets},
        }
        with locked(self.folder / "lock"):
            before = read_values(path) if path.exists() else None
            if before is not None:
                self._compare(before, told)
            if told != before:
                text = yaml.safe_dump(told, sort_keys=False, allow_unicode=True)
                write_whole(path, text.encode())

    def _compare(self, before: dict[str, Any], told: dict[str, Any]) -> None:
        """Of games and sets there may be more than before; those that were stay."""
        try:
            players = {hand: read(PlayerSettings, before["players"][hand]) for hand in HANDS}
            if any(players[hand] != getattr(self.config, hand) for hand in HANDS):
                raise self._other("players")
            if before["seed"] != told["seed"]:
                raise self._other("seed")
            for key in ("games", "sets"):
                for name, its in before[key].items():
                    if told[key].setdefault(name, its) != its:
                        raise self._other(f"{key}: {name}")
        except (AttributeError, LookupError, TypeError):
            path = self.folder / "study.yaml"
            raise InputError(f"'{path}' does not say what is studied.") from None

    def _other(self, key: str) -> InputError:
        return InputError(
            f"'{self.folder}' is a study with other {key}: take another name by study_name=…."
        )

    def players_for(self, fixtures: Sequence[Fixture]) -> Mapping[str, Player]:
        """Of one set at a time, whose networks are let go afterwards."""
        game, text, *_ = fixtures[0].key.split(BETWEEN)
        own = next(s for s in self.sets if (s.game, s.name) == (game, text))
        if own != self._playing:
            self._players, self._playing = self._seated(own), own
        return self._players

    def _seated(self, own: EvaluatorSet) -> dict[str, Player]:
        config, loaded = self.config, dict[str, Any]()
        found = {}
        for place, hand in enumerate(HANDS):
            player: PlayerSettings = getattr(config, hand)
            for number, text in enumerate(own.evaluators):
                settings = replace(player, evaluator=player.evaluator.replace(PATTERN, text))
                found[f"{hand}{BETWEEN}{number}"] = make_player(
                    self.games[own.game], settings, self._runs(own.game), config.seed + place,
                    config.threads, config.trust, loaded,
                )  # fmt: skip
        return found

    def play(
        self, work: WorkList, on_progress: Callable[[WorkList], object] = lambda _: None
    ) -> None:
        for own in self.sets:
            prefix = f"{own.game}{BETWEEN}{own.name}{BETWEEN}"
            fixtures = [f for f in self.fixtures if f.key.startswith(prefix)]
            play_list(
                fixtures, work, self.players_for, self.config.games_in_step,
                lambda: on_progress(work),
            )  # fmt: skip

    def work(self) -> WorkList:
        return WorkList(self.folder / "games.jsonl")

    def played(self, work: WorkList) -> int:
        return sum(fixture.key in work.done for fixture in self.fixtures)

    def forfeits(self, work: WorkList) -> int:
        """Matches that a player gave away by no action of it; they have no score."""
        return sum(not counts(game) for game in work.done.values())

    def blocks(self, work: WorkList) -> dict[str, dict[str, list[list[float]]]]:
        """Scores of the first player by games, sets and blocks: those of i and j are one, in both
        hands and both colours."""
        blocks: dict[str, dict[str, defaultdict[tuple[int, ...], list[float]]]] = {}
        for fixture in self.fixtures:
            saved = work.done.get(fixture.key)
            if saved is None or not counts(saved):
                continue
            assert saved.outcomes is not None
            game, text, i, j, colour = fixture.key.split(BETWEEN)
            own = blocks.setdefault(game, {}).setdefault(text, defaultdict(list))
            pair = tuple(sorted((int(i), int(j))))
            own[pair].append(float(saved.outcomes[HANDS.index(colour)]))
        return {
            game: {text: list(own.values()) for text, own in sets.items()}
            for game, sets in blocks.items()
        }

    def means(self, work: WorkList) -> Means:
        """InputError where nothing has been played."""
        blocks = self.blocks(work)
        if not blocks:
            raise InputError("No match has been played yet.")
        return bootstrap(blocks, self.config.resamples, self.config.seed)


def play_share(config: ExperimentSettings) -> None:
    """All that others leave to this process."""
    experiment = Experiment(config)
    with experiment.work() as work:
        experiment.play(work)


def settled(text: str, runs: Path) -> str:
    """The very checkpoint, where a run or `latest` is named: they will be others."""
    return str(find_step_of(text, runs)) if is_checkpoint(text, runs) else text


# ---- What it says --------------------------------------------------------------------------------


def published_figures(config: ExperimentSettings) -> dict[str, str]:
    """By configs of games, and `all`."""
    found = {}
    for text in config.published:
        name, colon, figure = text.partition(":")
        if not colon or not figure.strip():
            raise InputError(f"Setting 'published' has 'game: figure', not '{text}'.")
        found[name.strip()] = figure.strip()
    return found


def percent(mean: Mean) -> str:
    return f"{100 * mean.value:+.2f} [{100 * mean.low:+.2f}, {100 * mean.high:+.2f}]"


def rows(means: Means, published: Mapping[str, str]) -> list[list[str]]:
    """In percent, as the paper has it; without a column of figures that nobody has published."""
    lines = [["game", "matches", "score of the first, %", "published"]]
    for game, mean in means.games.items():
        lines.append([game, str(mean.matches), percent(mean), published.get(game, "-")])
    for name, mean in (("mean of games", means.of_games), ("mean of matches", means.of_matches)):
        lines.append([name, str(mean.matches), percent(mean), published.get("all", "-")])
    return lines if published else [line[:-1] for line in lines]


def remarks(means: Means) -> list[str]:
    return [
        f"The blocks of {game} are all alike, so that their interval says nothing."
        for game, mean in means.games.items()
        if mean.low == mean.high
    ]


def figures(means: Means, published: Mapping[str, str]) -> dict[str, Any]:
    return {
        "games": {
            game: {**asdict(mean), "published": published.get(game)}
            for game, mean in means.games.items()
        },
        "mean_of_games": asdict(means.of_games),
        "mean_of_matches": asdict(means.of_matches),
        "published": published.get("all"),
    }


def differences(config: ExperimentSettings) -> list[str]:
    """What the two players differ in, in words."""
    first, second = (flat(asdict(player)) for player in (config.first, config.second))
    keys = dict.fromkeys([*first, *second])
    return [
        f"{key}: {first.get(key, '-')} against {second.get(key, '-')}"
        for key in keys
        if first.get(key) != second.get(key)
    ]


def write(folder: Path, means: Means, published: Mapping[str, str]) -> list[Path]:
    """The files that are read afterwards."""
    out = io.StringIO()
    head = ["game", "matches", "score", "low", "high", "published"]
    overall = {"mean of games": means.of_games, "mean of matches": means.of_matches}
    lines: list[list[object]] = [
        [name, mean.matches, mean.value, mean.low, mean.high, published.get(name, "")]
        for name, mean in (means.games | overall).items()
    ]
    csv.writer(out, lineterminator="\n").writerows([head, *lines])
    texts = {
        "results.json": json.dumps(figures(means, published), indent=1) + "\n",
        "results.csv": out.getvalue(),
    }
    for name, text in texts.items():
        write_whole(folder / name, text.encode())
    return [folder / name for name in texts]

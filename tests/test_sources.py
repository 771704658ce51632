"""Configs of one's own: presets by path, folders and roots as Hydra's users name them."""

from pathlib import Path

import pytest
from commands import run

from athenan.config import Sources, compose
from athenan.errors import InputError


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


PRESET = """
defaults:
  - override /game: hex7
  - override /network: residual
minutes: 3
learn: {batch_size: 77}
"""


@pytest.mark.parametrize("head", ["", "# @package _global_\n"])
@pytest.mark.parametrize("word", ["./mine.yaml", "mine.yaml", "{here}/mine.yaml"])
def test_a_preset_by_its_path(head: str, word: str, tmp_path: Path) -> None:
    Path("mine.yaml").write_text(head + PRESET)
    path = word.format(here=tmp_path)
    config = compose("train", [f"experiment={path}", "network.filters=9"])
    assert (config.game["name"], config.game["size"]) == ("hex", 7)
    assert (config.network.kind, config.network.filters) == ("residual", 9)
    assert (config.minutes, config.learn.batch_size) == (3, 77)
    Path("mine.yaml").write_text(head + PRESET.replace("77", "78"))
    assert compose("train", [f"experiment={path}"]).learn.batch_size == 78, "it was read again"


def test_a_file_of_any_group() -> None:
    Path("wide.yaml").write_text("kind: conv\nfilters: 123\n")
    assert compose("train", ["network=./wide.yaml"]).network.filters == 123


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "There is no file 'mine.yaml'"),
        ("learn: {batchsize: 7}", "There is no setting 'learn.batchsize'; did you mean"),
        ("learn: {batch_size: 0}", "Setting 'learn.batch_size' must be"),
        ("learn: [", "while parsing"),
        ("defaults: [override /game: chss]", "chss"),
    ],
)
def test_what_is_wrong_with_a_preset(
    text: str | None, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if text is not None:
        Path("mine.yaml").write_text(text)
    code, _, err = run(capsys, "train experiment=./mine.yaml --cfg job")
    assert code == 2
    assert said in err
    assert err.count("\n") == 1


def test_a_folder_and_a_root_of_ones_own(capsys: pytest.CaptureFixture[str]) -> None:
    own = Path("own")
    (own / "network").mkdir(parents=True)
    (own / "network" / "wide.yaml").write_text("kind: conv\nfilters: 99\n")
    (own / "mytrain.yaml").write_text("defaults: [train, _self_]\nseed: 5\n")
    sources = Sources(own, "mytrain")
    config = compose("train", ["network=wide"], sources)
    assert (config.network.filters, config.seed) == (99, 5)
    for words in ("--config-dir own --config-name mytrain", "-cd own -cn mytrain"):
        code, out, err = run(capsys, f"train network=wide {words} --cfg job")
        assert (code, err) == (0, "")
        assert "filters: 99" in out
        assert "seed: 5" in out
    with pytest.raises(InputError, match="There is no network 'wide'; did you mean 'children'"):
        compose("train", ["network=wide"])
    assert run(capsys, "train --config-dir nowhere")[0] == 2
    code, _, err = run(capsys, "train --config-dir own -cn nothing")
    assert (code, err) == (2, "athenan: There is no config 'nothing'.\n")


def test_a_name_that_is_nothing_like_one_is_answered_by_all() -> None:
    with pytest.raises(InputError) as error:
        compose("train", ["network=transformer9"])
    assert "there are children, conv, nnue, paper, residual, small." in str(error.value)

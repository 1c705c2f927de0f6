"""Archives and files that were made to do harm, or that broke: an error that says so, or text, and nothing else."""

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import zipfile
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from compdiff.archive import Archive
from compdiff.archive.exchange import ExportList, export_runs, import_runs
from compdiff.archive.verify import verify
from compdiff.cli import run_command
from compdiff.errors import CompdiffError
from tests.archive.runs import golden, of_case

SCRIPT = "<script>alert(1)</script>\x1b[2J"
_ADD = """
import resource, sys
from compdiff.archive import Archive
from tests.archive.runs import golden
archive = Archive.open(sys.argv[1])
golden("training_step")
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
archive.add(golden("training_step"))
"""


def tampered(folder: Path, sql: str) -> None:
    """Change the index of an archive behind compdiff's back."""
    with closing(sqlite3.connect(folder / "index.sqlite")) as connection:
        connection.execute(sql)
        connection.commit()


@pytest.fixture(name="filled")
def _filled(folder: Path) -> Path:
    with closing(Archive.open(str(folder))) as archive:
        archive.add(golden())
    return folder


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE VIEW more AS SELECT 1",
        "CREATE TABLE more (x)",
        "CREATE TRIGGER t AFTER INSERT ON tags BEGIN DELETE FROM runs; END",
    ],
)
def test_what_no_archive_has_is_refused(filled: Path, sql: str) -> None:
    """An index with views, triggers or tables of others is not opened."""
    tampered(filled, sql)

    with pytest.raises(CompdiffError, match="which no archive has"):
        Archive.open(str(filled))


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("UPDATE runs SET record = '../../etc/passwd'", "damaged"),
        ("UPDATE runs SET record = '../../etc/passwd', record_data = NULL", "can be called"),
        ("UPDATE runs SET record_size = 10", "damaged"),
        ("UPDATE runs SET record_size = -1", "damaged"),
        ("UPDATE runs SET record_data = x'00'", "damaged"),
        ("UPDATE runs SET record_data = 'text'", "damaged"),
        ("UPDATE runs SET record_data = 5", "damaged"),
        ("UPDATE runs SET record_data = NULL", "is missing"),
        ("UPDATE runs SET setting = ''", "does not list the blobs"),
        ("UPDATE runs SET id = 'ffffffffffffffffffffffffffffffff'", "another run"),
        ("UPDATE runs SET left_op_calls = 99", "left_op_calls is 99"),
        ("UPDATE environments SET torch = '1.0'", "torch is '1.0'"),
        ("UPDATE shapes SET parts = '[\"x\"]'", "does not list the blobs"),
        ("UPDATE shapes SET parts = 'no list'", "names no parts"),
    ],
)
def test_a_row_that_lies_is_named(filled: Path, sql: str, said: str) -> None:
    """Verify compares each row with its run."""
    tampered(filled, sql)

    with closing(Archive.open(str(filled))) as archive:
        assert any(said in damage.text for damage in verify(archive).damage)


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE runs SET left_op_calls = 'many'",
        "UPDATE runs SET rules = '[1]'",
        "UPDATE runs SET created = x'00ff'",
        "UPDATE archive SET value = 'x' WHERE name = 'schema'",
        "UPDATE archive SET value = '999' WHERE name = 'schema'",
        "DROP TABLE tags",
    ],
)
def test_a_damaged_index_is_an_error(filled: Path, sql: str) -> None:
    """What SQLite keeps though no column may hold it ends with exit code 2 and a sentence."""
    tampered(filled, sql)

    with pytest.raises(CompdiffError):
        Archive.open(str(filled)).find()


def test_a_newer_archive_says_what_to_do(filled: Path) -> None:
    """An archive of a later version is left alone."""
    tampered(filled, "UPDATE archive SET value = '99' WHERE name = 'schema'")

    with pytest.raises(CompdiffError, match="newer than this compdiff") as caught:
        Archive.create(str(filled))
    assert caught.value.hint == "Upgrade compdiff."


def test_a_journal_that_names_another_file_is_refused(filled: Path) -> None:
    """SQLite would roll it back, and remove what it names."""
    ending = bytes.fromhex("d9d505f920a163d7")
    (filled / "index.sqlite-journal").write_bytes(bytes(600) + ending)

    with pytest.raises(CompdiffError, match="not a journal that compdiff writes"):
        Archive.open(str(filled))


def test_journals_that_come_and_go_are_other_writers(filled: Path) -> None:
    """A journal that is gone when it is looked at was its writer's, no trap."""
    journal = filled / "index.sqlite-journal"
    done = threading.Event()

    def come_and_go() -> None:
        while not done.is_set():
            journal.touch()
            journal.unlink(missing_ok=True)

    other = threading.Thread(target=come_and_go)
    other.start()
    try:
        for _ in range(300):
            Archive.open(str(filled)).close()
    finally:
        done.set()
        other.join()


def test_a_link_in_place_of_a_journal_is_refused(filled: Path) -> None:
    """What it leads to is nothing that compdiff wrote."""
    (filled / "index.sqlite-journal").symlink_to(filled / "elsewhere")

    with pytest.raises(CompdiffError, match="not a journal that compdiff writes"):
        Archive.open(str(filled))


def test_an_index_that_is_a_pipe(tmp_path: Path) -> None:
    """Nothing waits for a named pipe."""
    os.mkfifo(tmp_path / "index.sqlite")

    with pytest.raises(CompdiffError, match="no archive"):
        Archive.open(str(tmp_path))


def test_hostile_names_are_text(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Names from an archive neither act on the terminal nor end a command."""
    with closing(Archive.open(str(folder))) as archive:
        archive.add(of_case(golden(), SCRIPT))
    tampered(folder, "INSERT INTO tags SELECT '\x1b[2J<b>', id FROM runs")

    for command in (["list"], ["history", SCRIPT], ["show", "latest"], ["verify"]):
        assert run_command(["archive", *command, "--archive", str(folder)]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_files_of_others_are_named_and_left(filled: Path) -> None:
    """What is no blob is damage, and no prune removes it."""
    other = next(path for path in (filled / "blobs").iterdir()) / "notes.txt"
    other.write_text("mine")

    assert run_command(["archive", "prune", "--keep", "0", "--archive", str(filled)]) == 0
    assert run_command(["archive", "verify", "--archive", str(filled)]) == 1
    assert other.read_text() == "mine"


@pytest.mark.parametrize("limit", [500, 2000, 70_000])
def test_a_full_disk_adds_nothing(folder: Path, limit: int) -> None:
    """Where no file can grow any more the run is not there, the archive is sound, and adding works later."""
    result = subprocess.run(  # noqa: S603 - the program above
        [sys.executable, "-c", _ADD, str(folder), str(limit)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    with closing(Archive.open(str(folder))) as archive:
        assert verify(archive).is_sound
        if limit < 70_000:
            assert "CompdiffError: cannot write" in result.stderr
            assert archive.find() == ()
        archive.add(golden("training_step"))
        assert verify(archive).is_sound


def rewritten(path: Path, **changes: bytes | None) -> None:
    """Replace members of a zip; None leaves one out."""
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in {**members, **changes}.items():
            if data is not None:
                file.writestr(name, data)


@pytest.fixture(name="export")
def _export(filled: Path, tmp_path: Path) -> Path:
    with closing(Archive.open(str(filled))) as archive:
        export_runs(archive, archive.find(), tmp_path / "runs.zip")
    return tmp_path / "runs.zip"


def listed(path: Path) -> ExportList:
    """Return what an export says it holds."""
    with zipfile.ZipFile(path) as file:
        return msgspec.json.decode(file.read("runs.json"), type=ExportList)


def test_names_in_an_export_lead_nowhere(export: Path, folder: Path, tmp_path: Path) -> None:
    """Members with odd names are not looked at."""
    rewritten(export, **{"../escaped": b"x", "/escaped": b"x", "blobs/../../escaped": b"x"})

    with closing(Archive.open(str(folder))) as archive:
        import_runs(archive, export)
        assert verify(archive).is_sound
    assert not list(tmp_path.rglob("escaped"))


def test_an_export_with_wrong_hashes_is_refused(export: Path, tmp_path: Path) -> None:
    """A blob that is another, a run with another's id, a bomb, and no export at all."""
    found = listed(export)
    name = f"blobs/{found.runs[0].record.hash}"
    other = msgspec.structs.replace(found.runs[0], id="f" * 32)
    outside = msgspec.structs.replace(
        found.runs[0], record=msgspec.structs.replace(found.runs[0].record, hash="../../x")
    )
    tag = msgspec.structs.replace(found.runs[0], tags=("latest",))
    changes: list[dict[str, bytes | None]] = [
        {name: None},
        {name: b"no zlib"},
        {name: bytes(50 << 20)},
        {"runs.json": None},
        {"runs.json": b"{}"},
        {
            "runs.json": msgspec.json.encode(
                msgspec.structs.replace(found, schema="compdiff.export/2")
            )
        },
    ]
    for run in (other, outside, tag):
        lying = msgspec.json.encode(msgspec.structs.replace(found, runs=(run,)))
        changes.append({"runs.json": lying})
    whole = export.read_bytes()
    with closing(Archive.create(str(tmp_path / "other"))) as archive:
        for change in changes:
            export.write_bytes(whole)
            rewritten(export, **change)
            with pytest.raises(CompdiffError):
                import_runs(archive, export)
        export.write_bytes(whole[:-30])
        with pytest.raises(CompdiffError, match="not an export"):
            import_runs(archive, export)
        assert verify(archive).is_sound


def test_an_archive_that_may_only_be_read(filled: Path) -> None:
    """Reading works; writing says why not."""
    for path in (filled, *filled.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    # Root without its capabilities may write no more than others.
    as_others = ["setpriv", "--bounding-set=-all"] if os.geteuid() == 0 else []
    if as_others and shutil.which(as_others[0]) is None:
        pytest.skip("root may write what is read-only")
    program = "from compdiff.cli import main; main()"
    for command, code in (("list", 0), ("show latest", 0), ("verify", 0), ("pin latest", 2)):
        words = ["archive", *command.split(), "--archive", str(filled)]
        result = subprocess.run(  # noqa: S603 - this project's own command
            [*as_others, sys.executable, "-c", program, *words],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == code, result.stderr
        assert ("read-only" in result.stderr) == (code == 2)

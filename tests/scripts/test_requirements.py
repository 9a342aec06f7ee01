"""Which requirements of a file are not met here."""

from __future__ import annotations

import sys

import pytest

from tf1sessions.errors import ScriptUsageError
from tf1sessions.scripts import requirements

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"


@pytest.fixture
def distribution(tmp_path, monkeypatch):
    """Lets a distribution look installed."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(site)

    def add(name, version):
        folder = site / f"{name}-{version}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")

    return add


def unmet(tmp_path, text):
    path = tmp_path / "requirements.txt"
    path.write_text(text)
    return requirements.compare(requirements.read(str(path)))


def test_lines_of_every_kind(tmp_path):
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "base.txt").write_text("-r ../requirements.txt\nfrom-another==2\n")
    path = tmp_path / "requirements.txt"
    path.write_text(
        "\ufeff# a comment\n\n"
        "plain\n"
        "pinned==1.0  # why\n"
        "with-extra[gpu]>=1.2,<2; python_version >= '3'\n"
        "not-for-us==1; python_version < '3'\n"
        "two-lines==1.0 \\\n    --hash=sha256:abcd\n"
        "-i https://index.example/simple\n--extra-index-url=https://other.example\n-c constraints.txt\n"
        "-e .\n./local\n../wheels/a-1.0-py3-none-any.whl\n"
        "git+https://code.example/one/two.git@v1#egg=from_git\n-e git+https://code.example/x.git#egg=edited-1\n"
        "https://files.example/archive.tar.gz\n"
        "at @ https://files.example/at.zip\n"
        "-r more/base.txt\n",
        encoding="utf-8",
    )
    found = [f"{one.name}{one.specifier}" for one in requirements.read(str(path))]
    assert found == [
        "plain", "pinned==1.0", "with-extra<2,>=1.2", "two-lines==1.0", "from_git", "edited-1", "at", "from-another==2",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"numpy==1.0\nnumpy = 1.0\n", r"'numpy = 1.0' is no requirement.*requirements.txt:2.*put a #"),
        (b"old==2004 d\n", "is no requirement"),
        (b"a\x1b[31m b\n", "033"),
        (b"numpy\n-r gone.txt\n", "gone.txt cannot be read.*No such file"),
        (b"\xff\xfe\n", "not text in UTF-8"),
        (b"numpy==" + b"9" * 10_000 + b"\n", "a number of 1,000 digits or more"),
        (b"git+https://host/x#egg=x-\n", "x- is no requirement"),
    ],
)
def test_files_that_are_wrong(tmp_path, content, message):
    path = tmp_path / "requirements.txt"
    path.write_bytes(content)
    with pytest.raises(ScriptUsageError, match=f"(?s){message}") as error:
        requirements.read(str(path))
    assert str(error.value).replace("\n", "").isprintable()


def test_no_file_and_a_folder(tmp_path):
    for path in (tmp_path / "gone.txt", tmp_path):
        with pytest.raises(ScriptUsageError, match="cannot be read"):
            requirements.read(str(path))


def test_what_is_met_is_not_listed(tmp_path, distribution):
    distribution("some_library", "1.5")
    assert unmet(tmp_path, "Some.Library==1.5\nsome-library>=1\nsome_library\nsome_library!=1.6\n") == []


def test_what_is_not_met(tmp_path, distribution):
    distribution("pandas", "2.2.3")
    distribution("networkx", "2.3")
    distribution("other_library", "3.0rc1")
    text = "pandas==0.24.2\nnetworkx==2.2\nother-library<3\nno-such-library==1\npandas==0.1\nother-library>2\n"
    found = unmet(tmp_path, text)
    assert [(one.name, one.asked, one.used, one.installed, one.bridged) for one in found] == [
        ("pandas", "==0.24.2", "pandas", "2.2.3", True),
        ("networkx", "==2.2", "networkx", "2.3", False),  # no row between the two
        ("other-library", "<3", "other-library", "3.0rc1", False),
        ("no-such-library", "==1", None, None, False),
    ]
    assert [one.pythons for one in found] == ["3.7", None, None, None]
    assert found[0].to_json() == {
        "name": "pandas", "asked": "==0.24.2", "used": "pandas", "installed": "2.2.3", "pythons": "3.7",
        "bridged": True,
    }  # fmt: skip


def test_what_is_used_in_its_place(tmp_path, distribution):
    distribution("gymnasium", "1.0.0")
    distribution("tensorflow", "2.21.0")
    distribution("opencv_python_headless", "4.10.0")
    found = unmet(tmp_path, "gym==0.10.5\ntensorflow-gpu==1.13.1\nopencv-python==3.4\n")
    shown = {one.name: (one.used, one.installed, one.pythons, one.bridged) for one in found}
    if shown["gym"][0] == "gymnasium":  # Gym is not installed
        assert shown["gym"] == ("gymnasium", "1.0.0", None, True)
    assert shown["tensorflow-gpu"] == ("tensorflow", "2.21.0", "3.7", True)
    assert shown["opencv-python"][3] is False


@pytest.mark.parametrize(
    ("pin", "pythons"),
    [
        ("==1.14.0", "3.6"),
        ("==1.16.4", "3.7"),
        ("<=1.19.5", "3.9"),
        ("~=1.16.1", "3.7"),
        ("==1.16.*", "3.7"),
        (">=9", None),
    ],
)
def test_the_last_python_with_wheels(tmp_path, distribution, pin, pythons):
    distribution("numpy", "2.4.0")
    assert [one.pythons for one in unmet(tmp_path, f"numpy{pin}\n")] == [pythons]


def test_the_report():
    rows = [
        requirements.Unmet("tensorflow-gpu", "==1.13.1", "tensorflow", "2.21.0", "3.7", True),
        requirements.Unmet("no-such-library", "==1", None, None, None, False),
    ]
    assert requirements.report("requirements.txt", 5, rows) == [
        f"tf1sessions: 2 of 5 requirements of requirements.txt are not met on Python {HERE}; nothing was installed",
        "  asked for               wheels for        used here          old names bridged",
        "  tensorflow-gpu==1.13.1  Python up to 3.7  tensorflow 2.21.0  yes",
        "  no-such-library==1                        not installed",
    ]
    assert requirements.report("a b.txt", 5, []) == [
        f"tf1sessions: all 5 requirements of 'a b.txt' are met on Python {HERE}"
    ]


def test_tables_of_wheels_are_in_order():
    from packaging.version import Version

    for releases in requirements._WHEELS.values():
        versions = [Version(one) for one in releases.split()]
        assert versions == sorted(versions) and len(versions) == 7

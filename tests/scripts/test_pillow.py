"""What Pillow 10 removed is there for a script: on a stand-in for it, and on Pillow itself where it is installed."""

from __future__ import annotations

import importlib.util

import pytest

IMAGE = "NEAREST, LANCZOS, BILINEAR, BICUBIC = 0, 1, 2, 3\nLINEAR = 'kept'\n"
DRAW = """
class ImageDraw:
    def textbbox(self, xy, text, font=None, anchor=None, spacing=4):
        return (1, 2, 3.5 * len(text), spacing)
    def multiline_textbbox(self, xy, text, font=None, anchor=None, spacing=4):
        return (0, 0, len(font), spacing)
"""
FONT = """
class FreeTypeFont:
    def getbbox(self, text, mode=""):
        return (1, 1, len(text), 7.2)
class ImageFont(FreeTypeFont):
    def getsize(self, text):
        return "kept"
class TransposedFont(FreeTypeFont): pass
"""
CODE = """
    import sys
    sys.path[:0] = sys.argv[1:]
    import tf1sessions.scripts
    tf1sessions.scripts.install()
    from PIL import Image, ImageDraw, ImageFont
    report(filters=[Image.ANTIALIAS == Image.LANCZOS, Image.LINEAR, Image.CUBIC == Image.BICUBIC])
"""


def test_names_that_pillow_removed(tmp_path, run_python):
    for name, code in {"__init__": "", "Image": IMAGE, "ImageDraw": DRAW, "ImageFont": FONT}.items():
        (tmp_path / "PIL").mkdir(exist_ok=True)
        (tmp_path / "PIL" / f"{name}.py").write_text(code)
    code = (
        CODE
        + """
    report(
        draw=ImageDraw.ImageDraw().textsize("abc", None, 9),
        lines=ImageDraw.ImageDraw().multiline_textsize("a", "font", spacing=5),
        fonts=[getattr(ImageFont, kind)().getsize("abcd") for kind in ("FreeTypeFont", "TransposedFont", "ImageFont")],
        tensorflow="tensorflow" in sys.modules,
    )
    """
    )
    found = run_python(code, str(tmp_path), fresh=True).results
    assert found["filters"] == [True, "kept", True]
    assert (found["draw"], found["lines"]) == ([11, 9], [4, 5])
    assert found["fonts"] == [[4, 8], [4, 8], "kept"]
    assert not found["tensorflow"]


@pytest.mark.skipif(importlib.util.find_spec("PIL") is None, reason="Pillow is not installed")
def test_with_pillow(run_python):
    code = (
        CODE
        + """
    image = Image.new("RGB", (64, 32)).resize((8, 8), Image.ANTIALIAS)
    font = ImageFont.load_default()
    report(size=image.size, text=ImageDraw.Draw(image).textsize("word", font), font=font.getsize("word"))
    """
    )
    found = run_python(code, fresh=True).results
    assert found["filters"][0] and found["size"] == [8, 8] and found["text"] == found["font"]
    assert found["text"][0] > found["text"][1] > 0

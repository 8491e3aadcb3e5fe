#!/usr/bin/env python3
"""build.py PROGRAM OUT: all pages of the repository, and what the program says of itself, as one folder without server.

Markdown is read by python3-markdown, headers by Doxygen. Every link is followed: one that leads nowhere ends with status 1.
"""
import html
import json
import pathlib
import posixpath
import re
import shutil
import sys
import urllib.parse

import api
import pages as pages_module
import reference

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def search_entries(pages):
    """A page's sections: [page, title, heading, anchor, text]."""
    for page, title, body in pages.written:
        parts = re.split(r"<h([1-3])([^>]*)>(.*?)</h\1>", body.replace("<wbr>", ""), flags=re.S)
        plain = lambda text: " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())
        for at in range(1, len(parts), 4):
            anchor = re.search(r'id=["\']?([^"\'>]*)', parts[at + 1])
            yield [page, title, plain(parts[at + 2]), anchor[1] if anchor and parts[at] != "1" else "", plain(parts[at + 3])]


def broken_links(out):
    files = {f.relative_to(out).as_posix(): f for f in out.rglob("*") if f.is_file()}
    texts = {name: f.read_text(encoding="utf-8") for name, f in files.items() if name.endswith(".html")}
    anchors = {name: set(re.findall(r'\bid=["\']?([^"\'\s>]+)', text)) for name, text in texts.items()}
    for name, text in texts.items():
        markup = re.sub(r"<(pre|script)\b.*?</\1>", "", text, flags=re.S)
        for link in re.findall(r'(?:href|src)=["\']([^"\']+)["\']', markup):
            link = html.unescape(link)
            if re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), urllib.parse.unquote(path))) if path else name
            if target not in files:
                yield f"{name}: {link} leads to no file"
            elif anchor and anchor not in anchors.get(target, ()):
                yield f"{name}: {link} leads to no heading"


def main(program, folder):
    out = pathlib.Path(folder).resolve()
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    pages = pages_module.Pages(ROOT, out)
    for source in pages_module.sources(ROOT):
        pages.markdown(source)
    reference.Reference(ROOT, program, pages).all()
    api.write(ROOT, pages)
    pages.others()
    for name in ("site.css", "site.js"):
        shutil.copy(HERE / name, out / name)
    index = json.dumps(list(search_entries(pages)), ensure_ascii=False, separators=(",", ":"))
    (out / "search.js").write_text("window.raddleSearch=" + index.replace("</", "<\\/") + ";\n", encoding="utf-8")
    broken = list(broken_links(out))
    print("\n".join(broken), file=sys.stderr, end="\n" if broken else "")
    size = sum(f.stat().st_size for f in out.rglob("*") if f.is_file())
    print(f"== site: {len(pages.written)} pages, {size / 1e6:.1f} MB, {len(broken)} broken links; open {out}/index.html")
    return 1 if broken else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2]))

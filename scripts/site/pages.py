"""The repository's Markdown as pages of the site, with links that lead where they do in the repository."""
import html
import pathlib
import posixpath
import re

import markdown

import layout

# Files that are shown as text when a page leads to them.
TEXTS = {".toml", ".txt", ".csv", ".cpp", ".h", ".cu", ".sh", ".py", ".pyi", ".cff", ".ptx", ".def", ""}
PICTURES = {".svg", ".png"}
FOLDERS = ("docs", "examples", "experiments", "workloads", "data/errors", "data/silicon")
AT_THE_ROOT = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
MAX_SHOWN = 400_000


def slug(text, separator="-"):
    """As GitHub makes anchors of headings."""
    return re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", separator)


def target_of(path):
    """Where a file of the repository is in the site."""
    if path.name == "README.md":
        return path.with_name("index.html").as_posix()
    if path.suffix == ".md":
        return path.with_suffix(".html").as_posix()
    return path.as_posix() if path.suffix in PICTURES else path.as_posix() + ".html"


def sources(root):
    for name in AT_THE_ROOT:
        yield pathlib.Path(name)
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.md")):
            yield path.relative_to(root)


def loose_lists(text):
    """A list may follow a paragraph at once, as GitHub has it; not within a fenced block."""
    out, fenced = [], False
    for line in text.split("\n"):
        fenced ^= line.startswith("```")
        item = re.match(r"([*-]|\d+\.) ", line)
        if item and not fenced and out and out[-1].strip() and not re.match(r"\s*([*-]|\d+\.) |\s{2,}\S", out[-1]):
            out.append("")
        # Code that says how it is to be run is shell code to the reader.
        out.append("```sh" if line == "```sh nvcc" else line)
    return "\n".join(out)


class Pages:
    def __init__(self, root, out):
        self.root, self.out = root, out
        self.extra = set()  # files of the repository that pages lead to
        self.written = []   # (page, title, body) for the search

    def write(self, page, title, body, contents=""):
        file = self.out / page
        file.parent.mkdir(parents=True, exist_ok=True)
        body = body.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")
        file.write_text(layout.document(page, title, body, contents), encoding="utf-8")
        self.written.append((page, title, body))

    def link(self, href, source, page):
        """A link of `source`, a file of the repository, as one of `page`."""
        if re.match(r"[a-z]+:|#", href):
            return href
        path, _, anchor = href.partition("#")
        file = pathlib.Path(posixpath.normpath(source.parent / path))
        found = self.root / file
        if found.is_dir():
            file = file / "README.md" if (found / "README.md").exists() else file
        if (self.root / file).is_dir() or not found.exists():
            raise SystemExit(f"site: {source}: the link {href} leads to no page")
        if file.suffix != ".md":
            self.extra.add(file)
        return layout.relative(target_of(file), page) + ("#" + anchor if anchor else "")

    def markdown(self, source):
        page = target_of(source)
        text = (self.root / source).read_text(encoding="utf-8")
        engine = markdown.Markdown(extensions=["tables", "fenced_code", "sane_lists", "toc"],
                                   extension_configs={"toc": {"slugify": slug, "toc_depth": "2-3"}})
        body = engine.convert(loose_lists(text))
        body = re.sub(r'(href|src)="([^"]*)"',
                      lambda m: f'{m[1]}="{html.escape(self.link(html.unescape(m[2]), source, page))}"', body)
        body = re.sub(r'(?<![">\w/])(https://[^\s<)]+[^\s<).,])', r'<a href="\1">\1</a>', body)
        title = re.search(r"<h1[^>]*>(.*?)</h1>", body, re.S)
        title = re.sub(r"<[^>]*>", "", title[1]) if title else source.stem
        self.write(page, html.unescape(title), body, engine.toc if engine.toc.count("<li>") > 2 else "")

    def others(self):
        """The files that pages lead to: pictures as they are, texts as pages."""
        for file in sorted(self.extra):
            target = self.out / target_of(file)
            target.parent.mkdir(parents=True, exist_ok=True)
            if file.suffix in PICTURES:
                target.write_bytes((self.root / file).read_bytes())
            elif file.suffix in TEXTS:
                text = (self.root / file).read_text(encoding="utf-8")[:MAX_SHOWN]
                self.write(target_of(file), file.as_posix(),
                           f"<h1>{file.as_posix()}</h1><pre><code>{html.escape(text)}</code></pre>")
            else:
                raise SystemExit(f"site: no page can show {file}")

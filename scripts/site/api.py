"""The interfaces for C++, from what Doxygen reads in the headers (its XML), in the look of the site."""
import html
import pathlib
import subprocess
import tempfile
import xml.etree.ElementTree as xml

SETTINGS = """
INPUT = {inputs}
FILE_PATTERNS = *.h
RECURSIVE = YES
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
EXTRACT_ALL = YES
JAVADOC_AUTOBRIEF = YES
QUIET = YES
WARNINGS = NO
OUTPUT_DIRECTORY = {out}
STRIP_FROM_PATH = {root}/src
"""


def plain(node):
    """What a node says, whitespace as between words."""
    return " ".join("".join(node.itertext()).split()) if node is not None else ""


def documentation(node):
    parts = [plain(node.find("briefdescription")), plain(node.find("detaileddescription"))]
    return html.escape(" ".join(p for p in parts if p))


def signature(member):
    out = plain(member.find("type")) + " " + plain(member.find("name")) + plain(member.find("argsstring"))
    initial = plain(member.find("initializer"))
    return html.escape(out.strip() + (" " + initial if initial and len(initial) < 40 else "")).replace("&lt; ", "&lt;").replace(" &gt;", "&gt;")


def members(compound):
    rows = []
    for member in compound.iter("memberdef"):
        if member.get("prot") not in ("public", "protected"):
            continue
        if member.get("kind") == "enum":
            values = ", ".join(plain(v.find("name")) for v in member.findall("enumvalue"))
            rows.append((html.escape(f"enum {plain(member.find('name'))}: {values}"), documentation(member)))
        else:
            virtual = "virtual " if member.get("virt") in ("virtual", "pure-virtual") else ""
            rows.append((virtual + signature(member), documentation(member)))
    return "".join(f"<tr><td><code>{a}</code></td><td>{b}</td></tr>" for a, b in rows)


def head_comment(file):
    """The comment at the head of a header says what it is."""
    out = []
    for line in file.read_text(encoding="utf-8").splitlines():
        if not line.startswith("//"):
            break
        out.append(line[2:].strip())
    return html.escape(" ".join(out))


def write(root, pages):
    with tempfile.TemporaryDirectory() as folder:
        inputs = " ".join(str(root / "src/raddle" / room) for room in ("api", "policy", "base"))
        (pathlib.Path(folder) / "Doxyfile").write_text(SETTINGS.format(inputs=inputs, out=folder, root=root), encoding="utf-8")
        subprocess.run(["doxygen", "Doxyfile"], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        compounds = {}
        for file in sorted((pathlib.Path(folder) / "xml").glob("*.xml")):
            for compound in xml.parse(file).getroot().iter("compounddef"):
                if compound.get("kind") in ("class", "struct") and compound.get("prot") != "private":
                    place = compound.find("location").get("file")
                    compounds.setdefault(place, []).append(compound)
        files = {}
        headers = [f for room in ("api/*.h", "policy/**/*.h", "base/*.h") for f in sorted((root / "src/raddle").glob(room))]
        for file in headers:
            name = file.relative_to(root / "src").as_posix()
            body = f"<h1>{name}</h1><p>{head_comment(file)}</p><p>{code_line(name)}</p>"
            found = [c for place, all in compounds.items() if place.endswith(name) for c in all]
            for compound in sorted(found, key=lambda c: int(c.find("location").get("line"))):
                title = plain(compound.find("compoundname")).removeprefix("raddle::").removeprefix("policy::").removeprefix("api::")
                rows = members(compound)
                body += f'<h2 id="{html.escape(title)}">{compound.get("kind")} {html.escape(title)}</h2><p>{documentation(compound)}</p>'
                body += f"<table><tbody>{rows}</tbody></table>" if rows else ""
            body += f"<h2 id='source'>Source</h2><pre><code>{html.escape(file.read_text(encoding='utf-8'))}</code></pre>"
            page = "api/" + name.replace("/", "-").removesuffix(".h") + ".html"
            pages.write(page, name, body)
            files[name] = (page, head_comment(file))
    stub = pathlib.Path("python/raddle/__init__.pyi")
    pages.extra.add(stub)
    body = ("<h1>Interfaces</h1><p><b>Python</b>: <a href='../docs/python.html'>the page</a>, "
            f"<a href='../{stub}.html'>names and types</a>.</p>" +
            group("C++: simulate, compare, sweep", "api", files, "Rooms of the program stand behind these headers; the commands and the Python module use them.") +
            group("Plug-ins of policies", "policy", files, "What a policy may use, in the tree and as a plug-in. Each level's <code>policy.h</code> says what a policy "
                  "sees, what it may answer and who calls it when. How to go about it: <a href='../docs/adding-a-policy.html'>adding a policy</a>.") +
            group("What both use", "base", files, ""))
    pages.write("api/index.html", "Interfaces", body)


def group(title, room, files, about):
    rows = "".join(f'<tr><td><a href="{page.removeprefix("api/")}"><code>{name}</code></a></td><td>{text}</td></tr>'
                   for name, (page, text) in files.items() if name.startswith(f"raddle/{room}/"))
    return f'<h2 id="{room}">{title}</h2><p>{about}</p><table><tbody>{rows}</tbody></table>'


def code_line(name):
    return f"<code>#include \"{name}\"</code>"

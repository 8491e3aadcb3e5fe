"""The frame of every page, and the list of pages at its side."""
import html
import posixpath

# Heading, then (title, page) as its path in the site.
NAVIGATION = [
    ("Start", [("Raddle", "index.html"), ("All pages by task", "docs/index.html"), ("Install", "docs/install.html"),
               ("First study", "docs/first-study.html"), ("Gallery", "reference/gallery.html")]),
    ("Tasks", [("Own program", "docs/own-program.html"), ("Own policy", "docs/adding-a-policy.html"),
               ("Own machine", "docs/own-machine.html"), ("Sweeps and clusters", "docs/sweeps.html"),
               ("Python", "docs/python.html"), ("Reading results", "docs/results.html"), ("Long programs", "docs/sampling.html"),
               ("Several programs", "docs/corun.html"), ("Traces of others", "docs/traces.html")]),
    ("Papers", [("Five papers", "docs/papers.html"), ("CCWS", "docs/reproductions/ccws.html"),
                ("IKRA", "docs/reproductions/ikra.html"), ("CCBP", "docs/reproductions/ccbp.html"),
                ("LATOA", "docs/reproductions/latoa.html"), ("LaPerm", "docs/reproductions/laperm.html"),
                ("TITAN V", "docs/reproductions/volta.html")]),
    ("Trust", [("How far", "docs/trust.html"), ("Verification", "docs/verification.html"),
               ("Validation", "docs/validation.html"), ("Deviations", "docs/deviations.html"),
               ("Energy", "docs/energy.html")]),
    ("Reference", [("Commands", "docs/cli.html"), ("Options", "reference/options.html"),
                   ("Experiment files", "experiments/index.html"), ("Experiments", "reference/experiments.html"),
                   ("Machines", "reference/machines.html"), ("Settings", "reference/settings.html"),
                   ("Policies", "reference/policies.html"), ("Workloads", "reference/workloads.html"),
                   ("Metrics", "docs/metrics.html"), ("Analyses", "reference/analyses.html"),
                   ("PTX covered", "reference/ptx.html"), ("CUDA covered", "docs/cuda.html"),
                   ("C++ and Python", "api/index.html"), ("Glossary", "docs/glossary.html")]),
    ("Design", [("Architecture", "docs/architecture.html"), ("Reasons", "docs/reasons.html"),
                ("Lowering", "docs/lowering.html"), ("Performance", "docs/performance.html"),
                ("Contributing", "CONTRIBUTING.html"), ("Changelog", "CHANGELOG.html")]),
]


def relative(target, page):
    """`target` as a link from `page`, both paths in the site."""
    return posixpath.relpath(target, posixpath.dirname(page) or ".")


def side(page):
    out = []
    for heading, entries in NAVIGATION:
        links = "".join(
            f'<li><a href="{relative(target, page)}"{" aria-current=page" if target == page else ""}>{title}</a></li>'
            for title, target in entries)
        out.append(f"<h2>{heading}</h2><ul>{links}</ul>")
    return "".join(out)


def document(page, title, body, contents=""):
    """A whole page; `contents` is its own table of contents."""
    here = f'<details class="contents"><summary>On this page</summary>{contents}</details>' if contents else ""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)} - Raddle</title>
<link rel="stylesheet" href="{relative("site.css", page)}">
<script defer src="{relative("site.js", page)}" data-root="{relative("index.html", page)[:-len("index.html")]}"></script>
</head>
<body>
<a class="skip" href="#content">To the content</a>
<header>
<a class="brand" href="{relative("index.html", page)}"><span class="comb" aria-hidden="true"></span>Raddle</a>
<button id="menu" aria-expanded="false" aria-controls="side">Pages</button>
<form role="search" onsubmit="return false"><input id="search" type="search" placeholder="Search" aria-label="Search" autocomplete="off"></form>
</header>
<div id="found" hidden></div>
<nav id="side" aria-label="Pages">{side(page)}</nav>
<main id="content">
{here}
{body}
</main>
</body>
</html>
"""

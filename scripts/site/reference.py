"""Pages made from what the program says of itself."""
import collections
import csv
import html
import json
import re
import subprocess

import layout


def text(value):
    """Escaped, with `code` in it as such."""
    parts = html.escape(str(value), quote=False).split("`")
    return "".join(f"<code>{p}</code>" if i % 2 else p for i, p in enumerate(parts)) if len(parts) % 2 else "`".join(parts)


def table(head, rows):
    cells = lambda row, tag: "".join(f"<{tag}>{c}</{tag}>" for c in row)
    return ("<table><thead><tr>" + cells(head, "th") + "</tr></thead><tbody>" +
            "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows) + "</tbody></table>")


def code(value):
    """Long names may be broken where their parts meet."""
    return "<code>" + re.sub(r"([|._])(?=\w)", r"\1<wbr>", html.escape(str(value), quote=False)) + "</code>"


class Reference:
    def __init__(self, root, program, pages):
        self.root, self.program, self.pages = root, program, pages

    def ask(self, *words):
        out = subprocess.run([self.program, *words], check=True, capture_output=True, text=True).stdout
        return json.loads(out)

    def write(self, name, title, body):
        self.pages.write(f"reference/{name}.html", title, f"<h1>{title}</h1>" + body)

    def all(self):
        self.options()
        self.machines()
        self.policies()
        self.listed("workloads", "Workloads", "Each in sizes <code>tiny</code>, <code>small</code> and <code>paper</code>; "
                    "what they run: <a href='../workloads/index.html'>workloads</a>. Defaults are those of <code>small</code>.")
        self.experiments()
        self.analyses()
        self.ptx()
        self.gallery()

    def options(self):
        body = "<p>Every command with all of its options, as <code>raddle COMMAND --help</code> has them. "
        body += "Examples stand with the <a href='../docs/cli.html'>commands</a>.</p>"
        for command in self.ask("help", "--json"):
            name = ("raddle " + command["name"]).strip()
            words = " ".join(p["names"][0] for p in command.get("positionals", []))
            body += f'<h2 id="{name.replace(" ", "-")}">{html.escape(name)} {html.escape(words)}</h2><p>{text(command["doc"])}</p>'
            rows = [(code(", ".join(o["names"]) + (" " + o["value"] if "value" in o else "")),
                     text(o["doc"]) + (f" (default: {code(o['default'])})" if "default" in o else ""))
                    for o in command.get("positionals", []) + command.get("options", []) if o["names"][0] != "--help"]
            body += table(("option", "meaning"), rows) if rows else ""
            body += f"<pre>{html.escape(command['footer'])}</pre>" if command["footer"].strip() else ""
        self.write("options", "Options", body)

    def machines(self):
        machines = {m["name"]: self.ask("list", "gpus", m["name"], "--json") for m in self.ask("list", "gpus", "--json")}
        paths = collections.OrderedDict()
        for machine in machines.values():
            for setting in machine["settings"]:
                paths.setdefault(setting["path"], setting)
        rows = []
        for name, machine in machines.items():
            values = {s["path"]: s["value"] for s in machine["settings"]}
            rows.append((f'<a href="machine-{name}.html">{name}</a>', values["sm.count"], values["core_clock_mhz"],
                         f'{values["l2.slices"]} x {values["l2.size_kib"]} KiB', text(values["source"].strip('"'))))
            body = f"<p>{text(values['source'].strip(chr(34)))}. As text: {code('raddle list gpus ' + name)}.</p>"
            for file, head in zip(machine["files"], machine["heads"]):
                body += f"<h2>{file}</h2><pre>{html.escape(head)}</pre>"
            body += "<h2>Settings</h2>" + table(("setting", "value", "unit", "meaning", "source"), [
                (code(s["path"]), code(s["value"]), text(s["unit"]), text(s["meaning"]),
                 text(s["source"]) + ("" if s["file"] == machine["files"][0] else f" ({code(s['file'])})"))
                for s in machine["settings"] if s["path"] not in ("name", "source")])
            self.write(f"machine-{name}", f"Machine {name}", body)
        self.write("machines", "Machines", "<p>Where the numbers are from: <a href='../docs/machines.html'>machines</a>. "
                   "How to make one: <a href='../docs/own-machine.html'>own machine</a>.</p>" +
                   table(("machine", "SMs", "MHz", "L2", "sources"), rows))
        shown = [n for n in ("gtx480", "v100", "a100", "h100") if n in machines]
        values = {n: {s["path"]: s["value"] for s in machines[n]["settings"]} for n in shown}
        self.write("settings", "Settings", "<p>What <code>--set</code> and machine files can say, with the values of "
                   "some machines; a dash: it does not say so.</p>" +
                   table(("setting", "unit", "meaning", *shown), [
                       (code(p), text(s["unit"]), text(s["meaning"]), *(code(values[n].get(p, "-")) for n in shown))
                       for p, s in paths.items() if p not in ("name", "source")]))

    @staticmethod
    def parameters(item):
        return table(("parameter", "default", "unit", "meaning"), [
            (code(p["path"]), code(json.dumps(p.get("default", ""))), text(p.get("unit", "")),
             text(p["doc"]) + (f" ({', '.join(map(code, p['choices']))})" if p.get("choices") else ""))
            for p in item["parameters"]]) if item["parameters"] else ""

    def policies(self):
        body = "<p>What <code>--policy</code> takes. How to write one: <a href='../docs/adding-a-policy.html'>adding a policy</a>.</p>"
        level = ""
        for item in self.ask("list", "policies", "--json"):
            of, _, name = item["name"].partition("=")
            if of != level:
                body, level = body + f'<h2 id="{of}">{of}</h2>', of
            body += f'<h3 id="{of}-{name}">{name}</h3><p>{text(item["doc"])}</p>' + self.parameters(item)
        self.write("policies", "Policies", body)

    def listed(self, what, title, intro):
        body = f"<p>{intro}</p>"
        for item in self.ask("list", what, "--json"):
            body += f'<h2 id="{item["name"]}">{item["name"]}</h2><p>{text(item["doc"])}</p>' + self.parameters(item)
        self.write(what, title, body)

    def experiments(self):
        rows = [(code(e["name"]), text(e["doc"]), text(e["kind"]), text(e["source"])) for e in self.ask("list", "experiments", "--json")]
        self.write("experiments", "Experiments", f"<p>{len(rows)} figures, tables and claims; <code>raddle reproduce NAME</code> runs one.</p>" +
                   table(("name", "what", "kind", "source"), rows))

    def analyses(self):
        body = "<p><code>raddle analyze NAME WORKLOAD</code>; experiment files can ask for them, too.</p>"
        for item in self.ask("list", "analyses", "--json"):
            body += f'<h2 id="{item["name"]}">{item["name"]}</h2><p>{text(item["doc"])}</p>' + self.parameters(item)
            body += table(("figure", "unit", "meaning"), [(code(f["name"]), text(f["unit"]), text(f["doc"])) for f in item["figures"]])
        self.write("analyses", "Analyses", body)

    def ptx(self):
        with open(self.root / "tests/data/ptx_opcodes.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        by_base = collections.defaultdict(list)
        for row in rows:
            by_base[row["base"]].append(row)
        body = (f"<p>All {len(rows)} forms of {len(by_base)} PTX instructions that were counted in the kernels of ten public suites are executed; "
                "a test asks for each. What is not known is refused by name and line before anything runs: "
                "<code>raddle ptx FILE</code>. What there is not: <a href='../docs/cuda.html#what-there-is-not'>CUDA programs</a>.</p>")
        body += table(("instruction", "forms", "used by", "which"), [
            (code(base), len(forms), f"{max(int(f['apps']) for f in forms)} applications",
             " ".join(code(f["opcode"]) for f in forms))
            for base, forms in sorted(by_base.items(), key=lambda e: -max(int(f["apps"]) for f in e[1]))])
        self.write("ptx", "PTX covered", body)

    def gallery(self):
        pictures = sorted((self.root / "docs/examples").glob("*.svg"))
        body = "<p>What the small studies of <a href='../examples/index.html'>examples</a> draw. Each is a file of a few lines, and takes seconds.</p>"
        for picture in pictures:
            source = self.root / "examples" / (picture.stem + ".toml")
            self.pages.extra.add(picture.relative_to(self.root))
            body += f'<h2 id="{picture.stem}">{picture.stem.replace("_", " ")}</h2>'
            link = layout.relative(picture.relative_to(self.root).as_posix(), "reference/gallery.html")
            body += f'<p><img class="drawing" src="{link}" alt="{picture.stem}"></p>'
            body += f"<pre><code>{html.escape(source.read_text(encoding='utf-8'))}</code></pre>"
        self.write("gallery", "Gallery", body)

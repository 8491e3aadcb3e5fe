#!/usr/bin/env python3
"""Changes words and operands of instructions that PTX has, and asks ptxas and `raddle ptx` which of them it still has.

    scripts/compare_syntax.py [LINES [SEED]]

The instructions are those that tests/unit/exec/syntax*_test.cpp say PTX allows. Prints how often the two agree, and each
line that ptxas refuses and Raddle takes. Needs ptxas 13 (sm_90a) and build/release/raddle.
"""
import collections
import glob
import os
import random
import re
import subprocess
import sys
import tempfile

HEAD = """.version 9.0
.target sm_90a
.address_size 64
.global .align 16 .b8 gv[64];
.visible .entry k(.param .u64 p, .param .u32 n)
{
.shared .align 16 .b8 sh[64];
.reg .b8 c<9>; .reg .b16 h<9>; .reg .u16 hu<9>; .reg .f16 hf<9>; .reg .b32 r<9>;
.reg .u32 ru<9>; .reg .f16x2 rh<9>; .reg .f32 f<9>; .reg .b64 d<9>; .reg .u64 du<9>;
.reg .f64 e<9>; .reg .b128 x<9>; .reg .pred q<9>;
"""
FIRST_LINE = HEAD.count("\n") + 1
TYPES = ("b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 bf16 bf16x2 tf32 f32 f64 pred").split()
REGISTERS = "c1 h1 hu2 hf3 r4 ru5 rh6 f7 d1 du2 e3 x4 q5".split()
OTHERS = "0 1 -1 3 17 255 65536 1.0 0f3F800000 gv sh %tid.x %clock64 !q1 _ q1|q2".split()
ADDRESSES = "[gv] [sh] [d1+4] [r1] [p] [n] [f1] [gv+4]".split()


def seeds():
    lines = []
    for file in sorted(glob.glob("tests/unit/exec/syntax*_test.cpp")):
        with open(file, encoding="utf-8") as text:
            for table in re.findall(r"k(?:Allowed|Taken)\[\] = \{(.*?)\n\};", text.read(), re.S):
                for entry in re.findall(r'((?:"[^"]*"\s*)+),', table):
                    lines.append("".join(re.findall(r'"([^"]*)"', entry)))
    return lines


def operands_of(text):
    parts, depth, part = [], 0, ""
    for letter in text:
        depth += (letter in "{[") - (letter in "}]")
        if letter == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += letter
    return parts + [part.strip()] if part.strip() else parts


def change_words(words, chance, vocabulary):
    at = chance.randrange(1, len(words))
    kind = chance.randrange(6)
    if kind == 0 and words[at] in TYPES:
        words[at] = chance.choice(TYPES)
    elif kind == 1:
        del words[at]
    elif kind == 2:
        words.insert(at, words[at])
    elif kind == 3 and at > 1:
        words[at - 1], words[at] = words[at], words[at - 1]
    elif kind == 4:
        words.insert(at, chance.choice(vocabulary))
    else:
        words[at] = chance.choice(vocabulary)


def change_operands(operands, chance):
    at = chance.randrange(len(operands))
    kind = chance.randrange(6)
    if kind == 0:
        del operands[at]
    elif kind == 1:
        operands.insert(at, operands[at])
    elif kind == 2:
        other = chance.randrange(len(operands))
        operands[at], operands[other] = operands[other], operands[at]
    elif kind == 3 and operands[at].startswith("["):
        operands[at] = chance.choice(ADDRESSES)
    elif kind == 4 and operands[at].startswith("{"):
        elements = operands_of(operands[at][1:-1])
        elements[chance.randrange(len(elements))] = chance.choice(REGISTERS)
        if chance.randrange(2):
            elements.pop()
        operands[at] = "{" + ",".join(elements) + "}"
    else:
        operands[at] = chance.choice(REGISTERS + OTHERS)


def changed(line, chance, vocabulary):
    opcode, _, rest = line.rstrip(";").partition(" ")
    words, operands = opcode.split("."), operands_of(rest)
    if len(words) > 1 and (not operands or chance.randrange(2)):
        change_words(words, chance, vocabulary)
    elif operands:
        change_operands(operands, chance)
    return ".".join(words) + (" " + ",".join(operands) if operands else "") + ";"


class Judge:
    """What both say of lines: for each (ptxas' reason or None, Raddle's or None)."""

    def __init__(self, folder):
        self.file = os.path.join(folder, "lines.ptx")

    def _ask(self, command, pattern, parsed):
        out = subprocess.run(command, capture_output=True, text=True, check=False)
        text = out.stdout + out.stderr
        if out.returncode == 0:
            return {}, True
        reasons = {}
        for line, why in re.findall(pattern, text):
            reasons.setdefault(int(line) - FIRST_LINE, why)
        return (reasons, True) if reasons and parsed(text) else ({0: text.strip()}, False)

    def judge(self, lines):
        with open(self.file, "w", encoding="utf-8") as out:
            out.write(HEAD + "\n".join(lines) + "\nret;\n}\n")
        theirs, they_parsed = self._ask(["ptxas", "-arch=sm_90a", self.file, "-o", os.devnull],
                                        r"line (\d+); (?:error|fatal)\s*: (.*)",
                                        lambda text: "arsing" not in text and "yntax" not in text)
        ours, we_parsed = self._ask(["build/release/raddle", "ptx", self.file], r"raddle: [^:]*:(\d+):\d+: (.*)",
                                    lambda text: "cannot be executed yet" in text)
        if len(lines) > 1 and not (they_parsed and we_parsed):
            half = len(lines) // 2
            return self.judge(lines[:half]) + self.judge(lines[half:])
        return [(theirs.get(i), ours.get(i)) for i in range(len(lines))]


def declared(line, reason):
    """Whether docs/deviations.md says that ptxas refuses it and Raddle does not."""
    return ("target" in reason or "Immediate addresses" in reason or "cache" in reason.lower() or
            "warning" in reason or "near '-'" in reason)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    chance = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    start = seeds()
    vocabulary = sorted({word for line in start for word in line.rstrip(";").split(" ")[0].split(".")[1:]})
    seen, verdicts, more = set(start), collections.Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(folder)
        while sum(verdicts.values()) < count:
            lines = []
            while len(lines) < 24:
                line = changed(chance.choice(start), chance, vocabulary)
                if line not in seen:
                    seen.add(line)
                    lines.append(line)
            for line, (theirs, ours) in zip(lines, judge.judge(lines)):
                odd = theirs and not ours and not declared(line, theirs)
                verdicts["taken by Raddle alone" if odd else "declared" if theirs and not ours else
                         "refused by both" if theirs else "taken by ptxas alone" if ours else "taken by both"] += 1
                if odd:
                    more.append(f"{line}   {theirs.splitlines()[0]}")
    for verdict, number in verdicts.most_common():
        print(f"{number:7} {verdict}")
    print("\n".join(more))


if __name__ == "__main__":
    main()

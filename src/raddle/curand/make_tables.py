#!/usr/bin/env python3
"""Writes joe_kuo.inc and mtgp32.inc from what their authors publish.

    make_tables.py new-joe-kuo-6.21201 mtgp32dc-param-11213.c

The first is the file of direction numbers of S. Joe and F. Y. Kuo
(https://web.maths.unsw.edu.au/~fkuo/sobol/), the second that of parameters of MTGP for period
2^11213 (https://github.com/MersenneTwister-Lab/MTGP, cuda-sample).
"""
import pathlib
import re
import sys

ROOM = pathlib.Path(__file__).parent
MAX_DEGREE = 16  # of the polynomials: the next degree alone would more than double the table
SETS = 192
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
LINE = 96

JOE_KUO = """/* Direction numbers of Sobol' sequences for dimensions 2 to {dimensions}: new-joe-kuo-6 of S. Joe
 * and F. Y. Kuo, Constructing Sobol sequences with better two-dimensional projections, SIAM J. Sci.
 * Comput. 30 (2008). Copyright (c) 2008, Frances Y. Kuo and Stephen Joe, under their BSD-style
 * licence: redistribution is permitted with this notice, and without warranty of any kind.
 * Six bits a letter of base 64, highest first. A dimension with a polynomial of degree s has its
 * inner coefficients in s - 1 bits, then m_2 to m_s, odd numbers below 2^i, without their last bit.
 * Degrees ascend. Written by make_tables.py. */
"""
MTGP = """/* Parameters of MTGP32 for period 2^11213 - 1: pos, sh1, sh2, and rows 1, 2, 4 and 8 of the tables
 * of recursion and tempering. From mtgp32dc-param-11213 of M. Saito and M. Matsumoto, Copyright (c)
 * 2009, 2010 Mutsuo Saito, Makoto Matsumoto and Hiroshima University, under the new BSD licence:
 * redistribution is permitted with this notice, and without warranty of any kind.
 * Written by make_tables.py. */
"""


def joe_kuo(path):
    bits, dimensions = [], 1
    for line in path.read_text().splitlines()[1:]:
        _, degree, inner, *numbers = (int(word) for word in line.split())
        if degree > MAX_DEGREE:
            break
        dimensions += 1
        bits.append(format(inner, f"0{degree - 1}b") if degree > 1 else "")
        for i, number in enumerate(numbers):
            if i > 0:
                bits.append(format(number >> 1, f"0{i}b"))
    text = "".join(bits)
    text += "0" * (-len(text) % 6)
    letters = "".join(LETTERS[int(text[i : i + 6], 2)] for i in range(0, len(text), 6))
    out = JOE_KUO.format(dimensions=dimensions)
    for i in range(0, len(letters), LINE):
        out += f'"{letters[i : i + LINE]}",\n'
    (ROOM / "joe_kuo.inc").write_text(out)


def mtgp(path):
    numbers = re.compile(r"0x[0-9a-f]+")
    sets = re.findall(r"11213,\s*(\d+),\s*(\d+),\s*(\d+),\s*\{(.*?)\},\s*\{(.*?)\}",
                      path.read_text(), re.S)
    out = MTGP
    for pos, sh1, sh2, table, tempering in sets[:SETS]:
        rows = [numbers.findall(text)[i] for text in (table, tempering) for i in (1, 2, 4, 8)]
        out += f"{{{pos}, {sh1}, {sh2}, {', '.join(rows[:4])},\n {', '.join(rows[4:])}}},\n"
    (ROOM / "mtgp32.inc").write_text(out)


joe_kuo(pathlib.Path(sys.argv[1]))
mtgp(pathlib.Path(sys.argv[2]))

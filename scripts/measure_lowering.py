#!/usr/bin/env python3
"""What NVIDIA's assembler makes of PTX, against the rules of src/raddle/lowering. Needs ptxas.

  measure_lowering.py instructions [ARCH...]      machine instructions of single PTX instructions
  measure_lowering.py kernels build/lowering_counts.csv   our kernels: counts and registers
                                                  (the file is the output of bench/lowering_counts)
  measure_lowering.py registers                   workloads/registers.csv anew: registers that ptxas gives our kernels
  measure_lowering.py registers --check           whether it is current; without ptxas 13.0 nothing is said
  measure_lowering.py latencies [ARCH...]         cycles that ptxas leaves between an instruction and who needs its result

Counts only: machine code is decoded as far as its operation (the low nine bits of each 16-byte
instruction since Volta), nothing of it is kept."""
import collections
import csv
import glob
import math
import re
import shutil
import struct
import subprocess
import sys
import tempfile

NOP, BRANCH = 0x118, 0x147
MEMORY_AND_FRAME = {0x181, 0x186, 0x182, 0x0B9, 0x14D, BRANCH, 0x119, NOP, 0x005}
TYPES = {"32": ("r", "b32", 4), "64": ("d", "b64", 8), "16": ("h", "b16", 2)}


def text_sections(path):
    data = open(path, "rb").read()
    (at,) = struct.unpack_from("<Q", data, 0x28)
    (count,) = struct.unpack_from("<H", data, 0x3C)
    (names,) = struct.unpack_from("<H", data, 0x3E)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, at + 64 * i) for i in range(count)]
    for h in headers:
        begin = headers[names][4] + h[0]
        name = data[begin:data.index(b"\0", begin)].decode()
        if name.startswith(".text."):
            yield name[6:], data[h[4]:h[4] + h[5]]


def assemble(ptx, arch):
    """Operations and registers of each kernel."""
    with tempfile.TemporaryDirectory() as folder:
        open(folder + "/k.ptx", "w").write(ptx)
        done = subprocess.run(["ptxas", "-arch=" + arch, "-v", folder + "/k.ptx", "-o",
                               folder + "/k.cubin"], capture_output=True, text=True, check=True)
        registers = dict(re.findall(r"Compiling entry function '(\w+)'.*?Used (\d+) registers",
                                    done.stderr, re.S))
        out = {}
        for name, code in text_sections(folder + "/k.cubin"):
            ops = [struct.unpack_from("<Q", code, i)[0] & 0x1FF for i in range(0, len(code), 16)]
            while ops and ops[-1] == NOP:
                ops.pop()
            if ops and ops[-1] == BRANCH:  # to itself, behind the end
                ops.pop()
            out[name] = ([op for op in ops if op != NOP], int(registers[name]))
        return out


def kernel_of(op, copies):
    """A kernel with independent copies of one instruction: operands loaded, results stored."""
    name, constant = (op.split("#") + [None])[:2]
    width = "64" if name.endswith("64") else "32"
    sources = {"not": 1, "abs": 1, "neg": 1, "popc": 1, "clz": 1, "brev": 1, "rcp": 1, "sqrt": 1,
               "rsqrt": 1, "sin": 1, "cos": 1, "ex2": 1, "lg2": 1, "fma": 3, "mad": 3, "bfe": 3,
               "bfi": 4}.get(name.split(".")[0], 2) - (1 if constant else 0)
    result = "64" if ".wide." in name else "32" if name[:4] in ("popc", "clz.") else width
    loads, work, stores = [], [], []
    for k in range(copies):
        registers = []
        for s in range(sources):
            small = width == "64" and (name[:3] in ("shl", "shr") and s == 1 or
                                       name[:2] == "bf" and s >= sources - 2)
            letter, kind, size = TYPES["32" if small else width]
            registers.append(f"%{letter}{10 + 8 * k + s}")
            loads.append(f"ld.global.{kind} {registers[-1]},[%d1+{8 * (sources * k + s)}];")
        letter, kind, _ = TYPES[result]
        to = f"%{letter}{500 + k}"
        work.append(f"{name} {to}, {', '.join(registers + ([constant] if constant else []))};")
        stores.append(f"st.global.{kind} [%d2+{8 * k}],{to};")
    return (".version 7.5\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 a,"
            ".param .u64 b){\n.reg .b32 %r<999>; .reg .b64 %d<999>;\n"
            "ld.param.u64 %d1,[a]; ld.param.u64 %d2,[b];\n" +
            "\n".join(loads + work + stores) + "\nret;}\n")


INSTRUCTIONS = """
 add.s64 sub.s64 neg.s64 abs.s64 mul.lo.s64 mad.lo.s64 mul.hi.u64 mul.hi.s64 mul.wide.u32 shl.b64 shr.s64
 and.b64 not.b64 min.s64 max.u64 popc.b32 popc.b64 clz.b32 clz.b64 brev.b64 bfe.u32 bfe.u64 bfe.s64 bfi.b32
 bfi.b64 div.u32 rem.u32 div.s32 rem.s32 div.u64 rem.u64 div.s64 rem.s64 div.u32#7 rem.u32#7 div.s32#7
 rem.s32#7 mul.lo.s64#7 div.rn.f32 div.full.f32 div.approx.f32 div.approx.ftz.f32 rcp.rn.f32
 rcp.approx.f32 sqrt.rn.f32 sqrt.approx.f32 rsqrt.approx.f32 ex2.approx.f32 lg2.approx.f32 sin.approx.f32
 cos.approx.f32 div.rn.f64 rcp.rn.f64 sqrt.rn.f64 rsqrt.approx.f64 min.f64""".split()


def instructions(archs):
    print("instruction," + ",".join(f"{a},{a}_whole_kernel" for a in archs))
    for op in INSTRUCTIONS:
        row = [op]
        for arch in archs:
            one, three = (collections.Counter(assemble(kernel_of(op, n), arch)["k"][0])
                          for n in (1, 3))
            each = sum((three[c] - one[c]) / 2 for c in three | one if c not in MEMORY_AND_FRAME)
            row += [f"{each:g}", str(sum(one.values()))]
        print(",".join(row), flush=True)


# By operation: what its result's latency is called.
FIXED = {0x010: "int", 0x012: "int", 0x019: "int", 0x011: "int", 0x024: "int_mul", 0x021: "fp32", 0x020: "fp32",
         0x023: "fp32", 0x029: "fp64", 0x028: "fp64", 0x02B: "fp64", 0x030: "fp16", 0x031: "fp16", 0x032: "fp16"}
THREE_SOURCES = {0x010, 0x012, 0x011, 0x024, 0x023, 0x02B, 0x031}
COMPARES = {0x00B, 0x00C, 0x02A, 0x034, 0x01C}
SELECTS, SYNCHRONISE, RETURN = {0x007, 0x008}, 0x141, 0x150
WITHOUT_RESULT = {0x181, 0x186, 0x188, 0x145, BRANCH, SYNCHRONISE} | COMPARES


def distances(code):
    """What is between a result and its reader, as (name, cycles): sums of the stall counts that each instruction of 16
    bytes holds (bits 105 to 108), along straight code. The least of all is the latency the assembler counts with."""
    clock, made, predicates = 0, {}, {}
    for i in range(0, len(code), 16):
        low, high = struct.unpack_from("<QQ", code, i)
        op, form, stall, guard = low & 0x1FF, low >> 9 & 7, high >> 41 & 15, low >> 12 & 7
        if guard in predicates:
            yield "predicate, as a guard", clock - predicates[guard]
        if op in SELECTS and (high >> 23 & 7) in predicates:
            yield "predicate, as an operand", clock - predicates[high >> 23 & 7]
        if op in FIXED:  # the first source is a register in every form, the others in form 1
            others = [low >> 32 & 255] + ([high & 255] if op in THREE_SOURCES else [])
            for r in [low >> 24 & 255] + (others if form == 1 else []):
                if r != 255 and r in made:
                    yield made[r][0], clock - made[r][1]
        if op not in WITHOUT_RESULT:
            made.pop(low >> 16 & 255, None)
            made.pop((low >> 16 & 255) + 1, None)  # of a wide result
        if op in FIXED:
            made[low >> 16 & 255] = FIXED[op], clock
        if op in COMPARES:
            predicates.update({high >> at & 7: clock for at in (17, 20) if high >> at & 7 != 7})
        if op in (BRANCH, SYNCHRONISE) and stall != 0:
            yield "branch", stall
        clock += stall
        if op in (BRANCH, SYNCHRONISE, RETURN) and guard == 7:
            made, predicates = {}, {}


def latencies(archs):
    names = ["int", "int_mul", "fp32", "fp16", "fp64", "branch", "predicate, as an operand", "predicate, as a guard"]
    least = {}
    for arch in archs:
        found = collections.defaultdict(collections.Counter)
        with tempfile.TemporaryDirectory() as folder:
            for file in sorted(glob.glob("workloads/*/kernels.ptx")):
                cubin = folder + "/k.cubin"
                if subprocess.run(["ptxas", "-arch=" + arch, file, "-o", cubin], capture_output=True).returncode != 0:
                    continue  # asks for a newer GPU
                for _, code in text_sections(cubin):
                    for name, cycles in distances(code):
                        found[name][cycles] += 1
        least[arch] = {n: f"{min(c)} ({c[min(c)]})" for n, c in found.items()}
    print("| cycles (places) | " + " | ".join(archs) + " |\n|---|" + "---|" * len(archs))
    for name in names:
        print(f"| {name} | " + " | ".join(least[a].get(name, "-") for a in archs) + " |")


def kernels(path):
    measured = {}
    for file in sorted(glob.glob("workloads/*/kernels.ptx")):
        ptx = re.sub(r"^(\$L\w+:)", r'\1\n.pragma "nounroll";', open(file).read(), flags=re.M)
        for arch in ("sm_75", "sm_90"):
            if "cudaLaunchDevice" in ptx or not re.search(r"^\.target sm_70$", ptx, re.M):
                continue  # ptxas alone cannot link the device runtime; or not of both GPUs
            for name, (ops, registers) in assemble(ptx, arch).items():
                measured.setdefault(name, {})[arch] = (len(ops), registers)
    print("| kernel | PTX | volta | sm_75 | hopper | sm_90 | registers: PTX | volta | sm_75 | hopper | sm_90 |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    ratios = collections.defaultdict(list)
    for row in csv.DictReader(open(path)):
        if row["kernel"] not in measured:
            continue
        turing, hopper = measured[row["kernel"]]["sm_75"], measured[row["kernel"]]["sm_90"]
        print(f"| {row['kernel']} | {row['ptx']} | {row['volta']} | {turing[0]} | {row['hopper']} | "
              f"{hopper[0]} | {row['ptx_registers']} | {row['volta_registers']} | {turing[1]} | "
              f"{row['hopper_registers']} | {hopper[1]} |")
        for column, of in (("ptx", turing[0]), ("volta", turing[0]), ("hopper", hopper[0]),
                           ("ptx_registers", turing[1]), ("volta_registers", turing[1]),
                           ("hopper_registers", hopper[1])):
            ratios[column].append(int(row[column]) / of)
    for column, all_of in ratios.items():
        mean = math.exp(sum(map(math.log, all_of)) / len(all_of))
        error = 100 * sum(abs(r - 1) for r in all_of) / len(all_of)
        print(f"{column}: geometric mean of ours / ptxas {mean:.2f}, mean error {error:.0f} %")


GPUS = ("sm_75", "sm_80", "sm_90")


def registers_of(path, arch):
    """Registers of each kernel, of kernels that launch kernels without the device runtime; none where the GPU is too
    old."""
    target = re.search(r"^\.target sm_(\d+)(a?)", open(path).read(), re.M)
    if int(arch[3:]) < int(target[1]):
        return []
    arch += target[2]  # code of one GPU alone
    with tempfile.TemporaryDirectory() as folder:
        for more in ([], ["-c"]):
            done = subprocess.run(["ptxas", "-arch=" + arch, "-v", *more, path, "-o", folder + "/k"],
                                  capture_output=True, text=True)
            if done.returncode == 0:
                return re.findall(r"Compiling entry function '(\w+)'.*?Used (\d+) registers",
                                  done.stderr, re.S)
    sys.exit(f"{path}, {arch}: {done.stderr}")


def registers(check):
    version = shutil.which("ptxas") and subprocess.run(["ptxas", "--version"], capture_output=True,
                                                       text=True).stdout
    if not version or "release 13.0" not in version:
        print("workloads/registers.csv is as ptxas 13.0 has it, which is not here")
        sys.exit(not check)
    lines = ["workload,kernel," + ",".join(GPUS)]
    for path in sorted(glob.glob("workloads/*/kernels.ptx")):
        by_gpu = [dict(registers_of(path, arch)) for arch in GPUS]
        lines += [",".join([path.split("/")[1], kernel, *(of.get(kernel, "") for of in by_gpu)])
                  for kernel in sorted(by_gpu[-1])]
    text = "\n".join(lines) + "\n"
    if not check:
        open("workloads/registers.csv", "w").write(text)
    elif open("workloads/registers.csv").read() != text:
        sys.exit("workloads/registers.csv is not what ptxas 13.0 makes of workloads/*/kernels.ptx: "
                 "scripts/measure_lowering.py registers")


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in ("instructions", "kernels", "registers", "latencies"):
        sys.exit(__doc__)
    if sys.argv[1] == "registers":
        sys.exit(registers(sys.argv[2:] == ["--check"]))
    if sys.argv[1] == "latencies":
        latencies(sys.argv[2:] or ["sm_75", "sm_80", "sm_86", "sm_90"])
    elif sys.argv[1] == "instructions":
        instructions(sys.argv[2:] or ["sm_75", "sm_90"])
    else:
        kernels(sys.argv[2])

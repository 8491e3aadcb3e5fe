"""Kernels of one's own, as PTX or CUDA, on NumPy arrays."""

from __future__ import annotations

import hashlib
import math
import operator
import os
import re
import shutil
import subprocess
import tempfile
import weakref
from pathlib import Path
from typing import Any, Iterable, Mapping, Sequence

import numpy as np

from . import _raddle
from ._progress import make_progress
from ._record import Record
from ._results import Result
from ._settings import make_settings, whole

# PTX types of parameters as NumPy has them; b types take what has their size.
_TYPES = {"u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8", "s8": "i1", "s16": "i2", "s32": "i4",
          "s64": "i8", "f16": "f2", "f32": "f4", "f64": "f8"}


def nvcc() -> str | None:
    """The CUDA compiler: in PATH, under CUDA_HOME, or where it is installed."""
    home = os.environ.get("CUDA_HOME")
    places = ([Path(home) / "bin" / "nvcc"] if home else []) + [Path("/usr/local/cuda/bin/nvcc")]
    return shutil.which("nvcc") or next(
        (str(place) for place in places if os.access(place, os.X_OK)), None)


class _Folder:
    """A folder that is there as long as this is."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="raddle-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def compile_cuda(source: str, options: Sequence[str] = (), architecture: str = "compute_80") -> str:
    """The PTX that nvcc makes of CUDA C++."""
    return _compile(_Folder(), source, options, architecture)


def _compile(folder: _Folder, source: str, options: Sequence[str] = (),
             architecture: str = "compute_80") -> str:
    """The PTX, whose lines are those of ``kernel.cu`` in the folder."""
    compiler = nvcc()
    if compiler is None:
        raise _raddle.InputError("CUDA source needs nvcc, which is not in PATH; give PTX instead")
    file, out = folder.path / "kernel.cu", folder.path / "kernel.ptx"
    file.write_text(source, encoding="utf-8")
    done = subprocess.run([compiler, "-ptx", f"-arch={architecture}", "-lineinfo", *options,
                           "-o", str(out), str(file)], capture_output=True, text=True)
    if done.returncode != 0:
        raise _raddle.InputError("nvcc: " + done.stderr.strip().replace(str(file), "kernel.cu"))
    # What is in an anonymous namespace is named by a hash of the folder's name, too.
    return re.sub("(_GLOBAL__N__|_INTERNAL_)[0-9a-f]{8}_", r"\g<1>00000000_",
                  out.read_text(encoding="utf-8"))


def is_ptx(source: str) -> bool:
    return any(line.split("//")[0].strip().startswith(".version") for line in source.splitlines())


def _size(size: int | Sequence[int], what: str) -> list[int]:
    numbers = size if isinstance(size, (Sequence, np.ndarray)) else [size]
    try:
        return [operator.index(one) for one in numbers]
    except TypeError:
        raise _raddle.InputError(f"{what}: expected whole numbers, found {size!r}") from None


def _dtype(of: Any) -> np.dtype:
    """As the GPU has it. Its memory holds no objects of Python, and is little-endian."""
    dtype = np.dtype(of)
    if dtype.hasobject:
        raise _raddle.InputError(f"expected numbers for the GPU, found an array of {dtype} with "
                                 "objects of Python in it")
    return dtype.newbyteorder("<")


class Array:
    """Memory of the GPU."""

    def __init__(self, gpu: Gpu, address: int, dtype: np.dtype, shape: tuple[int, ...]) -> None:
        self._gpu, self.address, self.dtype, self.shape = gpu, address, dtype, shape

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize

    def get(self) -> np.ndarray:
        """A copy of what is in it."""
        out = np.empty(self.shape, self.dtype)
        if out.nbytes:
            self._gpu._device.read(out, self.address)
        return out

    def set(self, values: Any) -> None:
        values = np.ascontiguousarray(np.broadcast_to(values, self.shape), self.dtype)
        if values.nbytes:
            self._gpu._device.write(self.address, values)

    def free(self) -> None:
        self._gpu._device.free(self.address)


class Kernel:
    """A kernel of a module; ``kernel[grid, block](arguments)`` launches it."""

    def __init__(self, gpu: Gpu, module: int, of: Record) -> None:
        self._gpu, self._module, self._of = gpu, module, of
        self.name, self.parameters = of.name, of.parameters

    def __getitem__(self, shape: Any) -> Any:
        grid, block, *more = shape
        return lambda *args: self.launch(grid, block, args, *more)

    def launch(self, grid: Any, block: Any, args: Sequence[Any] = (), shared_bytes: int = 0,
               stream: int = 0) -> None:
        if len(args) != len(self.parameters):
            raise _raddle.InputError(f"kernel '{self._of.short_name}' takes "
                                     f"{len(self.parameters)} arguments, not {len(args)}")
        encoded = [self._bytes(*item) for item in zip(range(1, len(args) + 1), args,
                                                      self.parameters)]
        self._gpu._device.launch(self._module, self.name, _size(grid, "grid"),
                                 _size(block, "block"), encoded,
                                 whole("shared_bytes", shared_bytes, 0),
                                 whole("stream", stream, 0))

    def _bytes(self, number: int, value: Any, parameter: Record) -> bytes:
        if isinstance(value, Array):
            if value._gpu is not self._gpu:
                raise _raddle.InputError(f"argument {number} of kernel '{self._of.short_name}': "
                                         "expected an Array of this Gpu, found one of another")
            value = np.uint64(value.address)
        if isinstance(value, (bytes, bytearray)):
            return bytes(value)
        if isinstance(value, (np.generic, np.ndarray)):
            return np.asarray(value, _dtype(value.dtype)).tobytes()
        kind = _TYPES.get(parameter.type)
        if kind is None:  # b32 and the like: whatever has the size
            if parameter.is_array or parameter.size not in (1, 2, 4, 8):
                raise _raddle.InputError(
                    f"argument {number} of kernel '{self._of.short_name}': expected "
                    f"{parameter.size} bytes, found {value!r}")
            real = isinstance(value, float) and parameter.size != 1
            kind = f"{'f' if real else 'i'}{parameter.size}"
        dtype = np.dtype(kind)
        if dtype.kind == "f":
            fits = isinstance(value, (int, float))
        else:
            # b32 and the like: with a sign or without.
            low = np.iinfo(dtype).min
            high = np.iinfo(f"u{dtype.itemsize}" if parameter.type[0] == "b" else dtype).max
            fits = isinstance(value, int) and low <= value <= high
        if not fits:
            raise _raddle.InputError(f"argument {number} of kernel '{self._of.short_name}': "
                                     f"expected a .{parameter.type}, found {value!r}")
        if dtype.kind == "f":
            return np.array(value, dtype).tobytes()
        return (int(value) & (1 << 8 * dtype.itemsize) - 1).to_bytes(dtype.itemsize, "little")


class _Kernels(dict[str, Kernel]):
    """By name, and by the name in the source where only one has it."""

    def __init__(self, kernels: Iterable[Kernel]) -> None:
        super().__init__()
        self._sharing: dict[str, list[str]] = {}
        by_name = {one.name: one for one in kernels}
        for one in by_name.values():
            short = one._of.short_name
            for called in {short, short.replace("(anonymous namespace)::", "")}:
                self._sharing.setdefault(called, []).append(one.name)
                self[called] = one
        for short, names in self._sharing.items():
            if len(names) > 1:
                del self[short]
        self.update(by_name)

    def __missing__(self, name: str) -> Kernel:
        if name not in self._sharing:
            raise KeyError(name)
        raise _raddle.InputError(f"several kernels are called '{name}': expected one of "
                                 + ", ".join(self._sharing[name]))


class Gpu:
    """A simulated GPU for host code in Python: load kernels, make arrays, launch, ``finish()``.

    Keywords are those of ``run``."""

    def __init__(self, name: str = "kernel", *, simulator: Any = None, samples: bool | int = False,
                 report: bool = False, progress: Any = None, input_hash: int = 0,
                 **settings: Any) -> None:
        from . import default_simulator
        from ._runs import make_watch
        simulator = simulator or default_simulator()
        self._progress = make_progress(name, progress)
        self._sources: list[_Folder] = []
        watch = make_watch(self._progress, samples=samples, report=report)
        made = make_settings(simulator, **settings)
        self._reads = [made.gpu, *made.set]
        self._device = simulator._native.device(name, made, input_hash, watch)
        self.result: Result | None = None

    def load(self, source: str, file: str = "") -> dict[str, Kernel]:
        """The kernels of PTX, or of CUDA that nvcc compiles, by name."""
        ptx = source
        if not is_ptx(source):
            self._sources.append(_Folder())
            ptx = _compile(self._sources[-1], source)
        module = self._device.load(ptx, file or "kernel.ptx")
        return _Kernels(Kernel(self, module, one) for one in self._device.kernels(module))

    def array(self, values: Any) -> Array:
        """Memory with a copy of the values."""
        values = np.ascontiguousarray(values)
        out = self.empty(values.shape, values.dtype)
        out.set(values)
        return out

    def empty(self, shape: Any, dtype: Any = np.float32) -> Array:
        """Memory for an array of that shape. InputError for a negative length, and for more bytes
        than an address can count."""
        out = Array(self, 0, _dtype(dtype), tuple(_size(shape, "shape")))
        if min(out.shape, default=0) < 0:
            raise _raddle.InputError(f"shape: expected no negative length, found {shape!r}")
        if out.nbytes >= 2**63:
            raise _raddle.InputError(f"shape: {shape!r} has {out.nbytes} bytes: no memory has that")
        out.address = self._device.allocate(out.nbytes)
        return out

    def stream(self) -> int:
        return self._device.create_stream()

    def synchronize(self) -> None:
        self._device.synchronize()

    def finish(self) -> Result:
        """Waits for all of it; nothing may follow."""
        try:
            self.result = Result(self._device.finish(), reads=self._reads,
                                 sources=self._sources)
        finally:
            self._progress.close()
        return self.result


def _hash(source: str, args: Sequence[Any]) -> int:
    """What results call ``input_hash``."""
    out = hashlib.blake2b(source.encode(), digest_size=8)
    for one in args:
        whole = isinstance(one, np.ndarray)
        out.update(np.ascontiguousarray(one).tobytes() if whole else repr(one).encode())
    return int.from_bytes(out.digest(), "little")


class Launched(Record):
    """``arrays``: what is in each array of the arguments after it, in order; ``result``: how long
    it took; ``correct``: as expected, or None where nothing was."""


def _kernel(kernels: Mapping[str, Kernel], name: str | None) -> Kernel:
    different = list({one.name: one for one in kernels.values()}.values())
    if name is None:
        if len(different) != 1:
            raise _raddle.InputError("say which kernel to launch: kernel=NAME, of "
                                     + ", ".join(one.name for one in different))
        return different[0]
    try:
        return kernels[name]
    except KeyError:
        raise _raddle.InputError(f"there is no kernel '{name}'; there are "
                                 + ", ".join(one.name for one in different)) from None


def _check_expected(expected: Mapping[int, Any], args: Sequence[Any]) -> dict[int, np.ndarray]:
    """By position, as arrays of the shape that the argument there has."""
    out = {}
    for at, values in expected.items():
        if at not in range(len(args)) or not isinstance(args[at], np.ndarray):
            raise _raddle.InputError(f"expected: argument {at!r} is no array (the first is 0)")
        out[at] = np.asarray(values)
        if out[at].shape != args[at].shape:
            raise _raddle.InputError(f"expected: argument {at} has the shape {args[at].shape}, "
                                     f"what is expected in it {out[at].shape}")
    return out


def _is_as_expected(found: np.ndarray, expected: np.ndarray, rtol: float, atol: float) -> bool:
    """Whole numbers exactly, others within the tolerance; NaN is NaN. Of one shape."""
    if found.dtype.kind in "fc" and expected.dtype.kind in "biufc":
        return bool(np.allclose(found, expected, rtol, atol, equal_nan=True))
    if found.dtype.kind != expected.dtype.kind:  # NumPy would round the larger ones
        found, expected = found.astype(object), expected.astype(object)
    return bool(np.array_equal(found, expected))


def launch(source: str, grid: int | Sequence[int], block: int | Sequence[int],
           args: Sequence[Any] = (), *, kernel: str | None = None, shared_bytes: int = 0,
           repeat: int = 1, expected: Mapping[int, Any] | None = None, rtol: float = 1e-5,
           atol: float = 1e-8, **keywords: Any) -> Launched:
    """Launches a kernel of PTX or CUDA on a simulated GPU, ``repeat`` times.

    ``args``: NumPy arrays, which are copied to the GPU and back and are not changed here (one that
    is there twice is one on the GPU, too); numbers, as the kernel declares them; NumPy scalars and
    bytes as they are. ``expected``: by position among the arguments from 0 on, what must be in an
    array afterwards, of the same shape: whole numbers exactly, others within
    ``atol + rtol * |expected|``; NaN is NaN.

    Raises InputError for what cannot be launched or expected, RunError where the launch fails."""
    args = list(args)  # which keeps those alive that are made on the way
    repeat = whole("repeat", repeat, 1)
    wanted = _check_expected(expected or {}, args)
    gpu = Gpu(kernel or "kernel", input_hash=_hash(source, args), **keywords)
    try:
        chosen = _kernel(gpu.load(source), kernel)
        arrays: dict[int, Array] = {}
        given = []
        for one in args:
            if not isinstance(one, np.ndarray):
                given.append(one)
                continue
            if id(one) not in arrays:
                arrays[id(one)] = gpu.array(one)
            given.append(arrays[id(one)])
        for _ in range(repeat):
            chosen.launch(grid, block, given, shared_bytes)
        gpu.synchronize()
        after = {at: one.get() for at, one in enumerate(given) if isinstance(one, Array)}
        result = gpu.finish()
    finally:
        gpu._progress.close()
    correct = None if not wanted else all(
        _is_as_expected(after[at], values, rtol, atol) for at, values in wanted.items())
    return Launched(arrays=list(after.values()), result=result, correct=correct)

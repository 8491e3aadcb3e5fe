"""Kernels of one's own on NumPy arrays."""

import numpy as np
import pytest

import raddle

SAXPY = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry saxpy(.param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n) {
  .reg .pred %p<2>;
  .reg .f32 %f<5>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<6>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  ld.param.u32 %r5, [n];
  setp.ge.u32 %p1, %r4, %r5;
  @%p1 bra done;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.f32 %f1, [a];
  mul.wide.u32 %rd3, %r4, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.f32 %f2, [%rd4];
  ld.global.f32 %f3, [%rd5];
  fma.rn.f32 %f4, %f1, %f2, %f3;
  st.global.f32 [%rd5], %f4;
done:
  ret;
}
"""
CUDA = """
extern "C" __global__ void saxpy(const float* x, float* y, float a, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
"""


@pytest.fixture
def arrays():
    rng = np.random.default_rng(1)
    return rng.random(1000, dtype=np.float32), rng.random(1000, dtype=np.float32)


def test_a_launch_gives_arrays_back_and_times_it(arrays):
    x, y = arrays
    before = y.copy()
    out = raddle.launch(SAXPY, 8, 128, [x, y, 2.0, 1000], gpu="v100", expected={1: y + 2 * x})
    assert out.correct is True
    assert np.array_equal(y, before), "what was given is not changed"
    assert np.array_equal(out.arrays[0], x)
    assert np.allclose(out.arrays[1], y + np.float32(2) * x) and out.arrays[1].dtype == np.float32
    assert out.result.cycles > 100 and out.result.kernels[0].name == "saxpy"
    assert out.result.kernels[0].grid == [8, 1, 1]
    wrong = raddle.launch(SAXPY, 8, 128, [x, y, 2.0, 1000], expected={1: y})
    assert wrong.correct is False
    assert raddle.launch(SAXPY, 8, 128, [x, y, 2.0, 1000]).correct is None


def test_launches_are_the_same_twice_and_differ_by_policy(arrays):
    x, y = arrays
    first, second = (raddle.launch(SAXPY, 8, 128, [x, y, 2.0, 1000], gpu="gtx480")
                     for _ in range(2))
    assert first.result.state_hash == second.result.state_hash
    lrr = raddle.launch(SAXPY, 8, 128, [x, y, 2.0, 1000], gpu="gtx480", policy={"warp": "lrr"})
    assert lrr.result.policies.warp.name == "lrr"
    other = raddle.launch(SAXPY, 8, 128, [y, x, 2.0, 1000], gpu="gtx480")
    assert other.result.state_hash != first.result.state_hash, "other inputs"


def test_an_array_that_is_given_twice_is_one(arrays):
    x, _ = arrays
    out = raddle.launch(SAXPY, 8, 128, [x, x, 1.0, 1000])
    assert np.allclose(out.arrays[0], 2 * x) and np.allclose(out.arrays[1], 2 * x)


def test_arguments_that_are_made_on_the_way_are_several():
    class Made:
        """A sequence of fresh arrays, as the rows of an array are."""

        def __len__(self):
            return 4

        def __getitem__(self, at):
            if at >= 4:
                raise IndexError
            return [np.full(32, 3, np.float32), np.full(32, 4, np.float32), 2.0, 32][at]

    rows = np.zeros((4, 32), np.float32)
    rows[0], rows[1] = 3, 4
    for arguments in (Made(), (one for one in Made()), iter(Made())):
        out = raddle.launch(SAXPY, 1, 32, arguments, gpu="gtx480", expected={1: np.full(32, 10.0)})
        assert out.correct and out.arrays[0][0] == 3
    ptx = SAXPY.replace(".param .f32 a, .param .u32 n", ".param .u64 a, .param .u64 n")
    ptx = ptx.replace("ld.param.f32 %f1, [a]", "mov.f32 %f1, 0f40000000")
    ptx = ptx.replace("ld.param.u32 %r5, [n]", "mov.u32 %r5, 32")
    out = raddle.launch(ptx, 1, 32, rows, gpu="gtx480")
    assert [one[0] for one in out.arrays] == [3, 10, 0, 0]


STORE = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry store(.param .u64 to, .param .u64 value) {
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [to];
  ld.param.u64 %rd2, [value];
  st.global.u64 [%rd1], %rd2;
  ret;
}
"""


@pytest.mark.parametrize("dtype, bits, expected, correct", [
    (np.int32, 1000001, np.array([1000001, 0], np.int32), True),
    (np.int32, 1000001, np.array([1000000, 0], np.int32), False),
    (np.int32, 1000001, np.array([1000001, 0], np.int64), True),
    (np.int64, 2**62 + 1, np.array([2**62 + 1], np.uint64), True),
    (np.int64, 2**62 + 1, np.array([2**62], np.uint64), False),
    (np.int64, 2**62 + 1, np.array([2.0**62]), False),
    (np.uint64, 2**63, np.array([-2**63], np.int64), False),
    (np.float32, 0x7fc00000, np.array([np.nan, 0], np.float32), True),
    (np.float32, 0x7fc00000, np.array([0, 0], np.float32), False),
    (np.float32, 0x3f800000, np.array([1.000001, 0], np.float32), True),
    (np.float32, 0x3f800000, np.array([1, 0]), True),
    (np.float32, 0x3f800000, np.array([1.001, 0], np.float32), False),
    (np.bool_, 1, np.array([True] + 7 * [False]), True),
    (np.bool_, 1, np.array(8 * [True]), False),
])
def test_whole_numbers_are_expected_exactly(dtype, bits, expected, correct):
    to = np.zeros(8 // np.dtype(dtype).itemsize, dtype)
    out = raddle.launch(STORE, 1, 1, [to, np.uint64(bits)], expected={0: expected})
    assert out.correct is correct


@pytest.mark.parametrize("expected, text", [
    ({0: np.zeros((2, 1), np.float32)}, r"the shape \(2,\), what is expected in it \(2, 1\)"),
    ({0: 0.0}, r"the shape \(2,\), what is expected in it \(\)"),
    ({1: np.zeros(2)}, "expected: argument 1 is no array"),
    ({2: np.zeros(2)}, "expected: argument 2 is no array"),
    ({-1: np.zeros(2)}, "expected: argument -1 is no array"),
])
def test_what_is_expected_is_of_an_array_s_shape(expected, text):
    with pytest.raises(raddle.InputError, match=text):
        raddle.launch(STORE, 1, 1, [np.zeros(2, np.float32), np.uint64(0)], expected=expected)


@pytest.mark.parametrize("repeat", [0, -1, True])
def test_a_launch_is_one_at_least(repeat):
    with pytest.raises(raddle.InputError, match="repeat: expected a whole number from 1 on"):
        raddle.launch(STORE, 1, 1, [np.zeros(1), np.uint64(0)], repeat=repeat)


def test_memory_has_a_size_that_can_be():
    gpu = raddle.Gpu()
    for shape, text in (((2**32, 2**32), "no memory has that"), ((-1, -1), "no negative length"),
                        (-1, "no negative length"), ((0, -1), "no negative length")):
        with pytest.raises(raddle.InputError, match=text):
            gpu.empty(shape)
    assert gpu.empty((0, 2)).get().shape == (0, 2)


@pytest.mark.parametrize("arguments, text", [
    ([1.0], "takes 4 arguments, not 1"),
    (["x", "y", 1.0, 1.5], r"argument 4 of kernel 'saxpy': expected a .u32"),
    (["x", "y", 1.0, -1], r"argument 4 of kernel 'saxpy': expected a .u32"),
    (["x", "y", np.float64(1), 3], r"argument 3 of kernel 'saxpy' has 4 bytes, not 8"),
])
def test_arguments_are_checked(arrays, arguments, text):
    given = [dict(zip("xy", arrays)).get(one, one) if isinstance(one, str) else one
             for one in arguments]
    with pytest.raises(raddle.InputError, match=text):
        raddle.launch(SAXPY, 8, 128, given)


@pytest.mark.parametrize("values", [
    np.arange(4, dtype=np.float32).astype(object),
    np.array([(1, None)], dtype=[("a", "i4"), ("b", object)]),
])
def test_objects_of_python_stay_in_python(values):
    with pytest.raises(raddle.InputError, match="expected numbers for the GPU, found an array of"):
        raddle.launch(SAXPY, 1, 32, [values, values, 1.0, 1])
    gpu = raddle.Gpu()
    for use in (lambda: gpu.array(values), lambda: gpu.empty(4, values.dtype),
                lambda: gpu.load(SAXPY)["saxpy"][1, 32](np.array(None), 0, 1.0, 1)):
        with pytest.raises(raddle.InputError, match="expected numbers for the GPU"):
            use()


def test_arrays_of_the_other_byte_order_are_the_same_numbers(arrays):
    x, y = arrays
    expected = raddle.launch(SAXPY, 8, 128, [x, y, 2.0, 1000]).arrays[1]
    out = raddle.launch(SAXPY, 8, 128, [x.astype(">f4"), y.astype(">f4"), 2.0, 1000])
    assert np.array_equal(out.arrays[1], expected)
    gpu = raddle.Gpu()
    sums = gpu.empty(1000, ">f4")
    sums.set(y.astype(">f4"))
    gpu.load(SAXPY)["saxpy"][8, 128](gpu.array(x), sums, 2.0, np.array(1000, ">u4"))
    assert np.array_equal(sums.get(), expected)


def test_an_array_is_of_its_own_gpu(arrays):
    first, second = raddle.Gpu(), raddle.Gpu()
    mine, other = first.array(arrays[0]), second.array(arrays[1])
    with pytest.raises(raddle.InputError, match="argument 2 of kernel 'saxpy': expected an Array "
                                                "of this Gpu, found one of another"):
        first.load(SAXPY)["saxpy"][8, 128](mine, other, 1.0, 1000)


@pytest.mark.parametrize("grid, block, text", [
    ([2.9], 128, r"grid: expected whole numbers, found \[2.9\]"),
    (2.0, 128, "grid: expected whole numbers, found 2.0"),
    (2, None, "block: expected whole numbers, found None"),
])
def test_sizes_are_whole_numbers(arrays, grid, block, text):
    with pytest.raises(raddle.InputError, match=text):
        raddle.launch(SAXPY, grid, block, [*arrays, 1.0, 1000])


@pytest.mark.parametrize("parameter, value, text", [
    (".b8 p", 1.5, "expected a .b8, found 1.5"),
    (".b8 p[16]", 3, "expected 16 bytes, found 3"),
    (".align 2 .b8 p[2]", 1.5, "expected 2 bytes, found 1.5"),
    (".align 4 .b8 p[4]", 7, "expected 4 bytes, found 7"),
    (".align 8 .b8 p[8]", 1.5, "expected 8 bytes, found 1.5"),
    (".align 1 .b8 p[1]", True, "expected 1 bytes, found True"),
])
def test_bytes_are_not_made_of_numbers_that_do_not_fit(parameter, value, text):
    ptx = (".version 7.0\n.target sm_70\n.address_size 64\n"
           f".visible .entry k(.param {parameter}) {{ ret; }}\n")
    with pytest.raises(raddle.InputError, match=text):
        raddle.launch(ptx, 1, 1, [value])


def test_what_goes_wrong_on_the_device_is_told(arrays):
    x, y = arrays
    with pytest.raises(raddle.RunError, match="saxpy"):
        raddle.launch(SAXPY, 800, 128, [x, y, 2.0, 100_000])  # beyond its end
    with pytest.raises(raddle.InputError, match="a block of 4096 threads"):
        raddle.launch(SAXPY, 1, 4096, [x, y, 2.0, 1000])
    with pytest.raises(raddle.InputError, match="kernel.ptx:4"):
        raddle.launch(SAXPY.strip().replace(".entry", ".entri"), 1, 1)
    with pytest.raises(raddle.InputError, match="there is no kernel 'daxpy'; there are saxpy"):
        raddle.launch(SAXPY, 1, 32, [], kernel="daxpy")


def test_a_name_that_two_kernels_share_is_refused():
    source = SAXPY + "".join(
        f".visible .entry {name}(.param .u64 to) {{\n .reg .b64 %rd<2>;\n ld.param.u64 %rd1, [to];"
        f"\n st.global.u32 [%rd1], {number};\n ret;\n}}\n"
        for name, number in (("_Z1fPi", 1), ("_Z1fPf", 2), ("_ZN2ns1gEPi", 3)))
    text = "several kernels are called 'f': expected one of _Z1fPi, _Z1fPf"
    with pytest.raises(raddle.InputError, match=text):
        raddle.launch(source, 1, 1, [np.zeros(1, np.uint32)], kernel="f")
    kernels = raddle.Gpu().load(source)
    with pytest.raises(raddle.InputError, match=text):
        kernels["f"]
    with pytest.raises(KeyError):
        kernels["h"]
    assert "f" not in kernels and len(kernels) == 5
    for name, number in (("_Z1fPi", 1), ("_Z1fPf", 2), ("ns::g", 3)):
        out = raddle.launch(source, 1, 1, [np.zeros(1, np.uint32)], kernel=name)
        assert out.arrays[0][0] == number


def test_what_nobody_has_written_is_found(arrays):
    gpu = raddle.Gpu(checks=["uninitialised"])
    saxpy = gpu.load(SAXPY)["saxpy"]
    saxpy[8, 128](gpu.array(arrays[0]), gpu.empty(1000), 1.0, 1000)
    assert "%f3" in str(gpu.finish().checks.findings[0])
    clean = raddle.launch(SAXPY, 8, 128, [*arrays, 1.0, 1000], checks=["uninitialised"])
    assert clean.result.checks.findings == []


def test_host_code_of_one_s_own(arrays):
    x, y = arrays
    gpu = raddle.Gpu("mine", gpu="gtx480", samples=True)
    saxpy = gpu.load(SAXPY)["saxpy"]
    on_gpu, sums = gpu.array(x), gpu.empty(1000)
    sums.set(y)
    for _ in range(3):
        saxpy[8, 128](on_gpu, sums, 1.0, 1000)
    assert np.allclose(sums.get(), y + 3 * x, rtol=1e-5)
    on_gpu.free()
    result = gpu.finish()
    assert len(result.kernels) == 3 and result.workload.name == "mine" and result.series
    with pytest.raises(ValueError, match="this GPU has finished"):
        sums.get()


def test_cuda_is_compiled_where_there_is_nvcc(arrays):
    if raddle.nvcc() is None:
        pytest.skip("no nvcc")
    x, y = arrays
    out = raddle.launch(CUDA, 8, 128, [x, y, 2.0, 1000], expected={1: y + 2 * x})
    assert out.correct
    with pytest.raises(raddle.InputError, match=r"nvcc: kernel.cu\(1\): error"):
        raddle.launch("extern \"C\" __global__ void k() { nothing; }", 1, 1)


def test_kernels_of_an_anonymous_namespace_have_names():
    if raddle.nvcc() is None:
        pytest.skip("no nvcc")
    source = """
namespace { __global__ void hidden(float* a) { a[0] = 7; } }
namespace { __global__ void other(float* a) { a[0] = 8; } }
float* kept;
void host() { hidden<<<1, 1>>>(kept); other<<<1, 1>>>(kept); }
"""
    given, hashes = [np.zeros(1, np.float32)], set()
    for name, value in (("hidden", 7), ("(anonymous namespace)::other", 8), ("other", 8)) * 2:
        out = raddle.launch(source, 1, 1, given, kernel=name, gpu="gtx480")
        assert out.arrays[0][0] == value
        hashes.add(out.result.state_hash)
    assert len(hashes) == 3, "where it was compiled does not matter"
    with pytest.raises(raddle.InputError, match="there is no kernel ''"):
        raddle.launch(source, 1, 1, given, kernel="")


def test_the_page_has_the_text_of_one_s_own_kernel(arrays):
    if raddle.nvcc() is None:
        pytest.skip("no nvcc")
    out = raddle.launch(CUDA, 8, 128, [*arrays, 2.0, 1000], gpu="gtx480", report=True)
    assert "y[i] += a * x[i]" in out.result.page()
    folder = out.result._sources[0].path
    assert folder.is_dir()
    del out
    assert not folder.exists()


def test_cuda_without_nvcc_says_so(monkeypatch):
    monkeypatch.setattr("raddle._launch.nvcc", lambda: None)
    with pytest.raises(raddle.InputError, match="CUDA source needs nvcc"):
        raddle.launch(CUDA, 1, 1)

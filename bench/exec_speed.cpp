// Speed of the functional machine, in processor time of one core: a tiled single-precision matrix
// product with and without its op stream, and one warp instruction of each main class with all of
// its lanes and with half of them. ./x bench exec [options of Google Benchmark]
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstring>
#include <string>
#include <vector>

#include "raddle/exec/decode/program.h"
#include "raddle/exec/run/machine.h"
#include "raddle/trace/memory_trace.h"

namespace {

using namespace raddle;

constexpr const char* kHeader = ".version 7.2\n.target sm_70\n.address_size 64\n";

/// 16 x 16 tiles in shared memory, inner loop unrolled as clang-19 -O3 does it.
std::string sgemm() {
  std::string text = std::string(kHeader) + R"(
.visible .entry sgemm(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)
{
  .reg .pred %p<4>; .reg .f32 %f<64>; .reg .b32 %r<40>; .reg .b64 %rd<20>;
  .shared .align 4 .b8 ta[1024]; .shared .align 4 .b8 tb[1024];
  ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x; mov.u32 %r3, %tid.y; mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ctaid.y;
  shl.b32 %r6, %r5, 4; add.s32 %r6, %r6, %r3;
  shl.b32 %r7, %r4, 4; add.s32 %r7, %r7, %r2;
  mad.lo.s32 %r8, %r6, %r1, %r2; mad.lo.s32 %r9, %r3, %r1, %r7;
  shl.b32 %r10, %r3, 6; shl.b32 %r11, %r2, 2;
  mov.u32 %r12, ta; add.s32 %r13, %r12, %r10; add.s32 %r14, %r13, %r11;
  mov.u32 %r15, tb; add.s32 %r16, %r15, %r11; add.s32 %r17, %r16, %r10;
  mov.f32 %f1, 0f00000000; mov.u32 %r18, 0; shl.b32 %r19, %r1, 4;
L:
  mul.wide.u32 %rd4, %r8, 4; add.s64 %rd5, %rd1, %rd4; ld.global.f32 %f2, [%rd5];
  st.shared.f32 [%r14], %f2;
  mul.wide.u32 %rd6, %r9, 4; add.s64 %rd7, %rd2, %rd6; ld.global.f32 %f3, [%rd7];
  st.shared.f32 [%r17], %f3;
  bar.sync 0;
)";
  for (int k = 0; k < 16; ++k)
    text += fmt::format(
        "  ld.shared.f32 %f{0}, [%r13+{2}]; ld.shared.f32 %f{1}, [%r16+{3}]; fma.rn.f32 %f1, "
        "%f{0}, %f{1}, %f1;\n",
        4 + 2 * k, 5 + 2 * k, 4 * k, 64 * k);
  return text + R"(
  bar.sync 0;
  add.s32 %r8, %r8, 16; add.s32 %r9, %r9, %r19; add.s32 %r18, %r18, 16;
  setp.lt.u32 %p1, %r18, %r1; @%p1 bra L;
  mad.lo.s32 %r20, %r6, %r1, %r7; mul.wide.u32 %rd8, %r20, 4; add.s64 %rd9, %rd3, %rd8;
  st.global.f32 [%rd9], %f1;
  ret;
})";
}

/// Runs the kernel as often as asked; returns warp instructions and bytes of op stream of a run.
template <class... Ts>
void repeat(benchmark::State& state, exec::DeviceMemory& memory, const exec::Kernel& kernel,
            const trace::LaunchShape& shape, bool traced, const Ts&... arguments) {
  const exec::ParameterLayout& layout = exec::parameters_of(kernel);
  std::vector<std::byte> parameters(layout.bytes);
  std::size_t i = 0;
  const auto put = [&](const auto& argument) {
    std::memcpy(parameters.data() + layout.items[i++].offset, &argument, sizeof argument);
  };
  (put(arguments), ...);
  exec::Machine machine(memory, {});
  std::uint64_t instructions = 0;
  std::size_t bytes = 0;
  for (auto _ : state) {
    trace::MemoryTrace trace(exec::code_of(kernel), shape);
    instructions +=
        machine.run({&kernel, shape, parameters}, traced ? &trace : nullptr).warp_instructions;
    bytes += trace.bytes();
  }
  const auto many = static_cast<double>(instructions);
  state.counters["instructions"] = benchmark::Counter(many, benchmark::Counter::kIsRate);
  if (traced) state.counters["bytes/instruction"] = static_cast<double>(bytes) / many;
  state.SetLabel(std::string(exec::Machine::lanes()));
}

void matrix_product(benchmark::State& state, bool traced) {
  exec::DeviceMemory memory(std::uint64_t{1} << 30);
  exec::Program program(ptx::parse(sgemm(), "sgemm.ptx"), memory);
  constexpr std::uint32_t n = 256;
  const auto upload = [&](float seed) {
    const Address at = memory.allocate(n * n * 4).value();
    auto* values = reinterpret_cast<float*>(memory.host(at));
    for (std::uint32_t i = 0; i < n * n; ++i) values[i] = seed + static_cast<float>(i % 17) * 0.25f;
    return at;
  };
  repeat(state, memory, program.kernel("sgemm"), {{n / 16, n / 16, 1}, {16, 16, 1}, 0}, traced,
         upload(1), upload(2), upload(0), n);
}

/// 48 copies of `body` in a loop of one warp; registers are set up beforehand.
void instruction(benchmark::State& state, const std::string& body, bool partial) {
  std::string text = std::string(kHeader) + R"(
.visible .entry k(.param .u64 g, .param .u32 n)
{
  .reg .pred %p<9>; .reg .f32 %f<9>; .reg .f64 %d<9>; .reg .b16 %h<9>; .reg .b32 %r<20>;
  .reg .b64 %q<9>;
  .shared .align 4 .b8 s[8192];
  ld.param.u64 %q1, [g]; ld.param.u32 %r10, [n]; mov.u32 %r11, %laneid;
  mul.wide.u32 %q2, %r11, 4; add.s64 %q2, %q1, %q2; mul.wide.u32 %q3, %r11, 8;
  add.s64 %q3, %q1, %q3;
  mul.lo.u32 %r12, %r11, 4; mul.lo.u32 %r13, %r11, 128; mul.lo.u32 %r14, %r11, 40503;
  and.b32 %r14, %r14, 65535;
  mul.wide.u32 %q4, %r14, 4; add.s64 %q4, %q1, %q4;
  mov.u32 %r1, 7; mov.u32 %r2, %r11; mov.u32 %r3, 3; cvt.rn.f32.u32 %f1, %r11;
  mov.f32 %f2, 0f3F800001; mov.f32 %f3, 0f40400000;
  cvt.rn.f64.u32 %d1, %r11; mov.f64 %d2, 0d3FF0000000000001; mov.f64 %d3, 0d4008000000000000;
  mov.u64 %q5, 12345678901; cvt.u64.u32 %q6, %r11; cvt.u16.u32 %h1, %r11; mov.b16 %h2, 15360;
  mov.b16 %h3, 16384;
  setp.lt.u32 %p1, %r11, 13; mov.u32 %r15, 0;
  and.b32 %r16, %r11, 1; setp.eq.u32 %p3, %r16, 0;
)";
  if (partial) text += "  @%p3 bra L; bra E;\n";
  text += "L:\n";
  for (int i = 0; i < 48; ++i) text += "  " + body + "\n";
  text += "  add.u32 %r15, %r15, 1; setp.lt.u32 %p2, %r15, %r10; @%p2 bra L;\nE:\n  ret;\n}";
  exec::DeviceMemory memory(std::uint64_t{1} << 26);
  exec::Program program(ptx::parse(text, "class.ptx"), memory);
  const Address array = memory.allocate(1 << 20).value();
  const std::uint32_t loops = 4000;
  repeat(state, memory, program.kernel("k"), {{1, 1, 1}, {32, 1, 1}, 0}, false, array, loops);
}

constexpr const char* kBodies[] = {"mov.b32 %r4, %r1;",
                                   "add.s32 %r4, %r1, %r2;",
                                   "add.s32 %r4, %r4, %r2;",
                                   "mul.lo.s32 %r4, %r1, %r2;",
                                   "mad.lo.s32 %r4, %r1, %r2, %r3;",
                                   "shl.b32 %r4, %r1, %r2;",
                                   "add.s64 %q7, %q5, %q6;",
                                   "mul.wide.u32 %q7, %r1, %r2;",
                                   "cvt.u64.u32 %q7, %r2;",
                                   "add.f32 %f4, %f1, %f2;",
                                   "fma.rn.f32 %f4, %f1, %f2, %f3;",
                                   "add.rz.f32 %f4, %f1, %f2;",
                                   "min.f32 %f4, %f1, %f2;",
                                   "div.rn.f32 %f4, %f1, %f2;",
                                   "sqrt.rn.f32 %f4, %f1;",
                                   "ex2.approx.f32 %f4, %f1;",
                                   "sin.approx.f32 %f4, %f1;",
                                   "fma.rn.f64 %d4, %d1, %d2, %d3;",
                                   "div.u32 %r4, %r2, %r1;",
                                   "rem.s32 %r4, %r2, %r1;",
                                   "div.s64 %q7, %q5, %q6;",
                                   "cvt.rzi.s32.f32 %r4, %f1;",
                                   "cvt.rn.f32.s32 %f4, %r2;",
                                   "setp.lt.u32 %p4, %r2, %r1;",
                                   "setp.lt.f32 %p4, %f1, %f2;",
                                   "setp.lt.u64 %p4, %q5, %q6;",
                                   "selp.b32 %r4, %r1, %r2, %p1;",
                                   "@%p1 add.s32 %r4, %r1, %r2;",
                                   "popc.b32 %r4, %r2;",
                                   "lop3.b32 %r4, %r1, %r2, %r3, 150;",
                                   "prmt.b32 %r4, %r1, %r2, %r3;",
                                   "bfe.u32 %r4, %r2, 2, 5;",
                                   "add.f16 %h4, %h1, %h2;",
                                   "fma.rn.f16 %h4, %h1, %h2, %h3;",
                                   "cvt.f32.f16 %f4, %h1;",
                                   "cvt.rn.f16.f32 %h4, %f1;",
                                   "shfl.sync.bfly.b32 %r4, %r2, 1, 31, -1;",
                                   "vote.sync.ballot.b32 %r4, %p1, -1;",
                                   "ld.global.f32 %f4, [%q2];",
                                   "ld.global.f32 %f4, [%q2+4];",
                                   "ld.global.f32 %f4, [%q1];",
                                   "ld.global.f32 %f4, [%q3];",
                                   "ld.global.f32 %f4, [%q4];",
                                   "ld.global.f64 %d4, [%q3];",
                                   "ld.global.u8 %r4, [%q2];",
                                   "st.global.f32 [%q2], %f1;",
                                   "st.global.f32 [%q4], %f1;",
                                   "ld.shared.f32 %f4, [%r12];",
                                   "ld.shared.f32 %f4, [%r13];",
                                   "st.shared.f32 [%r12], %f1;",
                                   "atom.global.add.u32 %r4, [%q2], 1;",
                                   "atom.global.add.u32 %r4, [%q1], 1;",
                                   "bar.sync 0;"};

}  // namespace

int main(int argc, char** argv) {
  for (const bool traced : {false, true})
    benchmark::RegisterBenchmark(traced ? "sgemm with stream" : "sgemm", matrix_product, traced)
        ->Unit(benchmark::kMillisecond);
  for (const char* body : kBodies)
    for (const bool half : {false, true})
      benchmark::RegisterBenchmark(
          fmt::format("{}{}", body, half ? " half of the lanes" : "").c_str(), instruction,
          std::string(body), half)
          ->Unit(benchmark::kMillisecond)
          ->MinTime(0.1);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}

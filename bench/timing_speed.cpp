// How many warp instructions a second the timing model simulates on synthetic streams, without
// exec. Six kernels, each heavy on another part: alu (issue), sgemm (issue and shared memory),
// stencil and vecadd (L1, NoC, L2, DRAM), gather (scattered lines), chase (latency; clock jumps).
// Rates are per second of processor time, which other users of the machine disturb least. Each on
// one thread, on two (processor time is that of both), and with every component ticked in every
// cycle. ./x bench timing [options of Google Benchmark]
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "raddle/base/rng.h"
#include "raddle/policy/all.h"
#include "raddle/timing/gpu/gpu.h"
#include "support/machines.h"
#include "support/stream_builder.h"

using namespace raddle;
using support::Code;
using support::Recording;
using support::TransactionSpec;
using support::WarpWriter;

namespace {

constexpr std::uint32_t kArray = 1u << 22;  // lines between arrays
constexpr std::uint32_t kFirstLine = 1u << 29;
using Made = std::unique_ptr<Recording>;

Made make_alu() {
  Code c("alu");
  std::uint32_t first = 0;
  for (std::uint32_t i = 0; i < 8; ++i) {
    std::uint32_t at = i % 2 != 0 ? c.alu(1, {1, 2}) : c.fma(1, {1, 2});
    if (i == 0) first = at;
  }
  auto s = c.sfu(9, {9}), ex = c.exit();
  auto r = std::make_unique<Recording>(c, trace::LaunchShape{{640}, {256}, 0});
  r->each_warp([&](WarpWriter& w) {
    for (unsigned it = 0; it < 500; ++it) w.op(it % 32 == 31 ? s : first + it % 8);
    w.op(ex);
  });
  return r;
}

Made make_vecadd() {
  Code c("vecadd");
  auto la = c.load(1, 10), lb = c.load(2, 11), ix = c.alu(10, {10});
  c.alu(11, {11});
  c.alu(12, {12});
  auto add = c.fma(3, {1, 2}), st = c.store(3, 12), cmp = c.alu(13, {10}), br = c.branch({13}),
       ex = c.exit();
  auto r = std::make_unique<Recording>(c, trace::LaunchShape{{1280}, {256}, 0});
  std::uint32_t warps = 1280 * 8;
  r->each_warp([&](WarpWriter& w) {
    for (std::uint32_t it = 0; it < 16; ++it) {
      std::uint32_t line = kFirstLine + it * warps + w.block() * 8 + w.warp();
      w.lines(la, {{line}}).lines(lb, {{kArray + line}}).op(ix).op(ix + 1).op(ix + 2).op(add);
      w.lines(st, {{2 * kArray + line}}).op(cmp).op(br);
    }
    w.op(ex);
  });
  return r;
}

// 64x64 tile by 256 threads: per k step 4 shared loads and 64 FMAs, operands double-buffered in
// registers.
Made make_sgemm() {
  Code code("sgemm");
  code.raw().registers_per_thread = 96;
  auto ga = code.load(1, 200), gb = code.load(2, 201), sa = code.store_shared(1, 205),
       sb = code.store_shared(2, 205);
  auto bar = code.barrier(), ix = code.alu(200, {200});
  code.alu(201, {201});
  auto cmp = code.alu(202, {200}), br = code.branch({202}), st = code.store(20, 203),
       ex = code.exit();
  std::uint32_t lds[2] = {}, fma[2] = {};
  for (unsigned buf : {0u, 1u}) {
    for (unsigned i = 0; i < 4; ++i) {
      auto at = code.load_shared(static_cast<std::uint8_t>(100 + 8 * buf + i), 204);
      if (i == 0) lds[buf] = at;
    }
    for (unsigned i = 0; i < 64; ++i) {
      auto sum = static_cast<std::uint8_t>(20 + i),
           left = static_cast<std::uint8_t>(100 + 8 * buf + i / 32);
      auto at = code.fma(sum, {sum, left, static_cast<std::uint8_t>(102 + 8 * buf + i % 2)});
      if (i == 0) fma[buf] = at;
    }
  }
  auto recording = std::make_unique<Recording>(code, trace::LaunchShape{{160}, {256}, 40000});
  recording->each_warp([&](WarpWriter& warp) {
    std::uint32_t row = warp.block() / 16, col = warp.block() % 16, wi = warp.warp();
    for (std::uint32_t tile = 0; tile < 4; ++tile) {
      std::uint32_t left = kFirstLine + row * 8192 + wi * 512 + tile,
                    right = kFirstLine + kArray + tile * 4096 + col * 4 + wi * 64;
      warp.lines(ga, {{left}, {left + 128}, {left + 256}, {left + 384}})
          .lines(gb, {{right}, {right + 1}, {right + 2}, {right + 3}});
      warp.op(ix).op(ix + 1).passes(sa, 2).passes(sb, 1).barrier(bar);
      for (std::uint32_t i = 0; i < 4; ++i) warp.passes(lds[0] + i, 1);
      for (unsigned step = 0; step < 8; ++step) {
        if (step < 7)
          for (std::uint32_t i = 0; i < 4; ++i) warp.passes(lds[~step & 1] + i, 1);
        for (std::uint32_t i = 0; i < 64; ++i) warp.op(fma[step & 1] + i);
      }
      warp.barrier(bar).op(cmp).op(br);
    }
    for (std::uint32_t i = 0; i < 16; ++i)
      warp.lines(st, {{kFirstLine + 2 * kArray + (warp.block() * 8 + wi) * 16 + i}});
    warp.op(ex);
  });
  return recording;
}

Made make_stencil() {
  Code c("stencil");
  std::uint32_t ld[5];
  for (unsigned i = 0; i < 5; ++i) ld[i] = c.load(static_cast<std::uint8_t>(1 + i), 20);
  auto ix = c.alu(20, {20});
  for (std::uint8_t i = 21; i < 24; ++i) c.alu(i, {i});
  auto acc = c.fma(10, {10, 1});
  for (std::uint8_t i = 2; i < 6; ++i) c.fma(10, {10, i});
  auto st = c.store(10, 21), cmp = c.alu(30, {20}), br = c.branch({30}), ex = c.exit();
  constexpr std::uint32_t kRow = 64;  // lines in a row: a 2048 x N grid of floats
  auto r = std::make_unique<Recording>(c, trace::LaunchShape{{1280}, {256}, 0});
  r->each_warp([&](WarpWriter& w) {
    std::uint32_t x = w.block() % kRow, y0 = w.block() / kRow * 64 + w.warp() * 8 + 1;
    for (std::uint32_t it = 0; it < 8; ++it) {  // 32 columns x 64 rows per block
      std::uint32_t at = kFirstLine + (y0 + it) * kRow + x;
      w.lines(ld[0], {{at}}).lines(ld[1], {{at - 1, 1u << 31, 1}, {at, ~0u >> 1, ~1u}});
      w.lines(ld[2], {{at, ~1u, ~0u >> 1}, {at + 1, 1, 1u << 31}})
          .lines(ld[3], {{at - kRow}})
          .lines(ld[4], {{at + kRow}});
      for (std::uint32_t i = 0; i < 4; ++i) w.op(ix + i);
      for (std::uint32_t i = 0; i < 5; ++i) w.op(acc + i);
      w.lines(st, {{2 * kArray + at}}).op(cmp).op(br);
    }
    w.op(ex);
  });
  return r;
}

Made make_gather() {
  Code c("gather");
  auto lc = c.load(1, 10), ix = c.alu(10, {10}), adr = c.alu(2, {1}), lv = c.load(3, 2),
       acc = c.fma(4, {4, 3});
  auto cmp = c.alu(11, {10}), br = c.branch({11}), ex = c.exit();
  Rng rng(42);
  auto r = std::make_unique<Recording>(c, trace::LaunchShape{{640}, {256}, 0});
  r->each_warp([&](WarpWriter& w) {
    for (std::uint32_t it = 0; it < 16; ++it) {
      unsigned lanes = 8 + rng.below(25);
      LaneMask mask = lanes == 32 ? kFullMask : (1u << lanes) - 1;
      std::vector<TransactionSpec> p;
      for (unsigned i = 0; i < lanes; ++i) {  // half of them fall in a hot eighth of 64 MB
        std::uint32_t line = rng.below(2) != 0 ? rng.below(1 << 16) : rng.below(1 << 19);
        p.push_back({kFirstLine + kArray + line, 1u << rng.below(32), 1u << i});
      }
      w.lines(lc, {{kFirstLine + (w.block() * 8 + w.warp()) * 16 + it, mask, mask}}, mask)
          .op(ix, mask)
          .op(adr, mask);
      w.lines(lv, p, mask).op(acc, mask).op(cmp, mask).op(br, mask);
    }
    w.op(ex);
  });
  return r;
}

Made make_chase() {
  Code c("chase");
  auto ld = c.load(1, 1), ex = c.exit();
  Rng rng(7);
  auto r = std::make_unique<Recording>(c, trace::LaunchShape{{80}, {32}, 90000});
  r->each_warp([&](WarpWriter& w) {
    for (unsigned it = 0; it < 4000; ++it)
      w.lines(ld, {{kFirstLine + rng.below(1 << 22), 1, 1}}, 1);
    w.op(ex);
  });
  return r;
}

struct Kernel {
  const char* name;
  Made (*make)();
};
constexpr Kernel kKernels[] = {{"vecadd", make_vecadd},   {"sgemm", make_sgemm},
                               {"stencil", make_stencil}, {"gather", make_gather},
                               {"alu", make_alu},         {"chase", make_chase}};

void simulate(benchmark::State& state, const Kernel& kernel, const timing::GpuOptions& options) {
  const auto policies = policy::all_policies();
  const auto kernels = policies.kernel.choose("fcfs");
  const auto warp = policies.warp.choose("gto");
  const auto block = policies.block.choose("rr");
  const auto dram = policies.dram.choose("frfcfs");
  const timing::PolicyChoices choices = {
      .kernel = kernels.get(), .warp = warp.get(), .block = block.get(), .dram = dram.get()};
  const Made work = kernel.make();
  double cycles = 0;
  double issued = 0;
  for (auto _ : state) {
    timing::Gpu gpu(support::large_machine(), choices, options);
    gpu.run(work->stream(), {kernel.name, StreamId{}, 0});
    cycles += static_cast<double>(gpu.now());
    issued += static_cast<double>(gpu.counters().sm.issued);
    state.SetLabel(fmt::format("{:016x}", gpu.hash()));
  }
  state.counters["instructions"] = benchmark::Counter(issued, benchmark::Counter::kIsRate);
  state.counters["cycles"] = benchmark::Counter(cycles, benchmark::Counter::kIsRate);
  state.counters["ipc"] = issued / cycles;
}

}  // namespace

int main(int argc, char** argv) {
  timing::GpuOptions one_thread, two_threads, no_skip;
  two_threads.threads = 2;
  no_skip.skip = false;
  for (const Kernel& kernel : kKernels)
    for (const auto& [how, options] :
         {std::pair("", one_thread), std::pair("/threads:2", two_threads),
          std::pair("/no_skip", no_skip)})
      benchmark::RegisterBenchmark((std::string(kernel.name) + how).c_str(), simulate, kernel,
                                   options)
          ->Unit(benchmark::kMillisecond)
          ->Iterations(1)
          ->MeasureProcessCPUTime();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}

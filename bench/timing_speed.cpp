// How many warp instructions a second the timing model simulates on synthetic streams, without
// exec. Six kernels, each heavy on another part: alu (issue), sgemm (issue and shared memory),
// stencil and vecadd (L1, NoC, L2, DRAM), gather (scattered lines), chase (latency; clock jumps).
// Rates are per second of processor time (of all threads), which other users of the machine disturb
// least.
//   timing_speed [--threads N] [--no-skip] [--warp NAME] [--repeat N] [--scale N] [kernel...]
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>

#include "raddle/base/rng.h"
#include "raddle/policy/all.h"
#include "raddle/timing/gpu/gpu.h"
#include "support/machines.h"
#include "support/stream_builder.h"

using namespace raddle;
using testing::Code;
using testing::PieceSpec;
using testing::Recording;
using testing::WarpWriter;

namespace {

constexpr std::uint32_t kArray = 1u << 22;  // lines between arrays
constexpr std::uint32_t kFirstLine = 1u << 29;
using Made = std::unique_ptr<Recording>;

Made make_alu(unsigned scale) {
  Code c("alu");
  std::uint32_t first = 0;
  for (std::uint32_t i = 0; i < 8; ++i) {
    std::uint32_t at = i % 2 != 0 ? c.alu(1, {1, 2}) : c.fma(1, {1, 2});
    if (i == 0) first = at;
  }
  auto s = c.sfu(9, {9}), ex = c.exit();
  auto r = std::make_unique<Recording>(c, trace::LaunchShape{{640 * scale}, {256}, 0});
  r->each_warp([&](WarpWriter& w) {
    for (unsigned it = 0; it < 500; ++it) w.op(it % 32 == 31 ? s : first + it % 8);
    w.op(ex);
  });
  return r;
}

Made make_vecadd(unsigned scale) {
  Code c("vecadd");
  auto la = c.load(1, 10), lb = c.load(2, 11), ix = c.alu(10, {10});
  c.alu(11, {11}), c.alu(12, {12});
  auto add = c.fma(3, {1, 2}), st = c.store(3, 12), cmp = c.alu(13, {10}), br = c.branch({13}),
       ex = c.exit();
  auto r = std::make_unique<Recording>(c, trace::LaunchShape{{1280 * scale}, {256}, 0});
  std::uint32_t warps = 1280 * scale * 8;
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
Made make_sgemm(unsigned scale) {
  Code c("sgemm");
  c.raw().registers_per_thread = 96;
  auto ga = c.load(1, 200), gb = c.load(2, 201), sa = c.store_shared(1, 205),
       sb = c.store_shared(2, 205);
  auto bar = c.barrier(), ix = c.alu(200, {200});
  c.alu(201, {201});
  auto cmp = c.alu(202, {200}), br = c.branch({202}), st = c.store(20, 203), ex = c.exit();
  std::uint32_t lds[2] = {}, fma[2] = {};
  for (unsigned buf : {0u, 1u}) {
    for (unsigned i = 0; i < 4; ++i) {
      auto at = c.load_shared(static_cast<std::uint8_t>(100 + 8 * buf + i), 204);
      if (i == 0) lds[buf] = at;
    }
    for (unsigned i = 0; i < 64; ++i) {
      auto d = static_cast<std::uint8_t>(20 + i),
           a = static_cast<std::uint8_t>(100 + 8 * buf + i / 32);
      auto at = c.fma(d, {d, a, static_cast<std::uint8_t>(102 + 8 * buf + i % 2)});
      if (i == 0) fma[buf] = at;
    }
  }
  auto r = std::make_unique<Recording>(c, trace::LaunchShape{{160 * scale}, {256}, 40000});
  r->each_warp([&](WarpWriter& w) {
    std::uint32_t row = w.block() / 16, col = w.block() % 16, wi = w.warp();
    for (std::uint32_t tile = 0; tile < 4; ++tile) {
      std::uint32_t a = kFirstLine + row * 8192 + wi * 512 + tile,
                    b = kFirstLine + kArray + tile * 4096 + col * 4 + wi * 64;
      w.lines(ga, {{a}, {a + 128}, {a + 256}, {a + 384}})
          .lines(gb, {{b}, {b + 1}, {b + 2}, {b + 3}});
      w.op(ix).op(ix + 1).passes(sa, 2).passes(sb, 1).barrier(bar);
      for (std::uint32_t i = 0; i < 4; ++i) w.passes(lds[0] + i, 1);
      for (unsigned step = 0; step < 8; ++step) {
        if (step < 7)
          for (std::uint32_t i = 0; i < 4; ++i) w.passes(lds[~step & 1] + i, 1);
        for (std::uint32_t i = 0; i < 64; ++i) w.op(fma[step & 1] + i);
      }
      w.barrier(bar).op(cmp).op(br);
    }
    for (std::uint32_t i = 0; i < 16; ++i)
      w.lines(st, {{kFirstLine + 2 * kArray + (w.block() * 8 + wi) * 16 + i}});
    w.op(ex);
  });
  return r;
}

Made make_stencil(unsigned scale) {
  Code c("stencil");
  std::uint32_t ld[5];
  for (unsigned i = 0; i < 5; ++i) ld[i] = c.load(static_cast<std::uint8_t>(1 + i), 20);
  auto ix = c.alu(20, {20});
  for (std::uint8_t i = 21; i < 24; ++i) c.alu(i, {i});
  auto acc = c.fma(10, {10, 1});
  for (std::uint8_t i = 2; i < 6; ++i) c.fma(10, {10, i});
  auto st = c.store(10, 21), cmp = c.alu(30, {20}), br = c.branch({30}), ex = c.exit();
  constexpr std::uint32_t kRow = 64;  // lines in a row: a 2048 x N grid of floats
  auto r = std::make_unique<Recording>(c, trace::LaunchShape{{1280 * scale}, {256}, 0});
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

Made make_gather(unsigned scale) {
  Code c("gather");
  auto lc = c.load(1, 10), ix = c.alu(10, {10}), adr = c.alu(2, {1}), lv = c.load(3, 2),
       acc = c.fma(4, {4, 3});
  auto cmp = c.alu(11, {10}), br = c.branch({11}), ex = c.exit();
  Rng rng(42);
  auto r = std::make_unique<Recording>(c, trace::LaunchShape{{640 * scale}, {256}, 0});
  r->each_warp([&](WarpWriter& w) {
    for (std::uint32_t it = 0; it < 16; ++it) {
      unsigned lanes = 8 + rng.below(25);
      LaneMask mask = lanes == 32 ? kFullMask : (1u << lanes) - 1;
      std::vector<PieceSpec> p;
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

Made make_chase(unsigned scale) {
  Code c("chase");
  auto ld = c.load(1, 1), ex = c.exit();
  Rng rng(7);
  auto r = std::make_unique<Recording>(c, trace::LaunchShape{{80}, {32}, 90000});
  r->each_warp([&](WarpWriter& w) {
    for (unsigned it = 0; it < 4000 * scale; ++it)
      w.lines(ld, {{kFirstLine + rng.below(1 << 22), 1, 1}}, 1);
    w.op(ex);
  });
  return r;
}

struct Options {
  timing::GpuOptions gpu;
  std::string warp = "gto";
  unsigned repeat = 1, scale = 1;
};

void measure(const std::string& name, Recording& work, const Options& o) {
  auto policies = policy::all_policies();
  const auto kernel = policies.kernel.choose("fcfs");
  auto warp = policies.warp.choose(o.warp);
  auto block = policies.block.choose("rr");
  auto dram = policies.dram.choose("frfcfs");
  const timing::PolicyChoices choices = {
      .kernel = kernel.get(), .warp = warp.get(), .block = block.get(), .dram = dram.get()};
  timing::Gpu gpu(testing::large_machine(), choices, o.gpu);
  auto begin = std::chrono::steady_clock::now();
  std::clock_t cpu = std::clock();
  gpu.run(work.stream(), {name, StreamId{}, 0});
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  double busy = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
  stats::GpuCounters n = gpu.counters();
  auto cycles = static_cast<double>(gpu.now()), issued = static_cast<double>(n.sm.issued);
  std::printf(
      "%-8s %8.0f cycles %8.0f winst  ipc/sm %5.2f | %7.3f s, cpu %7.3f s: %6.2f Mwinst/s %6.1f "
      "kcyc/s | %016llx\n",
      name.c_str(), cycles, issued, issued / cycles / 80, seconds, busy, issued / busy / 1e6,
      cycles / busy / 1e3, static_cast<unsigned long long>(gpu.hash()));
  if (std::getenv("VERBOSE") == nullptr) return;
  std::printf("  slots:");
  for (unsigned s = 0; s < stats::kStalls; ++s)
    std::printf(" %s %.1f%%", std::string(stats::kStallNames[s]).c_str(),
                100 * static_cast<double>(n.scheduler.stall[s]) / cycles / 320);
  auto ratio = [](std::uint64_t a, std::uint64_t b) {
    return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
  };
  std::printf(
      "\n  l1: acc %llu hit %.1f%% pending %.1f%% latency %.0f fails %llu | l2: %llu hit %.1f%% | "
      "dram: rd %llu wr %llu B/cyc %.0f rowhit %.1f%%\n",
      static_cast<unsigned long long>(n.sm.l1d_accesses),
      100 * ratio(n.sm.l1d_hits, n.sm.l1d_accesses),
      100 * ratio(n.sm.l1d_pending_hits, n.sm.l1d_accesses),
      ratio(n.sm.l1d_miss_cycles, n.sm.l1d_misses),
      static_cast<unsigned long long>(n.sm.l1d_reservation_fails),
      static_cast<unsigned long long>(n.l2.reads + n.l2.writes + n.l2.atomics),
      100 * ratio(n.l2.hits, n.l2.reads + n.l2.writes + n.l2.atomics),
      static_cast<unsigned long long>(n.dram.reads), static_cast<unsigned long long>(n.dram.writes),
      static_cast<double>(n.dram.bytes) / cycles,
      100 * ratio(n.dram.row_hits, n.dram.reads + n.dram.writes));
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("  stream %.1f MB, rss %.0f MB\n", static_cast<double>(work.stream().bytes()) / 1e6,
              static_cast<double>(usage.ru_maxrss) / 1e3);
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, Made (*)(unsigned)> kernels = {
      {"alu", make_alu},       {"sgemm", make_sgemm},   {"stencil", make_stencil},
      {"vecadd", make_vecadd}, {"gather", make_gather}, {"chase", make_chase}};
  Options o;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    auto is = [&](const char* n) { return std::strcmp(argv[i], n) == 0; };
    bool more = i + 1 < argc;
    if (is("--no-skip")) o.gpu.skip = false;
    else if (is("--shuffle")) o.gpu.shuffle = true;
    else if (is("--threads") && more) o.gpu.threads = static_cast<unsigned>(std::atoi(argv[++i]));
    else if (is("--repeat") && more) o.repeat = static_cast<unsigned>(std::atoi(argv[++i]));
    else if (is("--scale") && more) o.scale = static_cast<unsigned>(std::atoi(argv[++i]));
    else if (is("--warp") && more) o.warp = argv[++i];
    else if (kernels.count(argv[i]) != 0) names.emplace_back(argv[i]);
    else return std::fprintf(stderr, "timing_speed: unknown argument '%s'\n", argv[i]), 2;
  }
  if (names.empty()) names = {"vecadd", "sgemm", "stencil", "gather", "alu", "chase"};
  for (const std::string& n : names) {
    Made work = kernels.at(n)(o.scale);
    for (unsigned i = 0; i < o.repeat; ++i) measure(n, *work, o);
  }
}

// How long recording and replaying the L1D accesses of one SM takes: a stream of N million accesses
// (10 unless said otherwise) of 32 warps, each going through lines of its own again and again with
// some shared ones in between. Processor seconds, and bytes an access in the temporary file.
//   analysis_speed [millions]
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>

#include "raddle/analysis/recorder.h"
#include "raddle/analysis/replay.h"
#include "raddle/base/rng.h"

using namespace raddle;

namespace {

double processor_seconds(const std::function<void()>& work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

void fill(analysis::Recorder& recorder, std::uint64_t accesses) {
  Rng rng(1);
  for (std::uint8_t warp = 0; warp < 32; ++warp) recorder.warp_started({0, 0, warp, 0, warp, 0});
  policy::L1Access a{};
  a.sectors = 1, a.kind = policy::L1Kind::Load, a.outcome = policy::L1Outcome::Hit;
  for (std::uint64_t i = 0; i < accesses; ++i) {
    a.at += rng.below(8);
    a.warp = static_cast<std::uint8_t>(rng.below(32));
    a.inst = rng.below(64);
    a.lanes = 1u << rng.below(32);
    a.kind = rng.below(16) == 0 ? policy::L1Kind::Store : policy::L1Kind::Load;
    // 64 lines of the warp at a time, out of some thousands; or one of 100,000 shared ones.
    const auto stage = static_cast<std::uint32_t>(i >> 18);
    a.line = rng.below(4) == 0 ? rng.below(100000)
                               : 1'000'000 + 4096 * a.warp + 64 * (stage % 64) + rng.below(64);
    recorder.access(a);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto millions = static_cast<std::uint64_t>(argc > 1 ? std::atoi(argv[1]) : 10);
  SpillFile spill;
  analysis::Recorder recorder(spill);
  std::printf("%llu million accesses of one SM\n", static_cast<unsigned long long>(millions));
  std::printf("  record (and make up)   %6.2f s\n",
              processor_seconds([&] { fill(recorder, millions * 1'000'000); }));
  std::printf("  temporary file         %6.2f bytes an access\n",
              static_cast<double>(spill.size()) / static_cast<double>(recorder.stream().size()));
  std::unique_ptr<analysis::Accesses> accesses;
  std::printf("  unpack, number lines   %6.2f s\n", processor_seconds([&] {
                accesses =
                    std::make_unique<analysis::Accesses>(recorder.stream(), analysis::L1Rules{});
              }));
  std::printf("  next loads             %6.2f s\n",
              processor_seconds([&] { accesses->next_loads(); }));
  struct Shape {
    const char* name;
    analysis::Geometry geometry;
  };
  for (const Shape& shape : {Shape{"32 KiB, 8 ways", {32, 8}}, Shape{"4 MiB, 8 ways", {4096, 8}},
                             Shape{"4 MiB, one set", {1, 32768}}})
    for (const auto replacement : {analysis::Replacement::Lru, analysis::Replacement::Belady}) {
      analysis::ReplayCounts counts;
      const double seconds = processor_seconds(
          [&] { counts = analysis::replay(*accesses, replacement, shape.geometry); });
      std::printf("  %-15s %-6s %6.2f s  miss rate %.4f\n", shape.name,
                  analysis::kReplacementNames[static_cast<unsigned>(replacement)].data(), seconds,
                  static_cast<double>(counts.misses) / static_cast<double>(counts.accesses));
    }
  std::printf("  unbounded              %6.2f s\n", processor_seconds([&] {
                analysis::replay(*accesses, analysis::Replacement::Unbounded, {});
              }));
}

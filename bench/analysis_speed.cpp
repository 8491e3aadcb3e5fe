// How long recording and replaying the L1D accesses of one SM takes: 10 million accesses of 32
// warps,
// each going through lines of its own again and again with some shared ones in between.
//   ./x bench analysis [options of Google Benchmark]
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <memory>

#include "raddle/analysis/recorder.h"
#include "raddle/analysis/replay.h"
#include "raddle/base/rng.h"

using namespace raddle;

namespace {

constexpr std::uint64_t kAccesses = 10'000'000;

void fill(analysis::Recorder& recorder) {
  Rng rng(1);
  for (std::uint8_t warp = 0; warp < 32; ++warp) recorder.warp_started({0, 0, warp, 0, warp, 0});
  policy::L1Access a{};
  a.sectors = 1;
  a.kind = policy::L1Kind::Load;
  a.outcome = policy::L1Outcome::Hit;
  for (std::uint64_t i = 0; i < kAccesses; ++i) {
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

/// What all measurements but the first work on.
struct Recorded {
  SpillFile spill;
  analysis::Recorder recorder{spill};
  std::unique_ptr<analysis::Accesses> accesses;
  Recorded() {
    fill(recorder);
    accesses = std::make_unique<analysis::Accesses>(recorder.stream(), analysis::L1Rules{});
  }
};

void record(benchmark::State& state) {
  for (auto _ : state) {
    SpillFile spill;
    analysis::Recorder recorder(spill);
    fill(recorder);
    state.counters["bytes/access"] =
        static_cast<double>(spill.size()) / static_cast<double>(recorder.stream().size());
  }
}

void read_back(benchmark::State& state, const std::shared_ptr<Recorded>& recorded) {
  for (auto _ : state)
    analysis::Accesses accesses(recorded->recorder.stream(), analysis::L1Rules{});
}

void next_loads(benchmark::State& state, const std::shared_ptr<Recorded>& recorded) {
  for (auto _ : state) recorded->accesses->next_loads();
}

void replay(benchmark::State& state, const std::shared_ptr<Recorded>& recorded,
            analysis::Replacement replacement, analysis::Geometry geometry) {
  for (auto _ : state) {
    const analysis::ReplayCounts counts =
        analysis::replay(*recorded->accesses, replacement, geometry);
    state.counters["miss rate"] =
        static_cast<double>(counts.misses) / static_cast<double>(counts.accesses);
  }
}

struct Shape {
  const char* name;
  analysis::Geometry geometry;
};
constexpr Shape kShapes[] = {
    {"32 KiB, 8 ways", {32, 8}}, {"4 MiB, 8 ways", {4096, 8}}, {"4 MiB, one set", {1, 32768}}};

/// One iteration: each takes about a second.
template <class... Arguments>
void add(const std::string& name, Arguments... arguments) {
  benchmark::RegisterBenchmark(name.c_str(), arguments...)
      ->Iterations(1)
      ->Unit(benchmark::kMillisecond);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  const auto recorded = std::make_shared<Recorded>();
  add("record, and make up", record);
  add("unpack, number lines", read_back, recorded);
  add("next loads", next_loads, recorded);
  for (const Shape& shape : kShapes)
    for (const auto replacement : {analysis::Replacement::Lru, analysis::Replacement::Belady})
      add(fmt::format("{}, {}", shape.name,
                      analysis::kReplacementNames[static_cast<unsigned>(replacement)]),
          replay, recorded, replacement, shape.geometry);
  add("unbounded", replay, recorded, analysis::Replacement::Unbounded, analysis::Geometry{});
  benchmark::RunSpecifiedBenchmarks();
}

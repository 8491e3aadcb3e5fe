#include "analytic/page.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>

namespace raddle::verification {
namespace {

struct Table {
  const char *id, *title, *text, *columns;
};

constexpr const char* kIntroduction = R"(# Verification

Written by `./x verify` from the tests in `tests/analytic`; do not edit. The tests assert what
stands here, so a change of the model that moves a number fails a test or changes this page
(`./x verify --check`, part of `./x test`). Expected values are closed forms of the machine file's
own numbers. Cycles are core-clock cycles. What the model leaves out is in
[deviations.md](deviations.md).
)";

constexpr Table kTables[] = {
    {"latency", "Pointer chase: unloaded latency", R"(
One thread follows pointers; each load waits for the one before. Cycles per load are the difference
between a long and a short chain, so launch and drain do not count. **L1**: `hit_latency_cycles`.
**L2** (loads that bypass the L1): four wires, the slice's `hit_latency_cycles`, a network cycle for
each flit of the reply after its first and, in a mesh, for routers and channels between the SM and
the slices of the path. **DRAM**: the L2 path plus `extra_latency_cycles` plus, in memory clocks,
tCL and the burst (row open), tRCD more (row closed), tRP more (another row open); the addresses are
picked by the machine's own address map, refresh is off. Where two clocks meet, what crosses waits
for the next cycle of the other: hence least and most.)",
     "machine | level | expected | measured"},
    {"distance", "Latency by distance: table 2 of IKRA", R"(
The paper gives ranges: 29 to 61 cycles for the L2 and 197 to 261 for memory. With legs of 0 to 6
hops (SM to bank and back; for memory, bank to controller and back too) they are 8/3 cycles per hop.
Chases from SM 0 at nodes 0, 3, 6 and 12 to each of the 16 banks; measured is the least and the most
over pairs of that distance. **Remote L1 hit**, 35 to 83 cycles: lines that another SM's L1 owns (SM
to bank, bank to owner, owner to SM), at several nodes each. The flits of the words that a single
thread does not ask for are left out. Three nodes of this mesh are 12 hops apart at most, so 83 (18
hops) needs contention.)",
     "machine | level | hops | expected | measured"},
    {"bandwidth", "Streaming bandwidth", R"(
A full machine of 256-thread blocks with 16-byte accesses, bytes per core cycle. **L1**: reads of
up to four blocks on one SM, against a line per cycle. **L2**: accesses that bypass the L1 and
hit, store buffers off, against what the ports of SMs or slices carry of data in one direction: a
line of the L2 and its header, in whole flits. A copy uses both directions. Both are slopes
between a long and a short run, good to 1 %. **DRAM**: bytes on the channels in the whole run
after launch, the L2 cut to four sets so that it keeps nothing, against channels x bus. Below
peak: one load under way per warp (L1), head-of-line blocking in the crossbars (L2), closed rows,
turnarounds, refresh, the first and the last latency (DRAM).)",
     "machine | level | access | peak B/cycle | measured | share"},
    {"banks", "Shared-memory bank conflicts", R"(
One warp loads from shared memory with a stride in words, each load waiting for the one before
through an addition. With a stride of 2^k words the lanes use 32 / 2^k banks, hence 2^k bank
conflict cycles; with an odd stride each lane has its own bank. Expected: the shared latency, a
cycle for each conflict cycle after the first, the addition.)",
     "machine | stride | conflict cycles | expected cycles | measured"},
    {"occupancy", "Occupancy against the CUDA rules", R"(
Resident blocks per SM of the V100 from threads, registers (per warp, in units of 256), shared
memory (in units of 256 bytes) and block slots. They are given by the rules of the CUDA occupancy
calculator for compute capability 7.0, and as the model has them.)",
     "threads | registers | shared bytes | blocks by the rules | limited by | blocks in the model"},
    {"little", "Limits by Little's law", R"(
Loads of lines never seen before on one SM of the V100, with so many MSHR entries: misses under way
= misses per cycle x mean time from miss to fill. Where the entries are the limit, all are in
use.)",
     "MSHR entries | misses per cycle | mean latency | under way"},
    {"rates", "Execution units", R"(
A dependent chain runs at the latency of its class; a full SM at the interval of the unit (cycles
for every warp of a scheduler to issue one), or the latency where that is longer.)",
     "machine | class | latency expected | measured | warps | all warps once, expected | measured"},
    {"network", "Networks", R"(
A crossbar with one FIFO per input, single flits to random outputs, senders that never run dry:
head-of-line blocking holds it at the figures of Karol, Hluchyj and Morgan (1987), 2 - sqrt(2) for
many ports. One packet in an empty mesh: 2 cycles for each router, 1 for each channel, 1 for each
flit after the first, the wire of the rig.)",
     "network | expected | measured"},
    {"conservation", "Conservation", R"(
Whole runs at `tiny`: requests leave the SMs, reach the L2 and are answered, each once; loads are
hits, pending hits or misses; DRAM moves whole bursts; issued and stalled scheduler-cycles tile the
run.)",
     "machine | workload | requests | replies | L2 accesses | L1D loads | DRAM bytes | "
     "scheduler-cycles"},
    {"silicon", "Against silicon: V100", R"(
Ours against the micro-benchmarks of Accel-Sim on a TITAN V (the same chip with 24 of 32 memory
channels; `accelsim_ubench_output_TITANV.txt` of its framework) and against latencies measured on a
V100. Shares of peak are compared where the peaks differ. Published cycles of whole programs on the
V100 (Accel-Sim, ISCA 2020) are not compared: their inputs are not recorded with them.)",
     "quantity | silicon | ours | error | remark"},
    {"h100", "Against silicon: H100", R"(
Cycles on an H100 as published with MGPUSim: of empty kernels as ncu counts them, of the others as
kernel time. Ours count from the host's launch, so `launch_latency_cycles` is in all of them.)",
     "kernel | silicon | ours | error | remark"},
};

using Rows = std::map<std::string, std::vector<std::vector<std::string>>, std::less<>>;
Rows& rows() {
  static Rows all;
  return all;
}

std::string bars(const std::string& columns) {
  std::string line = "|";
  for (char c : columns) line += c == '|' ? "---|" : "";
  return line + "---|";
}

class Writer final : public ::testing::Environment {
 public:
  void TearDown() override {
    const char* path = std::getenv("RADDLE_VERIFICATION");
    if (path == nullptr) return;
    std::ofstream out(path);
    out << kIntroduction;
    for (const Table& t : kTables) {
      const auto found = rows().find(t.id);
      if (found == rows().end()) continue;
      out << "\n## " << t.title << '\n'
          << t.text << "\n\n| " << t.columns << " |\n"
          << bars(t.columns) << '\n';
      for (const auto& cells : found->second) {
        for (const std::string& cell : cells) out << "| " << cell << ' ';
        out << "|\n";
      }
    }
  }
};
const auto* const registered = ::testing::AddGlobalTestEnvironment(new Writer);

}  // namespace

void row(std::string_view table, std::vector<std::string> cells) {
  rows()[std::string(table)].push_back(std::move(cells));
}

}  // namespace raddle::verification

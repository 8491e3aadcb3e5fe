// Whole GPUs around networks of every kind and size: the same result however the host computes it,
// and every packet, flit and credit accounted for in the end.
#include <gtest/gtest.h>

#include "support/gpu_harness.h"
#include "support/random_kernel.h"

namespace raddle::noc_machines_test {
namespace {

using namespace raddle::support;
using timing::GpuOptions;
using timing::MachineSpec;
using timing::Topology;

struct Case {
  const char* name;
  unsigned sms, slices, channels;
  void (*set)(timing::NocSpec&);
};
std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

class NetworkMachines : public ::testing::TestWithParam<Case> {
 protected:
  MachineSpec machine() const {
    const Case& c = GetParam();
    MachineSpec m = busy_machine();
    m.sm.count = c.sms;
    m.l2.slices = c.slices;
    m.dram.channels = c.channels;
    c.set(m.noc);
    return m;
  }
  std::uint64_t hash(const GpuOptions& options) const {
    GpuHarness gpu(machine(), options);
    for (std::uint64_t seed : {5, 6}) gpu.run(*random_kernel(seed));
    EXPECT_EQ(gpu->audit(), std::vector<std::string>{});
    stats::GpuCounters c = gpu->counters();
    EXPECT_EQ(c.request.packets, c.reply.packets);
    EXPECT_EQ(c.request.packets, c.l2.reads + c.l2.writes + c.l2.atomics);
    EXPECT_EQ(c.request.kind[1].packets, c.l2.writes);
    for (const stats::NocCounters& n : {c.request, c.reply}) {
      std::uint64_t bytes = 0;
      for (const stats::NocTraffic& k : n.kind) bytes += k.bytes;
      EXPECT_EQ(bytes, n.bytes);
    }
    return gpu->hash();
  }
};

void mesh(timing::NocSpec& n, unsigned columns, unsigned rows) {
  n.topology = Topology::Mesh;
  n.mesh.columns = columns;
  n.mesh.rows = rows;
}

INSTANTIATE_TEST_SUITE_P(
    All, NetworkMachines,
    ::testing::Values(
        Case{"OneOfEach", 1, 1, 1, [](timing::NocSpec&) {}},
        Case{"OneNode", 1, 1, 1, [](timing::NocSpec& n) { mesh(n, 1, 1); }},
        Case{"Wide", 200, 13, 13, [](timing::NocSpec& n) { n.sms_per_port = 7; }},
        Case{"WideMesh", 200, 15, 5, [](timing::NocSpec& n) { mesh(n, 16, 15); }},
        // As many SMs as two of the largest GPUs that were built have, and a wafer's mesh.
        Case{"HugeCrossbar", 300, 24, 12, [](timing::NocSpec&) {}},
        Case{"SharedHugeCrossbar", 512, 320, 4, [](timing::NocSpec& n) { n.sms_per_port = 5; }},
        Case{"HugeMesh", 370, 30, 10, [](timing::NocSpec& n) { mesh(n, 20, 20); }},
        Case{"ShallowMesh", 23, 6, 3,
             [](timing::NocSpec& n) {
               mesh(n, 7, 3);
               n.mesh.virtual_channels = 1;
               n.mesh.vc_flits = 1;
               n.queue_flits = 5;
             }},
        Case{"CrowdedMesh", 12, 6, 3,
             [](timing::NocSpec& n) {
               mesh(n, 3, 1);
               n.mesh.sm_nodes = "0-2,0-2,0-2,0-2";
               n.mesh.slice_nodes = "1,1,1,0,2,2";
               n.mesh.router_cycles = 5;
               n.mesh.channel_cycles = 3;
             }},
        Case{"SlowMesh", 9, 4, 2,
             [](timing::NocSpec& n) {
               mesh(n, 3, 3);
               n.clock_mhz = 333;
               n.latency_cycles = 1;
             }},
        Case{"FastCrossbar", 9, 4, 2,
             [](timing::NocSpec& n) {
               n.clock_mhz = 1789;
               n.sms_per_port = 4;
               n.input_speedup = 3;
               n.queue_flits = 9;
             }}),
    [](const auto& info) { return info.param.name; });

TEST_P(NetworkMachines, GiveTheSameHoweverTheHostComputes) {
  const std::uint64_t expected = hash({});
  GpuOptions every_cycle, shuffled, threads;
  every_cycle.skip = false;
  shuffled.shuffle = true;
  threads.threads = 2;
  EXPECT_EQ(expected, hash(every_cycle)) << "no skip";
  EXPECT_EQ(expected, hash(shuffled)) << "shuffled";
  EXPECT_EQ(expected, hash(threads)) << "two threads";
}

TEST(MeshMachine, AMeshKnowsWhereItsEndpointsAre) {
  // The farther from the only slice, the later the same kernel ends.
  auto cycles = [](const char* slice_node) {
    MachineSpec m = busy_machine();
    m.sm.count = 1;
    m.l2.slices = m.dram.channels = 1;
    mesh(m.noc, 8, 1);
    m.noc.mesh.sm_nodes = "0";
    m.noc.mesh.slice_nodes = slice_node;
    GpuHarness gpu(m);
    return gpu.run(*random_kernel(3));
  };
  EXPECT_LT(cycles("0"), cycles("3"));
  EXPECT_LT(cycles("3"), cycles("7"));
}

}  // namespace
}  // namespace raddle::noc_machines_test

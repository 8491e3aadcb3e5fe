#include "raddle/timing/noc/noc_spec.h"

#include "raddle/timing/gpu/machine.h"
#include "raddle/timing/memory_ports.h"

namespace raddle::timing {

namespace {
using R = Range<std::uint32_t>;
// Arrivals are kept in words of 64 cycles.
constexpr std::uint32_t kLongestNocWire = 32;
}  // namespace

void NocSpec::visit(FieldVisitor& v) {
  v.field("latency_cycles", latency_cycles, R{1, kLongestNocWire}, "cycles",
          "of each link, each way");
  v.field("flit_bytes", flit_bytes, R{8, 256}, "bytes", "what a port moves in one cycle");
  v.field("header_bytes", header_bytes, R{1, 64}, "bytes", "address and command of a packet");
  v.field("queue_flits", queue_flits, R{1, 255}, "flits", "input queue of a port");
}

void check_noc(const MachineSpec& m, SpecRules& r) {
  r.require(m.noc.latency_cycles + m.dispatch_latency_cycles <= 64,
            "noc.latency_cycles + dispatch_latency_cycles must not exceed 64",
            {{"noc.latency_cycles", m.noc.latency_cycles},
             {"dispatch_latency_cycles", m.dispatch_latency_cycles}});
  PacketSize size{m.noc.flit_bytes, m.noc.header_bytes, m.l2.sector_bytes};
  r.require(m.noc.queue_flits >= size.flits(m.l2.line_bytes),
            "noc.queue_flits must hold the largest packet (header_bytes and a whole line)",
            {{"noc.queue_flits", m.noc.queue_flits},
             {"noc.flit_bytes", m.noc.flit_bytes},
             {"noc.header_bytes", m.noc.header_bytes},
             {"l2.line_bytes", m.l2.line_bytes}});
  r.require(size.flits(m.l2.line_bytes) <= 32,
            "a packet with a whole line must not exceed 32 flits",
            {{"noc.flit_bytes", m.noc.flit_bytes}, {"l2.line_bytes", m.l2.line_bytes}});
}

}  // namespace raddle::timing

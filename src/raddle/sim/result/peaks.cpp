#include "raddle/sim/result/peaks.h"

#include <algorithm>

#include "raddle/timing/spec/parts.h"

namespace raddle::sim {

namespace {

using timing::Coalescing;
using timing::MachineSpec;

/// Flits in a cycle of the network that ports can send and receive. A sender hands over one.
double flits_of_ports(unsigned senders, unsigned senders_per_port, unsigned speedup,
                      unsigned receivers, unsigned receivers_per_port) {
  const auto ports = [](unsigned nodes, unsigned per_port) {
    return (nodes + per_port - 1) / per_port;
  };
  const unsigned sent = ports(senders, senders_per_port) * std::min(senders_per_port, speedup);
  return std::min(sent, ports(receivers, receivers_per_port));
}

void add_networks(const MachineSpec& machine, stats::Peaks& out) {
  const timing::NetworkSpec network(machine);
  const timing::PortSpec& port = network.port;
  out.flit_bytes = port.packet.flit_bytes;
  out.request_flits = out.reply_flits = stats::kUnlimited;
  if (network.ideal) return;
  const bool crossbar = machine.noc.topology == timing::Topology::Crossbar;
  const unsigned per_port = crossbar ? machine.noc.sms_per_port : 1;
  const unsigned speedup = crossbar ? machine.noc.input_speedup : 1;
  const unsigned sms = machine.sm.count, slices = machine.l2.slices;
  const double cycles = static_cast<double>(port.network_mhz) / port.core_mhz;
  // Who sends and receives what: timing/noc/network.cpp.
  out.request_flits =
      cycles * flits_of_ports(sms, per_port, speedup, slices + (network.transfers ? sms : 0), 1);
  out.reply_flits = cycles * flits_of_ports(slices + (network.answers ? sms : 0), 1, speedup,
                                            sms + (network.answers ? slices : 0), per_port);
}

double dram_bytes(const MachineSpec& machine) {
  const timing::ChannelSpec channel(machine, 0);
  const timing::DramSpec& dram = channel.dram;
  if (dram.model == timing::DramModel::Banks)
    return static_cast<double>(dram.channels) * dram.bus_bytes_per_cycle * dram.clock_mhz /
           channel.core_mhz;
  if (dram.fixed_interval_cycles == 0) return stats::kUnlimited;
  return static_cast<double>(dram.channels) * channel.line_bytes / dram.fixed_interval_cycles;
}

}  // namespace

stats::Peaks peaks_of(const MachineSpec& machine) {
  const timing::SmSpec& sm = machine.sm;
  stats::Peaks out;
  out.issue = static_cast<double>(sm.count) * sm.schedulers;
  out.l1_lines = static_cast<double>(sm.count) * sm.lsu_lines;
  out.l1_line_bytes =
      sm.l1d.coalescing == Coalescing::Sector ? sm.l1d.sector_bytes : sm.l1d.line_bytes;
  out.shared = sm.count;
  add_networks(machine, out);
  out.l2_requests = static_cast<double>(machine.l2.slices) / machine.l2.interval_cycles;
  out.dram_bytes = dram_bytes(machine);
  return out;
}

}  // namespace raddle::sim

// Host code of regx: packets searched for regular expressions. See README.md.
#include <array>

#include "common/child_launches.h"
#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"
#include "regx/expressions.h"

namespace raddle::runtime {
namespace {

using namespace workloads;

constexpr std::array<std::string_view, 2> kInputNames = {"darpa", "strings"};

class Regx final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    children_ = {.parent = {.block = 128}, .child_block = 64, .threshold = 128};
    by_size(size, packets_, {6, 28'672, 131'072});
    by_size(size, ports_per_rule_, {4, 8, 8});
  }

  void visit(FieldVisitor& v) override {
    v.choice("input", input_, kInputNames, "packets from templates, or random strings");
    v.field("packets", packets_, {1, 1u << 20}, "packets", "number of packets");
    v.field("expressions", expressions_, {1, 1000}, "expressions", "in all rules");
    v.field("ports_per_rule", ports_per_rule_, {1, kPorts}, "ports",
            "one of so many has rules: 1 to 3 expressions");
    children_.visit(v, "bytes", "of a packet from which on a child searches it");
  }

  std::vector<std::string> violations() const override { return children_.violations(); }

  void run(Device& device, std::uint64_t seed) override {
    make_input(seed);
    children_.parent.ask_for_launches(device, scans());
    const PacketBuffer buffer = lay_out(all_);
    DeviceArray<std::uint32_t> place(device, buffer.place), found(device, packets_);
    DeviceArray<std::uint8_t> data(device, buffer.data), automaton(device, rules_.automaton);
    DeviceArray<std::uint32_t> rule_first(device, rules_.rule_first), rule(device, rule_rows());
    found.set_bytes(0);
    Arguments arguments(place.address(), data.address(), packets_, rule_first.address(),
                        rule.address(), automaton.address(), found.address());
    if (children_.nested()) {
      arguments.add(children_.threshold);
      arguments.add(children_.child_block);
    }
    const ModuleId module = load_module(device, "regx");
    device.launch(device.kernel(module, children_.nested() ? "regx_packets" : "regx_packets_flat"),
                  {children_.parent.blocks(packets_)}, {children_.parent.block}, arguments);
    device.synchronize();
    found_ = found.download();
  }

  std::string check() override {
    std::vector<std::uint32_t> expected;
    for (const Packet& packet : all_) {
      std::uint32_t count = 0;
      const std::uint32_t end = rules_.rule_first[packet.port + 1];
      for (std::uint32_t r = rules_.rule_first[packet.port]; r < end; ++r)
        for (std::size_t at = 0; at < packet.payload.size(); ++at)
          count += matches(rules_.expressions[rules_.rule[r]], packet.payload, at);
      expected.push_back(count);
    }
    return first_difference("found", expected, found_);
  }

 private:
  void make_input(std::uint64_t seed) {
    Rng rng(seed, "regx/packets");
    rules_ = make_rules(expressions_, ports_per_rule_, rng);
    all_ = make_packets(input_, packets_, rules_, rng);
    inputs_.add(rules_.automaton, rules_.rule, lay_out(all_).data);
  }
  /// Packets times the rules of their ports.
  std::uint64_t scans() const {
    std::uint64_t sum = 0;
    for (const Packet& packet : all_)
      sum += rules_.rule_first[packet.port + 1] - rules_.rule_first[packet.port];
    return sum;
  }
  std::vector<std::uint32_t> rule_rows() const {
    std::vector<std::uint32_t> rows;
    for (const std::uint32_t expression : rules_.rule) rows.push_back(rules_.row[expression]);
    return rows;
  }

  PacketKind input_ = PacketKind::Darpa;
  std::uint32_t packets_ = 0, expressions_ = 8, ports_per_rule_ = 8;
  ChildLaunches children_;
  RuleSet rules_;
  std::vector<Packet> all_;
  std::vector<std::uint32_t> found_;
};

}  // namespace

void add_workload_regx(Workloads& w) {
  w.add<Regx>("regx", "regular expressions on packets; children search a packet");
}

}  // namespace raddle::runtime

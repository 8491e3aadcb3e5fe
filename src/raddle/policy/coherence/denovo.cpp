#include "raddle/policy/coherence/policy.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {

/// DeNovo for GPUs (Sinclair, Alsop, Adve, MICRO 2015), as in IKRA section 3.
class Denovo final : public CoherencePolicy {
 public:
  struct Params {
    std::uint32_t directory_cycles = 1, answer_cycles = 1;
    bool ro_regions = false, host = false;
    void visit(FieldVisitor& v) {
      const Range<std::uint32_t> range{1, 100};
      v.field("directory_cycles", directory_cycles, range, "cycles",
              "from a bank's look-up to the message to an owner");
      v.field("answer_cycles", answer_cycles, range, "cycles",
              "from a bank's message at an owner to its answer");
      v.field("ro_regions", ro_regions,
              "Valid words of 4 KiB regions that nobody has written since the last acquire outlive "
              "an acquire");
      v.field("host", host,
              "the host shares the memory: what it reads and writes between launches passes "
              "through the L2");
    }
    std::vector<std::string> violations(const MachineFacts& machine) const {
      std::vector<std::string> broken;
      auto require = [&](bool holds, const char* what) {
        if (!holds)
          broken.push_back("policy.coherence.name = \"denovo\" needs " + std::string(what));
      };
      require(machine.mesh, "noc.topology = \"mesh\": SMs answer one another");
      require(machine.line_bytes == 64 && machine.sector_bytes == 64,
              "lines of 64 bytes without sectors (l2 and sm.l1d: line_bytes and sector_bytes 64)");
      require(machine.l1d, "an L1 data cache: sm.l1d.size_kib must not be 0");
      require(machine.store_buffer, "a store buffer: sm.l1d.store_buffer must not be 0");
      require(machine.sms <= 255, "at most 255 SMs");
      return broken;
    }
  };
  Denovo(const Params& p, const Context&) : p_(p) {}
  CoherenceRules rules() const override {
    return {true, p_.directory_cycles, p_.answer_cycles, p_.ro_regions, p_.host};
  }

 private:
  Params p_;
};

void add_coherence_denovo(Registry<CoherencePolicy>& r) {
  r.add<Denovo>("denovo",
                "DeNovo: an L1 owns the words it has written, readers invalidate themselves");
}

}  // namespace raddle::policy

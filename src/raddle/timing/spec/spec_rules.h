// Rules between the keys of a machine file: each component checks its own (check_sm, check_noc,
// ...).
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace raddle::timing {

struct MachineSpec;

/// The engine keeps fixed delays inside an SM in a wheel of this many cycles.
inline constexpr std::uint32_t kLongestDelay = 960;

/// Collects sentences of the form "<rule> (<key> is <value>, ...)".
class SpecRules {
 public:
  struct Named {
    Named(std::string_view of, std::uint64_t number) : key(of), value(std::to_string(number)) {}
    /// Of a choice, as the machine file has it.
    Named(std::string_view of, std::string_view word) : key(of), value(word) {}
    std::string_view key;
    std::string value;
  };
  void require(bool holds, std::string_view rule, std::initializer_list<Named> named) {
    if (holds) return;
    std::string text(rule);
    char open = '(';
    for (const Named& n : named) {
      text += std::string(open == '(' ? " (" : ", ") + std::string(n.key) + " is " + n.value;
      open = ',';
    }
    broken_.push_back(text + ")");
  }
  std::vector<std::string> take() { return std::move(broken_); }

 private:
  std::vector<std::string> broken_;
};

inline bool divides(std::uint64_t part, std::uint64_t whole) {
  return part != 0 && whole % part == 0;
}

/// Ways, lines and sectors of a cache whose keys begin with `path`.
void check_cache(std::string_view path, std::uint64_t size_kib, std::uint32_t line,
                 std::uint32_t sector, std::uint32_t ways, SpecRules& r);

// One for each table of the machine file, in the file of that table's struct.
void check_kernels(const MachineSpec& m, SpecRules& r);
void check_sm(const MachineSpec& m, SpecRules& r);
/// [sm.l1d] and [sm.const_cache], for check_sm.
void check_l1(const MachineSpec& m, SpecRules& r);
void check_noc(const MachineSpec& m, SpecRules& r);
void check_l2(const MachineSpec& m, SpecRules& r);
void check_dram(const MachineSpec& m, SpecRules& r);

}  // namespace raddle::timing

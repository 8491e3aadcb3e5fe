// Replays the commands of a DRAM channel against every timing constraint, written down
// independently of the channel: each pair of commands is compared, nothing is kept as "earliest
// time of the next".
#pragma once
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "raddle/timing/dram/channel.h"

namespace raddle::test {

class DramChecker final : public timing::DramObserver {
 public:
  explicit DramChecker(const timing::DramSpec& spec) : d_(spec) {}
  void on_command(const timing::DramCommand& command) override { log_.push_back(command); }
  std::size_t size() const { return log_.size(); }
  std::uint64_t count(timing::DramCommandKind kind) const {
    return static_cast<std::uint64_t>(
        std::count_if(log_.begin(), log_.end(), [&](const auto& c) { return c.kind == kind; }));
  }
  /// "" when all is well; else the rule and the cycle.
  std::string first_violation() {
    std::sort(log_.begin(), log_.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
    std::map<std::uint32_t, std::uint32_t> open;  // bank -> row
    for (std::size_t i = 0; i < log_.size(); ++i) {
      std::string fault = state_fault(open, log_[i]);
      for (std::size_t j = i; j-- > 0 && log_[j].at + window() > log_[i].at && fault.empty();)
        fault = pair_fault(log_[j], log_[i]);
      if (!fault.empty()) return fault + " at memory cycle " + std::to_string(log_[i].at);
    }
    return "";
  }

 private:
  using Kind = timing::DramCommandKind;
  static bool is_column(Kind k) { return k == Kind::Read || k == Kind::Write; }
  std::uint64_t burst() const {
    return (d_.burst_bytes + d_.bus_bytes_per_cycle - 1) / d_.bus_bytes_per_cycle;
  }
  std::uint64_t window() const {
    return d_.tRC + d_.tRAS + d_.tCL + burst() + d_.tWR + d_.tWTR + d_.tRP;
  }

  std::string state_fault(std::map<std::uint32_t, std::uint32_t>& open,
                          const timing::DramCommand& c) {
    auto at = open.find(c.bank);
    if (c.kind == Kind::Activate) {
      if (at != open.end()) return "ACT of a bank with an open row";
      open[c.bank] = c.row;
    } else if (at == open.end()) {
      return "PRE, RD or WR of a closed bank";
    } else if (c.kind == Kind::Precharge) {
      open.erase(at);
    } else if (at->second != c.row) {
      return "RD or WR of another row than the open one";
    }
    return "";
  }

  std::string pair_fault(const timing::DramCommand& a, const timing::DramCommand& b) const {
    auto need = [&](std::uint64_t distance, const char* name) {
      return b.at < a.at + distance ? std::string(name) : std::string();
    };
    std::uint64_t write_end = d_.tCL + burst();
    if (a.at == b.at) return "two commands in one cycle";
    std::string fault;
    if (is_column(a.kind) && is_column(b.kind))
      fault = need(std::max<std::uint64_t>(d_.tCCD, burst()), "tCCD");
    if (a.kind == Kind::Write && b.kind == Kind::Read) fault = need(write_end + d_.tWTR, "tWTR");
    if (a.kind == Kind::Read && b.kind == Kind::Write) fault = need(burst() + 2, "bus turnaround");
    if (a.kind == Kind::Activate && b.kind == Kind::Activate) fault = need(d_.tRRD, "tRRD");
    if (a.bank != b.bank || !fault.empty()) return fault;
    if (a.kind == Kind::Activate && b.kind == Kind::Activate) return need(d_.tRC, "tRC");
    if (a.kind == Kind::Activate && b.kind == Kind::Precharge) return need(d_.tRAS, "tRAS");
    if (a.kind == Kind::Activate && is_column(b.kind)) return need(d_.tRCD, "tRCD");
    if (a.kind == Kind::Precharge && b.kind == Kind::Activate) return need(d_.tRP, "tRP");
    if (a.kind == Kind::Read && b.kind == Kind::Precharge) return need(d_.tRTP, "tRTP");
    if (a.kind == Kind::Write && b.kind == Kind::Precharge) return need(write_end + d_.tWR, "tWR");
    return "";
  }

  timing::DramSpec d_;
  std::vector<timing::DramCommand> log_;
};

}  // namespace raddle::test

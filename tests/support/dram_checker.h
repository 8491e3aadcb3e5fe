// Replays the commands of a DRAM channel against every timing constraint, written down
// independently of the channel: each pair of commands is compared, nothing is kept as "earliest
// time of the next".
#pragma once
#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "raddle/base/stable_sort.h"
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
    sort_stably(log_, &timing::DramCommand::at);
    open_.clear();
    activates_.clear();
    refreshed_.assign(d_.banks, 0);
    for (std::size_t i = 0; i < log_.size(); ++i) {
      std::string fault = state_fault(log_[i]);
      if (fault.empty()) fault = window_fault(log_[i]);
      if (fault.empty()) fault = refresh_fault(log_[i]);
      for (std::size_t j = i; j-- > 0 && log_[j].at + window() > log_[i].at && fault.empty();)
        fault = pair_fault(log_[j], log_[i]);
      if (!fault.empty()) return fault + " at memory cycle " + std::to_string(log_[i].at);
    }
    return "";
  }

 private:
  using Kind = timing::DramCommandKind;
  using Command = timing::DramCommand;
  static bool is_column(Kind k) { return k == Kind::Read || k == Kind::Write; }
  static bool is_all(Kind k) { return k == Kind::PrechargeAll || k == Kind::RefreshAll; }
  static bool is_refresh(Kind k) { return k == Kind::Refresh || k == Kind::RefreshAll; }
  static bool is_precharge(Kind k) { return k == Kind::Precharge || k == Kind::PrechargeAll; }
  std::uint64_t burst() const {
    return (d_.burst_bytes + d_.bus_bytes_per_cycle - 1) / d_.bus_bytes_per_cycle;
  }
  std::uint64_t window() const {
    return d_.tRC + d_.tRAS + d_.tCL + d_.tCWL + burst() + d_.tWR + d_.tWTRL + d_.tRP + d_.tRFC +
           d_.turnaround;
  }

  std::string state_fault(const Command& c) {
    auto at = open_.find(c.bank);
    if (c.kind == Kind::Activate) {
      if (at != open_.end()) return "ACT of a bank with an open row";
      open_[c.bank] = c.row;
    } else if (c.kind == Kind::PrechargeAll) {
      open_.clear();
    } else if (c.kind == Kind::RefreshAll) {
      if (!open_.empty()) return "REF with an open row";
    } else if (c.kind == Kind::Refresh) {
      if (at != open_.end()) return "REF of a bank with an open row";
    } else if (at == open_.end()) {
      return "PRE, RD or WR of a closed bank";
    } else if (c.kind == Kind::Precharge) {
      open_.erase(at);
    } else if (at->second != c.row) {
      return "RD or WR of another row than the open one";
    }
    return "";
  }

  /// No five activates in tFAW.
  std::string window_fault(const Command& c) {
    if (c.kind != Kind::Activate) return "";
    activates_.push_back(c.at);
    if (activates_.size() <= 4) return "";
    const bool fault = c.at - activates_.front() < d_.tFAW;
    activates_.pop_front();
    return fault ? "tFAW" : "";
  }

  /// Between two refreshes of a bank lies at most its interval and the time it takes to close the
  /// bank; from a bank's last refresh to any command of it as well.
  std::string refresh_fault(const Command& c) {
    if (d_.refresh == timing::Refresh::None) return is_refresh(c.kind) ? "REF without refresh" : "";
    const std::uint64_t late = 64 + d_.tRAS + d_.tCWL + d_.tWR + d_.tRP + 2 * d_.banks;
    for (unsigned b = 0; b < d_.banks; ++b) {
      if (!is_all(c.kind) && b != c.bank) continue;
      if (c.at > refreshed_[b] + d_.tREFI + late) return "tREFI";
      if (is_refresh(c.kind)) refreshed_[b] = c.at;
    }
    return "";
  }

  std::string pair_fault(const Command& a, const Command& b) const {
    auto need = [&](std::uint64_t distance, const char* name) {
      return b.at < a.at + distance ? std::string(name) : std::string();
    };
    if (a.at == b.at && (d_.command_buses == 1 || is_column(a.kind) == is_column(b.kind)))
      return "two commands in one cycle";
    const bool group = a.bank % d_.bank_groups == b.bank % d_.bank_groups;
    const std::uint64_t write_end = d_.tCWL + burst();
    std::string fault;
    if (is_column(a.kind) && is_column(b.kind)) {
      fault = need(group ? d_.tCCDL : d_.tCCDS, "tCCD");
      if (fault.empty()) fault = data_fault(a, b);
    }
    if (a.kind == Kind::Write && b.kind == Kind::Read)
      fault = need(write_end + (group ? d_.tWTRL : d_.tWTRS), "tWTR");
    if (a.kind == Kind::Activate && b.kind == Kind::Activate)
      fault = need(group ? d_.tRRDL : d_.tRRDS, "tRRD");
    if (!fault.empty()) return fault;
    return a.bank == b.bank || is_all(a.kind) || is_all(b.kind) ? bank_fault(a, b) : "";
  }

  /// Data of two column commands on the bus.
  std::string data_fault(const Command& a, const Command& b) const {
    const bool turns = a.kind != b.kind;
    const std::uint64_t first = a.at + (a.kind == Kind::Read ? d_.tCL : d_.tCWL) + burst();
    const std::uint64_t second = b.at + (b.kind == Kind::Read ? d_.tCL : d_.tCWL);
    if (second < first) return "data bus";
    return turns && a.kind == Kind::Read && second < first + d_.turnaround ? "bus turnaround" : "";
  }

  std::string bank_fault(const Command& a, const Command& b) const {
    auto need = [&](std::uint64_t distance, const char* name) {
      return b.at < a.at + distance ? std::string(name) : std::string();
    };
    const std::uint64_t write_end = d_.tCWL + burst();
    if (is_refresh(a.kind)) return need(d_.tRFC, "tRFC");
    if (a.kind == Kind::Activate && b.kind == Kind::Activate) return need(d_.tRC, "tRC");
    if (a.kind == Kind::Activate && is_refresh(b.kind)) return need(d_.tRC, "tRC before REF");
    if (a.kind == Kind::Activate && is_precharge(b.kind)) return need(d_.tRAS, "tRAS");
    if (a.kind == Kind::Activate && is_column(b.kind)) return need(d_.tRCD, "tRCD");
    if (is_precharge(a.kind) && b.kind == Kind::Activate) return need(d_.tRP, "tRP");
    if (is_precharge(a.kind) && is_refresh(b.kind)) return need(d_.tRP, "tRP before REF");
    if (a.kind == Kind::Read && is_precharge(b.kind)) return need(d_.tRTP, "tRTP");
    if (a.kind == Kind::Write && is_precharge(b.kind)) return need(write_end + d_.tWR, "tWR");
    return "";
  }

  timing::DramSpec d_;
  std::vector<Command> log_;
  std::map<std::uint32_t, std::uint32_t> open_;  // bank -> row
  std::deque<std::uint64_t> activates_;          // the last four
  std::vector<std::uint64_t> refreshed_;         // by bank
};

}  // namespace raddle::test

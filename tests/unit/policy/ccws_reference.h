// Cache-conscious warp scheduling as docs/mechanisms/ccws.md words it, written without a thought of
// speed and without a line of src/raddle/policy/throttle: scores that are decremented in every
// cycle, a sort in every cycle, lists of tags. Drawn upon by tests that compare the policy with it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

namespace raddle::test {

class CcwsReference {
 public:
  struct Rules {
    std::uint64_t k = 8, base = 100;
    unsigned entries = 16, ways = 8, period = 1;
    std::uint64_t maximum = 0;  ///< 0 = no limit
    enum Totals { Resident, Kernel, Run } totals = Resident;
    bool flush_at_kernel = false;
  };
  explicit CcwsReference(const Rules& rules) : rules_(rules) {}

  void start(unsigned w) { warps_[w] = {rules_.base, 0, 0, true}; }
  void end(unsigned w) { warps_.erase(w); }
  void issue(unsigned w) {
    ++warps_[w].issued;
    ++kernel_issued_;
    ++run_issued_;
  }
  void kernel_start() {
    kernel_issued_ = kernel_hits_ = 0;
    if (rules_.flush_at_kernel) tags_.clear();
  }
  /// A line of `owner` lost its way to another.
  void evict(unsigned owner, std::uint32_t line) {
    auto& queue = tags_[{owner, line % sets()}];
    std::erase(queue, line);
    queue.push_back(line);
    if (queue.size() > std::min(rules_.ways, rules_.entries)) queue.pop_front();
  }
  /// A load of w misses; true: it hit in the victim tags.
  bool miss(unsigned w, std::uint32_t line) {
    const auto& queue = tags_[{w, line % sets()}];
    if (std::find(queue.begin(), queue.end(), line) == queue.end()) return false;
    const auto at = warps_.find(w);
    if (at == warps_.end()) return true;
    ++at->second.hits;
    ++kernel_hits_;
    ++run_hits_;
    at->second.score = std::max(rules_.base, detected());
    return true;
  }
  void write(std::uint32_t line) {
    for (auto& [array, queue] : tags_) std::erase(queue, line);
  }
  /// Called once in each cycle, when all that precedes its issue has happened.
  void evaluate(std::uint64_t now) {
    if (now % rules_.period != 0) return;
    std::vector<unsigned> stack;
    for (const auto& [w, warp] : warps_) stack.push_back(w);
    std::sort(stack.begin(), stack.end(), [&](unsigned a, unsigned b) {
      const std::uint64_t x = warps_[a].score, y = warps_[b].score;
      return x != y ? x > y : a < b;
    });
    std::uint64_t below = 0;
    for (unsigned w : stack) {
      warps_[w].may_load = below < rules_.base * warps_.size();
      below += warps_[w].score;
    }
  }
  bool may_load(unsigned w) const { return warps_.at(w).may_load; }
  /// The end of a cycle.
  void decay() {
    for (auto& [w, warp] : warps_)
      if (warp.score > rules_.base) --warp.score;
  }
  std::uint64_t score(unsigned w) const { return warps_.at(w).score; }

 private:
  struct Warp {
    std::uint64_t score = 0, hits = 0, issued = 0;
    bool may_load = true;
  };
  unsigned sets() const { return rules_.entries / std::min(rules_.ways, rules_.entries); }
  /// Equation 1.
  std::uint64_t detected() const {
    std::uint64_t hits = run_hits_, issued = run_issued_;
    if (rules_.totals == Rules::Kernel) {
      hits = kernel_hits_;
      issued = kernel_issued_;
    }
    if (rules_.totals == Rules::Resident) {
      hits = issued = 0;
      for (const auto& [w, warp] : warps_) {
        hits += warp.hits;
        issued += warp.issued;
      }
    }
    const std::uint64_t cutoff = rules_.base * warps_.size();
    const std::uint64_t points = hits * rules_.k * cutoff / std::max<std::uint64_t>(issued, 1);
    return rules_.maximum == 0 ? points : std::min(points, rules_.maximum);
  }
  Rules rules_;
  std::map<unsigned, Warp> warps_;
  std::map<std::pair<unsigned, std::uint32_t>, std::deque<std::uint32_t>> tags_;  // warp, set
  std::uint64_t kernel_hits_ = 0, kernel_issued_ = 0, run_hits_ = 0, run_issued_ = 0;
};

}  // namespace raddle::test

// Hand-written traces of one SM.
#pragma once
#include <initializer_list>
#include <string_view>

#include "raddle/analysis/recorder.h"
#include "raddle/analysis/replay.h"

namespace raddle::analysis {

/// Says accesses to a recorder one by one, a cycle apart.
class Trace {
 public:
  Trace() : recorder_(spill_) {}
  Trace& start(unsigned slot, std::uint32_t block = 0) {
    recorder_.warp_started({at_, 0, block, slot, static_cast<std::uint8_t>(slot), 0});
    return *this;
  }
  Trace& load(std::uint32_t line, unsigned slot = 0, LaneMask lanes = 1, std::uint8_t sectors = 1) {
    return put({.line = line,
                .lanes = lanes,
                .sectors = sectors,
                .warp = static_cast<std::uint8_t>(slot),
                .kind = policy::L1Kind::Load});
  }
  Trace& store(std::uint32_t line, std::uint8_t keeps = 0, unsigned slot = 0, LaneMask lanes = 1) {
    return put({.line = line,
                .lanes = lanes,
                .sectors = 1,
                .keeps = keeps,
                .warp = static_cast<std::uint8_t>(slot),
                .kind = policy::L1Kind::Store});
  }
  Trace& put(policy::L1Access a) {
    a.at = at_++;
    recorder_.access(a);
    return *this;
  }
  Trace& flush() {
    recorder_.flushed(at_++);
    return *this;
  }
  Trace& resize(const Geometry& g) {
    flush();
    recorder_.resized(at_, g.sets, g.ways);
    return *this;
  }
  /// Loads a letter stands for: "abca" by warp slot 0; a capital letter is a store.
  Trace& letters(std::string_view word) {
    for (const char c : word)
      if (c >= 'a') load(static_cast<std::uint32_t>(c - 'a'));
      else store(static_cast<std::uint32_t>(c - 'A'));
    return *this;
  }
  Recorder& recorder() { return recorder_; }
  const Stream& stream() const { return recorder_.stream(); }
  ReplayCounts replay(Replacement r, const Geometry& g, const L1Rules& rules = {}) const {
    Accesses accesses(stream(), rules);
    return analysis::replay(accesses, r, g);
  }

 private:
  SpillFile spill_;
  Recorder recorder_;
  Cycle at_ = 0;
};

}  // namespace raddle::analysis

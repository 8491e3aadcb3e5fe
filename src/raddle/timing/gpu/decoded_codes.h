// Kernels' code as this machine executes it: decoded once, however often it is launched, and
// numbered in order of first launch. Code that nobody else knows any more cannot come again and is
// forgotten, unless it is kept for a profile.
#pragma once
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "raddle/timing/code/decoded_kernel.h"
#include "raddle/timing/spec/sm_spec.h"
#include "raddle/trace/lowered.h"

namespace raddle::timing {

struct Decoded {
  Decoded(std::shared_ptr<const trace::LoweredCode> from, const SmSpec& sm, std::uint32_t number)
      : lowered(std::move(from)), kernel(*lowered, sm, number) {}
  std::shared_ptr<const trace::LoweredCode> lowered;
  DecodedKernel kernel;
};

class DecodedCodes {
 public:
  explicit DecodedCodes(const SmSpec& sm) : sm_(sm) {}
  /// From now on nothing is forgotten.
  void keep_all() { keep_all_ = true; }
  std::shared_ptr<const Decoded> find(std::shared_ptr<const trace::LoweredCode> code) {
    for (const auto& known : codes_)
      if (known->lowered == code) return known;
    if (!keep_all_)
      std::erase_if(codes_, [](const auto& known) {
        return known.use_count() == 1 && known->lowered.use_count() == 1;
      });
    return codes_.emplace_back(std::make_shared<const Decoded>(std::move(code), sm_, number_++));
  }
  /// In order of first launch.
  const std::vector<std::shared_ptr<const Decoded>>& all() const { return codes_; }

 private:
  SmSpec sm_;
  bool keep_all_ = false;
  std::vector<std::shared_ptr<const Decoded>> codes_;
  std::uint32_t number_ = 0;  // of the next; those that are forgotten have had theirs
};

}  // namespace raddle::timing

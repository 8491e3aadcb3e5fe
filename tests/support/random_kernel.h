// Random kernels with instructions of every kind; all warps of a block pass the same barriers. The
// same seed gives the same kernel.
#pragma once
#include <algorithm>
#include <memory>
#include <vector>

#include "raddle/base/rng.h"
#include "support/stream_builder.h"

namespace raddle::support {

class RandomKernel {
 public:
  explicit RandomKernel(std::uint64_t seed) : rng_(seed), code_("random") {
    code_.raw().local_bytes_per_thread = 16;
    code_.raw().static_shared_bytes = 1024 * rng_.below(12);
    alu_ = random_alu();
    for (unsigned i = 1; i < kAlus; ++i) random_alu();
    add_line_accesses();
    for (auto [inst, maximum] : {std::pair{code_.load_shared(reg(), reg()), 8u},
                                 {code_.store_shared(reg(), reg()), 3u},
                                 {code_.load_const(reg()), 2u}})
      passes_.push_back({inst, maximum});
    branch_ = code_.branch({reg()});
    barrier_ = code_.barrier();
    fence_ = code_.fence();
    sleep_ = code_.sleep();
    exit_ = code_.exit();
  }
  std::unique_ptr<Recording> record(std::uint32_t blocks, std::uint32_t threads) {
    auto r = std::make_unique<Recording>(code_, trace::LaunchShape{{blocks}, {threads}, 0});
    r->each_warp([this](WarpWriter& w) {
      for (unsigned phase = 0; phase < 3; ++phase) {
        for (unsigned n = rng_.below(40); n > 0; --n) write_some(w);
        w.barrier(barrier_, phase % 2);
      }
      w.op(exit_);
    });
    return r;
  }

 private:
  static constexpr unsigned kAlus = 24;
  /// Touches up to `most` lines, the first of them below `range`.
  struct LineAccess {
    std::uint32_t inst;
    std::uint32_t range, maximum;
  };
  struct PassAccess {
    std::uint32_t inst, maximum;
  };
  std::uint8_t reg() { return static_cast<std::uint8_t>(rng_.below(12)); }
  std::uint32_t random_alu() {
    return code_.op(static_cast<OpClass>(rng_.below(13)), reg(), {reg(), reg()});
  }
  void add_line_accesses() {
    auto load = code_.load(reg(), reg()), bypass = code_.load(reg(), reg());
    code_.raw().instructions[bypass].bypass_l1 = true;
    auto vector = code_.memory(OpKind::LoadGlobal, {2, 3, 4, 5}, {reg()}, "ld.global.v4.f32");
    auto local = code_.memory(OpKind::LoadLocal, {reg()}, {reg()}, "ld.local.f32");
    auto spill = code_.memory(OpKind::StoreLocal, {}, {reg()}, "st.local.f32");
    auto store = code_.store(reg(), reg());
    lines_ = {{load, 200, 3},
              {load, 200, 3},
              {load, 5000, 32},
              {bypass, 200, 2},
              {vector, 1000, 4},
              {store, 200, 4},
              {store, 200, 4},
              {local, 2, 1},
              {spill, 2, 1},
              {code_.atomic(reg(), reg()), 20, 2},
              {code_.reduce(reg()), 20, 2}};
  }
  std::vector<TransactionSpec> transactions(const LineAccess& a) {
    std::vector<TransactionSpec> out;
    std::uint32_t first = rng_.below(a.range);
    for (unsigned i = 0, n = 1 + rng_.below(a.maximum); i < n; ++i)
      out.push_back(
          {first + i * (1 + rng_.below(3)), static_cast<std::uint32_t>(rng_.next()) | 1u, 1u << i});
    return out;
  }
  void write_some(WarpWriter& w) {
    LaneMask mask = static_cast<LaneMask>(rng_.next()) | 1u;
    unsigned what = rng_.below(22);
    if (what < 11) {
      const LineAccess& a = lines_[rng_.below(static_cast<std::uint32_t>(lines_.size()))];
      bool off = rng_.below(12) == 0;  // predicated off by all lanes
      w.lines(a.inst, off ? std::vector<TransactionSpec>{} : transactions(a), off ? 0 : mask);
    } else if (what < 14) {
      w.passes(passes_[what - 11].inst, 1 + rng_.below(passes_[what - 11].maximum), mask);
    } else if (what == 14) {
      w.op(fence_);
    } else if (what == 15) {
      if (rng_.below(8) == 0) w.passes(sleep_, rng_.below(10));
    } else if (what == 16) {
      w.op(branch_, mask);
    } else {
      unsigned from = rng_.below(kAlus), end = std::min(kAlus, from + 1 + rng_.below(8));
      for (; from < end; ++from) w.op(alu_ + from, mask);
    }
  }

  Rng rng_;
  Code code_;
  std::uint32_t alu_ = 0, branch_ = 0, barrier_ = 0, fence_ = 0, sleep_ = 0, exit_ = 0;
  std::vector<LineAccess> lines_;
  std::vector<PassAccess> passes_;
};

inline std::unique_ptr<Recording> random_kernel(std::uint64_t seed, std::uint32_t blocks = 12,
                                                std::uint32_t threads = 96) {
  return RandomKernel(seed).record(blocks, threads);
}

}  // namespace raddle::support

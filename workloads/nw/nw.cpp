// Host code of nw: scores of a global alignment of two sequences. See README.md.
#include <algorithm>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kLetters = 24;  // twenty amino acids, B, Z, X and the stop

class NeedlemanWunsch final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, rows_, {64, 512, 1024});
    by_size(size, columns_, {48, 512, 1024});
  }

  void visit(FieldVisitor& v) override {
    v.field("rows", rows_, {8, 16384}, "letters", "length of the first sequence");
    v.field("columns", columns_, {8, 16384}, "letters", "length of the second sequence");
    v.field("block", block_, {8, 16}, "cells",
            "side of a block of scores, and threads per block: 8 or 16");
    v.field("penalty", penalty_, {0, 1000}, "", "cost of a gap");
  }

  std::vector<std::string> violations() const override {
    std::vector<std::string> all;
    if (block_ != 8 && block_ != 16)
      all.push_back("block must be 8 or 16, is " + std::to_string(block_));
    for (auto [name, length] : {std::pair("rows", rows_), std::pair("columns", columns_)})
      if (length % block_ != 0)
        all.push_back(std::string(name) + " must be a multiple of block = " +
                      std::to_string(block_) + ", is " + std::to_string(length));
    return all;
  }

  void run(Device& device, std::uint64_t seed) override {
    make_input(seed);
    KernelId kernel =
        device.kernel(load_module(device, "nw"), block_ == 16 ? "nw_diagonal_16" : "nw_diagonal_8");
    DeviceArray<std::int32_t> substitution(device, substitution_), scores(device, borders());
    std::uint32_t across = columns_ / block_, down = rows_ / block_;
    for (std::uint32_t diagonal = 0; diagonal < across + down - 1; ++diagonal) {
      std::uint32_t left = diagonal < down ? 0 : diagonal - (down - 1);
      std::uint32_t blocks = std::min(diagonal, across - 1) - left + 1;
      device.launch(kernel, {blocks}, {block_},
                    Arguments(substitution.address(), scores.address(), width(), left,
                              diagonal - left, penalty_));
    }
    device.synchronize();
    result_ = scores.download();
  }

  std::string check() override {
    std::vector<std::int32_t> score = borders();
    auto penalty = static_cast<std::int32_t>(penalty_);
    for (std::size_t i = 1; i <= rows_; ++i)
      for (std::size_t j = 1; j <= columns_; ++j) {
        std::size_t here = i * width() + j, north = here - width();
        score[here] = std::max({score[north - 1] + substitution_[here], score[north] - penalty,
                                score[here - 1] - penalty});
      }
    return first_difference("score", score, result_);
  }

 private:
  std::uint32_t width() const { return columns_ + 1; }

  // Two random sequences, and a symmetric table of what it is worth to align two letters, with
  // values as large as those of BLOSUM62 (Henikoff and Henikoff, PNAS 89, 1992).
  void make_input(std::uint64_t seed) {
    Rng rng(seed, "nw/table");
    std::vector<std::int32_t> table(kLetters * kLetters);
    for (std::uint32_t a = 0; a < kLetters; ++a) {
      table[a * kLetters + a] = 4 + static_cast<std::int32_t>(rng.below(8));
      for (std::uint32_t b = 0; b < a; ++b)
        table[a * kLetters + b] = table[b * kLetters + a] =
            static_cast<std::int32_t>(rng.below(8)) - 4;
    }
    std::vector<std::uint32_t> down = letters(seed, "nw/rows", rows_);
    std::vector<std::uint32_t> across = letters(seed, "nw/columns", columns_);
    substitution_.assign((std::size_t{rows_} + 1) * width(), 0);
    for (std::size_t i = 0; i < rows_; ++i)
      for (std::size_t j = 0; j < columns_; ++j)
        substitution_[(i + 1) * width() + j + 1] = table[down[i] * kLetters + across[j]];
    inputs_.add(substitution_, penalty_);
  }

  static std::vector<std::uint32_t> letters(std::uint64_t seed, std::string_view path,
                                            std::size_t count) {
    Rng rng(seed, path);
    std::vector<std::uint32_t> all(count);
    for (std::uint32_t& letter : all) letter = rng.below(kLetters);
    return all;
  }

  // Row 0 and column 0: nothing but gaps so far.
  std::vector<std::int32_t> borders() const {
    std::vector<std::int32_t> score((std::size_t{rows_} + 1) * width(), 0);
    auto gaps = [&](std::size_t count) { return -static_cast<std::int32_t>(count * penalty_); };
    for (std::size_t i = 0; i <= rows_; ++i) score[i * width()] = gaps(i);
    for (std::size_t j = 0; j <= columns_; ++j) score[j] = gaps(j);
    return score;
  }

  std::uint32_t rows_ = 0, columns_ = 0, penalty_ = 10, block_ = 16;
  std::vector<std::int32_t> substitution_, result_;
};

}  // namespace

void add_workload_nw(Workloads& w) {
  w.add<NeedlemanWunsch>("nw", "sequence alignment: wavefronts of small shared-memory blocks");
}

}  // namespace raddle::runtime

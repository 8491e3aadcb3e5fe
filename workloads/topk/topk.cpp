// Host code of topk. See README.md.
#include <algorithm>
#include <bit>
#include <numeric>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kMaxK = 256;  // as in kernels.cu

class TopK final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, rows_, {2, 80, 64});
    by_size(size, columns_, {1000, 8000, 128'256});
    by_size(size, k_, {8, 50, 50});
    by_size(size, block_, {256, 256, 1024});
  }

  void visit(FieldVisitor& v) override {
    v.field("rows", rows_, {1, 1u << 16}, "rows", "sequences, a block each");
    v.field("columns", columns_, {1, 1u << 20}, "tokens", "of the vocabulary");
    v.field("k", k_, {1, kMaxK}, "tokens", "the most likely ones, of which one is drawn");
    v.field("temperature", temperature_, {0.01, 100}, "", "divides the logits");
    v.field("levels", levels_, {0, 1u << 20}, "",
            "logits are one of so many values, so that there are equal ones; 0: any");
    v.field("block", block_, {kMaxK, 1024}, "threads", "threads per block");
  }

  std::vector<std::string> violations() const override {
    std::vector<std::string> all;
    if (k_ > columns_) all.push_back("k must not exceed columns = " + std::to_string(columns_));
    if (block_ % 32 != 0)
      all.push_back("block must be a multiple of 32, is " + std::to_string(block_));
    if (std::uint64_t{rows_} * columns_ > kMaxNumbers)
      all.push_back("rows * columns must not exceed 2^29");
    return all;
  }

  void run(Device& device, std::uint64_t seed) override {
    logits_ = random_floats(seed, "topk/logits", std::size_t{rows_} * columns_, -kLimit, kLimit);
    if (levels_ != 0) {
      const double step = 2 * kLimit / levels_;
      for (float& logit : logits_) logit = static_cast<float>(std::floor(logit / step) * step);
    }
    draws_ = random_floats(seed, "topk/draws", rows_, 0, 1);
    inputs_.add(logits_, draws_);
    ModuleId module = load_module(device, "topk");
    DeviceArray<float> logits(device, logits_), draws(device, draws_);
    DeviceArray<std::uint32_t> best(device, std::size_t{rows_} * k_), tokens(device, rows_);
    device.launch(device.kernel(module, "topk_sample"), {rows_}, {block_},
                  Arguments(logits.address(), draws.address(), best.address(), tokens.address(),
                            columns_, k_, std::bit_ceil(k_), inverse_temperature()));
    device.synchronize();
    best_ = best.download();
    tokens_ = tokens.download();
  }

  // The k best exactly. The drawn one too, but where the draw lies so near the border between two
  // that rounding decides: either of them.
  std::string check() override {
    std::vector<std::uint32_t> best(best_.size()), tokens(rows_);
    for (std::uint32_t row = 0; row < rows_; ++row) {
      const std::vector<std::uint32_t> own = best_of(row);
      std::copy(own.begin(), own.end(), &best[std::size_t{row} * k_]);
      const auto [first, second] = drawn(row, own);
      tokens[row] = tokens_[row] == own[second] ? own[second] : own[first];
    }
    if (auto wrong = first_difference("best", best, best_); !wrong.empty()) return wrong;
    return first_difference("token", tokens, tokens_);
  }

 private:
  static constexpr double kLimit = 8;
  static constexpr std::uint64_t kMaxNumbers = std::uint64_t{1} << 29;

  float inverse_temperature() const { return static_cast<float>(1 / temperature_); }

  std::vector<std::uint32_t> best_of(std::uint32_t row) const {
    const float* const logits = &logits_[std::size_t{row} * columns_];
    std::vector<std::uint32_t> order(columns_);
    std::iota(order.begin(), order.end(), 0u);
    std::partial_sort(order.begin(), order.begin() + k_, order.end(),
                      [&](std::uint32_t one, std::uint32_t other) {
                        if (logits[one] != logits[other]) return logits[one] > logits[other];
                        return one < other;
                      });
    order.resize(k_);
    return order;
  }

  // Positions among the best. A weight errs by what rounding does to the exponent, and the sums by
  // k additions.
  std::pair<std::size_t, std::size_t> drawn(std::uint32_t row,
                                            const std::vector<std::uint32_t>& best) const {
    const float* const logits = &logits_[std::size_t{row} * columns_];
    std::vector<double> sums;
    double sum = 0;
    for (const std::uint32_t column : best) {
      sum += std::exp((double{logits[column]} - logits[best[0]]) * inverse_temperature());
      sums.push_back(sum);
    }
    const double error = 2 * chained_error(k_ + 4 * kLimit * inverse_temperature() + 16) * sum;
    auto position = [&](double target) {
      const auto at = std::upper_bound(sums.begin(), sums.end(), target) - sums.begin();
      return std::min<std::size_t>(static_cast<std::size_t>(at), k_ - 1);
    };
    const double target = draws_[row] * sum;
    return {position(target - error), position(target + error)};
  }

  std::uint32_t rows_ = 0, columns_ = 0, k_ = 0, levels_ = 0, block_ = 256;
  double temperature_ = 0.8;
  std::vector<float> logits_, draws_;
  std::vector<std::uint32_t> best_, tokens_;
};

}  // namespace

void add_workload_topk(Workloads& w) {
  w.add<TopK>("topk", "top-k sampling of logits: radix select, sort, a draw");
}

}  // namespace raddle::runtime

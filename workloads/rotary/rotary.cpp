// Host code of rotary. See README.md.
#include "rotary/turns.h"

#include "common/compare.h"
#include "common/device_array.h"
#include "common/half.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kPairsOfThread = 8;  // as in kernels.cu

class Rotary final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, tokens_, {6, 512, 8192});
    by_size(size, heads_, {4, 32, 32});
    by_size(size, kv_heads_, {2, 8, 8});
    by_size(size, head_dim_, {64, 128, 128});
  }

  void visit(FieldVisitor& v) override {
    v.field("tokens", tokens_, {1, 1u << 20}, "tokens", "rows, a block each");
    v.field("heads", heads_, {1, 256}, "heads", "heads of queries");
    v.field("kv_heads", kv_heads_, {1, 256}, "heads", "heads of keys, and of values");
    v.field("head_dim", head_dim_, {16, 1024}, "numbers", "length of a head");
    v.field("base", base_, {1, 1e9}, "", "pair i turns by base^(-2 i / head_dim) per position");
    v.field("block", block_, {32, 1024}, "threads", "threads per block");
  }

  std::vector<std::string> violations() const override {
    std::vector<std::string> all;
    if (head_dim_ % (2 * kPairsOfThread) != 0)
      all.push_back("head_dim must be a multiple of 16, is " + std::to_string(head_dim_));
    if (std::uint64_t{tokens_} * stride() > kMaxNumbers)
      all.push_back("tokens * (heads + 2 kv_heads) * head_dim must not exceed 2^30");
    return all;
  }

  void run(Device& device, std::uint64_t seed) override {
    in_ = random_halves(seed, "rotary/in", std::size_t{tokens_} * stride(), 4);
    turns_ = make_turns(tokens_, head_dim_, base_);
    make_positions(seed);
    inputs_.add(in_, turns_, positions_);

    ModuleId module = load_module(device, "rotary");
    DeviceArray<Half> rows(device, in_);
    DeviceArray<float> turns(device, turns_);
    DeviceArray<std::uint32_t> positions(device, positions_);
    device.launch(device.kernel(module, "rotary"), {tokens_}, {block_},
                  Arguments(rows.address(), turns.address(), positions.address(),
                            heads_ + kv_heads_, head_dim_, stride()));
    device.synchronize();
    out_ = rows.download();
  }

  // Two products and their sum; values stay as they are.
  std::string check() override {
    std::vector<double> expected(in_.size()), error(in_.size());
    for (std::size_t i = 0; i < in_.size(); ++i) expected[i] = to_float(in_[i]);
    for (std::uint32_t token = 0; token < tokens_; ++token) turn_row(token, expected, error);
    return first_beyond("out", expected, to_floats(out_), [&](std::size_t i) {
      return half_tolerance(expected[i], chained_error(3) * error[i]);
    });
  }

 private:
  static constexpr std::uint64_t kMaxNumbers = std::uint64_t{1} << 30;

  std::uint32_t stride() const { return (heads_ + 2 * kv_heads_) * head_dim_; }

  // Of sequences in one batch: each begins at 0, at tokens that are drawn.
  void make_positions(std::uint64_t seed) {
    Rng rng(seed, "rotary/positions");
    positions_.resize(tokens_);
    for (std::uint32_t token = 1; token < tokens_; ++token)
      positions_[token] = rng.below(tokens_) == 0 ? 0 : positions_[token - 1] + 1;
  }

  void turn_row(std::uint32_t token, std::vector<double>& row, std::vector<double>& error) const {
    const std::uint32_t pairs = head_dim_ / 2;
    const float* const turn = &turns_[std::size_t{positions_[token]} * head_dim_];
    for (std::uint32_t head = 0; head < heads_ + kv_heads_; ++head) {
      const std::size_t first = std::size_t{token} * stride() + std::size_t{head} * head_dim_;
      for (std::uint32_t pair = 0; pair < pairs; ++pair) {
        const double cosine = turn[pair], sine = turn[pairs + pair];
        const double x = row[first + pair], y = row[first + pairs + pair];
        row[first + pair] = x * cosine - y * sine;
        row[first + pairs + pair] = y * cosine + x * sine;
        error[first + pair] = std::abs(x * cosine) + std::abs(y * sine);
        error[first + pairs + pair] = std::abs(y * cosine) + std::abs(x * sine);
      }
    }
  }

  std::uint32_t tokens_ = 0, heads_ = 0, kv_heads_ = 0, head_dim_ = 0, block_ = 128;
  double base_ = 500'000;
  std::vector<Half> in_, out_;
  std::vector<float> turns_;
  std::vector<std::uint32_t> positions_;
};

}  // namespace

void add_workload_rotary(Workloads& w) {
  w.add<Rotary>("rotary", "rotary position embedding of queries and keys in half precision");
}

}  // namespace raddle::runtime

// Host code of attention. See README.md.
#include <algorithm>
#include <array>
#include <bit>

#include "attention/launch.h"
#include "common/attended.h"
#include "common/compare.h"
#include "common/draw.h"
#include "common/half.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

enum class Mode : std::uint8_t { Prefill, Decode };
constexpr std::array<std::string_view, 2> kModes = {"prefill", "decode"};
constexpr std::uint32_t kMaxSplit = 512;  // as in paged.h

class Attention final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, of_.heads, {2, 16, 32});
    by_size(size, of_.kv_heads, {1, 4, 8});
    by_size(size, of_.head_dim, {64, 128, 128});
    by_size(size, sequence_, {24, 256, 1024});
  }

  void visit(FieldVisitor& v) override {
    v.choice("mode", mode_, kModes,
             "prefill: every token of a sequence is a query; decode: the last one is, keys and "
             "values are in pages");
    v.choice("units", units_, kUnitNames,
             "prefill: fp32: products by multiply-adds; tensor: by matrix instructions, which "
             "machines have since 7.0");
    v.field("causal", causal_, "prefill: a query sees the tokens up to its own only");
    v.field("batch", batch_, {1, 1024}, "sequences", "sequences");
    v.field("heads", of_.heads, {1, 256}, "heads", "heads of queries");
    v.field("kv_heads", of_.kv_heads, {1, 256}, "heads", "heads of keys and values");
    v.field("head_dim", of_.head_dim, {64, 128}, "numbers", "length of a head, 64 or 128");
    v.field("sequence", sequence_, {1, 1u << 17}, "tokens",
            "length of each sequence; decode: of the longest, others have half of it or more");
    v.field("page", page_, {1, 1024}, "tokens", "decode: tokens of a page, a power of two");
    v.field("split", split_, {1, kMaxSplit}, "tokens", "decode: tokens of a block");
  }

  std::vector<std::string> violations() const override {
    std::vector<std::string> all;
    if (of_.head_dim != 64 && of_.head_dim != 128)
      all.push_back("head_dim must be 64 or 128, is " + std::to_string(of_.head_dim));
    if (of_.heads % of_.kv_heads != 0)
      all.push_back("heads must be a multiple of kv_heads, is " + std::to_string(of_.heads));
    if (units_ == Units::Tensor && mode_ == Mode::Decode)
      all.push_back("units=tensor needs mode=prefill");
    if (!std::has_single_bit(page_))
      all.push_back("page must be a power of two, is " + std::to_string(page_));
    if (std::uint64_t{batch_} * sequence_ * of_.query_numbers() > kMaxNumbers)
      all.push_back("batch * sequence * heads * head_dim must not exceed 2^30");
    return all;
  }

  void run(Device& device, std::uint64_t seed) override {
    seed_ = seed;
    const std::size_t tokens = std::size_t{batch_} * sequence_;
    const std::size_t queries = mode_ == Mode::Prefill ? tokens : batch_;
    query_ = random_halves(seed, "attention/query", queries * of_.query_numbers(), 4);
    key_ = random_halves(seed, "attention/key", tokens * of_.kv_numbers(), 2);
    value_ = random_halves(seed, "attention/value", tokens * of_.kv_numbers(), kValueLimit);
    make_lengths();
    inputs_.add(query_, key_, value_, lengths_);
    if (mode_ == Mode::Prefill) run_prefill(device);
    else run_decode(device);
  }

  // All of few rows; of many the first, the last and some that are drawn.
  std::string check() override {
    const std::size_t rows = query_.size() / of_.head_dim;
    if (out_.size() != query_.size()) return length_text("out", query_.size(), out_.size());
    queries_ = to_floats(query_);
    keys_ = to_floats(key_);
    values_ = to_floats(value_);
    if (rows <= kRowsChecked) {
      for (std::size_t row = 0; row < rows; ++row)
        if (auto wrong = wrong_row(row); !wrong.empty()) return wrong;
      return "";
    }
    Rng rng(seed_, "attention/check");
    for (std::size_t i = 0; i < kRowsChecked; ++i) {
      const std::size_t drawn = rng.below(static_cast<std::uint32_t>(rows));
      if (auto wrong = wrong_row(i == 0 ? 0 : i == 1 ? rows - 1 : drawn); !wrong.empty())
        return wrong;
    }
    return "";
  }

 private:
  static constexpr std::uint64_t kMaxNumbers = std::uint64_t{1} << 30;
  static constexpr double kValueLimit = 2;
  static constexpr std::size_t kRowsChecked = 512;

  void make_lengths() {
    Rng rng(seed_, "attention/lengths");
    lengths_.assign(batch_, sequence_);
    if (mode_ == Mode::Prefill) return;
    for (std::uint32_t i = 1; i < batch_; ++i)
      lengths_[i] = sequence_ - rng.below(sequence_ / 2 + 1);
  }

  void run_prefill(Device& device) {
    ModuleId module = load_module(device, "attention");
    DeviceArray<Half> query(device, query_), key(device, key_), value(device, value_);
    DeviceArray<Half> out(device, query_.size());
    launch_prefill(device, module, of_, units_,
                   {query.address(), key.address(), value.address(), out.address(),
                    of_.query_numbers(), of_.kv_numbers()},
                   batch_, sequence_, causal_);
    device.synchronize();
    out_ = out.download();
  }

  void run_decode(Device& device) {
    ModuleId module = load_module(device, "attention");
    const std::uint32_t of_sequence = blocks_for(sequence_, page_);
    Rng rng(seed_, "attention/pages");
    const std::vector<std::uint32_t> order = permutation(batch_ * of_sequence, rng);
    inputs_.add(order);
    DeviceArray<Half> query(device, query_), out(device, query_.size());
    DeviceArray<Half> key(device, paged(key_, order)), value(device, paged(value_, order));
    DeviceArray<std::uint32_t> pages(device, order), lengths(device, lengths_);
    const DecodeLaunch decode(device, of_, {split_, blocks_for(sequence_, split_)}, batch_);
    decode.launch(
        module, query.address(), of_.query_numbers(),
        {key.address(), value.address(), pages.address(), lengths.address(), of_sequence, page_},
        out.address());
    device.synchronize();
    out_ = out.download();
  }

  // Token by token to pages in the order of `order`; what no token fills is zero.
  std::vector<Half> paged(const std::vector<Half>& rows,
                          const std::vector<std::uint32_t>& order) const {
    const std::size_t row = of_.kv_numbers();
    const std::size_t of_sequence = order.size() / batch_;
    std::vector<Half> out(order.size() * page_ * row);
    for (std::size_t sequence = 0; sequence < batch_; ++sequence)
      for (std::size_t token = 0; token < sequence_; ++token) {
        const std::size_t page = order[sequence * of_sequence + token / page_];
        const Half* const from = &rows[(sequence * sequence_ + token) * row];
        std::copy(from, from + row, &out[(page * page_ + token % page_) * row]);
      }
    return out;
  }

  // Matrix instructions take weights that are rounded to half precision, the largest being 1.
  double units_error(const Attended& expected, std::size_t i, std::size_t seen) const {
    if (units_ == Units::Fp32) return 0;
    return expected.magnitudes[i] * kHalfRoundoff +
           static_cast<double>(seen) * kHalfStep * kValueLimit;
  }

  // Row: a head of a query.
  std::string wrong_row(std::size_t row) const {
    const std::size_t query = row / of_.heads, head = row % of_.heads;
    const bool whole = mode_ == Mode::Prefill;
    const std::size_t sequence = whole ? query / sequence_ : query;
    const std::size_t seen = whole && causal_ ? query % sequence_ + 1 : lengths_[sequence];
    std::vector<const float*> keys(seen), values(seen);
    for (std::size_t token = 0; token < seen; ++token) {
      const std::size_t at =
          (sequence * sequence_ + token) * of_.kv_numbers() + head / of_.group() * of_.head_dim;
      keys[token] = &keys_[at];
      values[token] = &values_[at];
    }
    const std::size_t first = row * of_.head_dim;
    const Attended expected =
        attended(&queries_[first], keys, values, of_.head_dim, double{of_.scale()});
    for (std::size_t i = 0; i < of_.head_dim; ++i) {
      const double got = to_float(out_[first + i]);
      const double allowed =
          half_tolerance(expected.values[i], expected.errors[i] + units_error(expected, i, seen));
      if (!(std::abs(got - expected.values[i]) <= allowed))
        return difference_text("out", first + i, expected.values[i], got, allowed);
    }
    return "";
  }

  Mode mode_ = Mode::Prefill;
  Units units_ = Units::Fp32;
  bool causal_ = true;
  Heads of_;
  std::uint32_t batch_ = 1, sequence_ = 0, page_ = 16, split_ = 256;
  std::uint64_t seed_ = 0;
  std::vector<Half> query_, key_, value_, out_;
  std::vector<std::uint32_t> lengths_;
  std::vector<float> queries_, keys_, values_;
};

}  // namespace

void add_workload_attention(Workloads& w) {
  w.add<Attention>("attention",
                   "attention in half precision: tiles of sequences, or a query to paged keys");
}

}  // namespace raddle::runtime

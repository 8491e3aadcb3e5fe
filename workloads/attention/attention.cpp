// Host code of attention. See README.md.
#include <array>
#include <bit>

#include "attention/launch.h"
#include "attention/sequences.h"
#include "common/draw.h"
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
    std::vector<std::string> all = form().violations();
    if (units_ == Units::Tensor && mode_ == Mode::Decode)
      all.push_back("units=tensor needs mode=prefill");
    if (!std::has_single_bit(page_))
      all.push_back("page must be a power of two, is " + std::to_string(page_));
    return all;
  }

  void run(Device& device, std::uint64_t seed) override {
    in_.make(form(), seed, "attention");
    inputs_.add(in_.query(), in_.key(), in_.value(), in_.lengths());
    if (mode_ == Mode::Prefill) run_prefill(device);
    else run_decode(device, seed);
  }

  std::string check() override { return in_.check(out_); }

 private:
  AttentionForm form() const {
    return {of_, batch_, sequence_, mode_ == Mode::Prefill, causal_, units_ == Units::Tensor};
  }

  void run_prefill(Device& device) {
    ModuleId module = load_module(device, "attention");
    DeviceArray<Half> query(device, in_.query()), key(device, in_.key()),
        value(device, in_.value());
    DeviceArray<Half> out(device, query.size());
    launch_prefill(device, module, of_, units_,
                   {query.address(), key.address(), value.address(), out.address(),
                    of_.query_numbers(), of_.kv_numbers()},
                   batch_, sequence_, causal_);
    device.synchronize();
    out_ = out.download();
  }

  void run_decode(Device& device, std::uint64_t seed) {
    ModuleId module = load_module(device, "attention");
    const std::uint32_t of_sequence = blocks_for(sequence_, page_);
    Rng rng(seed, "attention/pages");
    const std::vector<std::uint32_t> order = permutation(batch_ * of_sequence, rng);
    inputs_.add(order);
    DeviceArray<Half> query(device, in_.query()), out(device, query.size());
    DeviceArray<Half> key(device, in_.paged(in_.key(), order, page_));
    DeviceArray<Half> value(device, in_.paged(in_.value(), order, page_));
    DeviceArray<std::uint32_t> pages(device, order), lengths(device, in_.lengths());
    const DecodeLaunch decode(device, of_, {split_, blocks_for(sequence_, split_)}, batch_);
    decode.launch(
        module, query.address(), of_.query_numbers(),
        {key.address(), value.address(), pages.address(), lengths.address(), of_sequence, page_},
        out.address());
    device.synchronize();
    out_ = out.download();
  }

  Mode mode_ = Mode::Prefill;
  Units units_ = Units::Fp32;
  bool causal_ = true;
  Heads of_;
  std::uint32_t batch_ = 1, sequence_ = 0, page_ = 16, split_ = 256;
  AttentionSequences in_;
  std::vector<Half> out_;
};

}  // namespace

void add_workload_attention(Workloads& w) {
  w.add<Attention>("attention",
                   "attention in half precision: tiles of sequences, or a query to paged keys");
}

}  // namespace raddle::runtime

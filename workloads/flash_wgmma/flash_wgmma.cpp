// Host code of flash_wgmma. See README.md.
#include <algorithm>
#include <bit>

#include "attention/sequences.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kCapability = 90;  // wgmma is of no later one

/// Forms of the kernels, as in kernels.cu and tile.h.
struct FlashForm {
  std::string_view name;
  std::uint32_t head_dim;
  bool causal;
  std::uint32_t queries, keys;
  bool weights_in_registers;

  std::uint32_t threads() const { return 128 + 2 * queries; }
  std::uint32_t shared_bytes() const {
    constexpr std::uint32_t kStages = 2;
    const std::uint32_t weights = weights_in_registers ? 0 : queries * keys;
    return 2 * (queries * head_dim + 2 * kStages * keys * head_dim + weights);
  }
};
constexpr std::array<FlashForm, 4> kForms = {{
    {"flash_wgmma_64", 64, false, 192, 192, false},
    {"flash_wgmma_64_causal", 64, true, 192, 128, true},
    {"flash_wgmma_128", 128, false, 128, 176, true},
    {"flash_wgmma_128_causal", 128, true, 128, 128, true},
}};

class FlashWgmma final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    in_form_.half_weights = true;
    by_size(size, in_form_.of.heads, {1, 16, 16});
    by_size(size, in_form_.of.kv_heads, {1, 16, 16});
    by_size(size, in_form_.of.head_dim, {128, 128, 128});
    by_size(size, in_form_.batch, {1, 1, 16});
    by_size(size, in_form_.sequence, {130, 1024, 512});
  }

  void visit(FieldVisitor& v) override {
    v.field("causal", in_form_.causal, "a query sees the tokens up to its own only");
    v.field("batch", in_form_.batch, {1, 1024}, "sequences", "sequences");
    v.field("heads", in_form_.of.heads, {1, 256}, "heads", "heads of queries");
    v.field("kv_heads", in_form_.of.kv_heads, {1, 256}, "heads", "heads of keys and values");
    v.field("head_dim", in_form_.of.head_dim, {64, 128}, "numbers", "length of a head, 64 or 128");
    v.field("sequence", in_form_.sequence, {1, 1u << 17}, "tokens", "length of each sequence");
    v.field("blocks", blocks_, {0, 65535}, "blocks",
            "of the grid; each takes every such tile. 0: a block for each tile");
  }

  std::vector<std::string> violations() const override { return in_form_.violations(); }
  std::uint32_t min_capability() const override { return kCapability; }

  void run(Device& device, std::uint64_t seed) override {
    in_.make(in_form_, seed, "flash_wgmma");
    inputs_.add(in_.query(), in_.key(), in_.value());
    const Heads& of = in_form_.of;
    const FlashForm& form = *std::find_if(kForms.begin(), kForms.end(), [&](const FlashForm& f) {
      return f.head_dim == of.head_dim && f.causal == in_form_.causal;
    });
    const DeviceArray<Half> query(device, in_.query()), key(device, in_.key());
    const DeviceArray<Half> value(device, in_.value()), out(device, query.size());
    const auto map = [&](Address at, std::uint32_t numbers, std::uint32_t rows) {
      return device.tensor_map({at, in_form_.sequence, numbers, rows, in_form_.batch});
    };
    const DeviceArray<TensorMap> maps(
        device, std::vector<TensorMap>{map(query.address(), of.query_numbers(), form.queries),
                                       map(key.address(), of.kv_numbers(), form.keys),
                                       map(value.address(), of.kv_numbers(), form.keys),
                                       map(out.address(), of.query_numbers(), form.queries)});
    const std::uint32_t tiles =
        blocks_for(in_form_.sequence, form.queries) * of.heads * in_form_.batch;
    const KernelId kernel = device.kernel(load_module(device, "flash_wgmma"), form.name);
    device.launch(kernel, {blocks_ == 0 ? tiles : std::min(blocks_, tiles)}, {form.threads()},
                  Arguments(maps.address(), in_form_.sequence, of.heads, of.group(), tiles,
                            section(), of.scale()),
                  form.shared_bytes());
    device.synchronize();
    out_ = out.download();
  }

  std::string check() override { return in_.check(out_); }

 private:
  /// Heads whose keys and values fit the L2: a power of two.
  std::uint32_t section() const {
    constexpr std::uint64_t kL2Bytes = 32 << 20;
    const std::uint64_t of_head = 4ull * in_form_.sequence * in_form_.of.head_dim;
    return static_cast<std::uint32_t>(
        std::bit_floor(std::max<std::uint64_t>(kL2Bytes / of_head, 1)));
  }

  AttentionForm in_form_;
  std::uint32_t blocks_ = 132;
  AttentionSequences in_;
  std::vector<Half> out_;
};

}  // namespace

void add_workload_flash_wgmma(Workloads& w) {
  w.add<FlashWgmma>("flash_wgmma",
                    "attention by warpgroups and tensor copies, as FlashAttention-3; of Hopper");
}

}  // namespace raddle::runtime

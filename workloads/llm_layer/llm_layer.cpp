// Host code of llm_layer. See README.md.
#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "common/compare.h"
#include "common/inputs.h"
#include "llm_layer/layer.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

enum class Mode : std::uint8_t { Prefill, Decode };
constexpr std::array<std::string_view, 2> kModes = {"prefill", "decode"};

// The launches of one layer, and the arrays between them.
class LayerRun {
 public:
  LayerRun(Device& device, const LayerInputs& inputs)
      : device_(device),
        in_(inputs),
        sizes_(inputs.sizes),
        module_(load_module(device, "llm_layer")),
        x_(device, inputs.x),
        hidden_(device, inputs.x.size()),
        projected_(device, inputs.x.size()),
        rows_(device, std::size_t{sizes_.tokens()} * sizes_.row()),
        seen_(device, std::size_t{sizes_.tokens()} * sizes_.of.query_numbers()),
        gates_(device, std::size_t{sizes_.tokens()} * sizes_.intermediate * 2),
        active_(device, std::size_t{sizes_.tokens()} * sizes_.intermediate) {}

  void run() {
    const DeviceArray<Half> norm(device_, in_.norm), second_norm(device_, in_.second_norm);
    const DeviceArray<Half> last_norm(device_, in_.last_norm), qkv(device_, in_.qkv);
    const DeviceArray<Half> out(device_, in_.out), gate_up(device_, in_.gate_up);
    const DeviceArray<Half> down(device_, in_.down);
    const std::uint32_t tokens = sizes_.tokens(), width = sizes_.intermediate;
    device_.launch(
        kernel("rms_norm"), {tokens}, {norm_block()},
        Arguments(x_.address(), norm.address(), hidden_.address(), sizes_.hidden, kLayerEpsilon));
    product(hidden_, qkv, rows_, sizes_.hidden, sizes_.row());
    attend();
    product(seen_, out, projected_, sizes_.of.query_numbers(), sizes_.hidden);
    add_and_norm(second_norm);
    product(hidden_, gate_up, gates_, sizes_.hidden, 2 * width);
    constexpr std::uint32_t kBlock = 256;
    device_.launch(kernel("swiglu"), {blocks_for(width, kBlock * 8), tokens}, {kBlock},
                   Arguments(gates_.address(), active_.address(), width));
    product(active_, down, projected_, width, sizes_.hidden);
    add_and_norm(last_norm);
    device_.synchronize();
  }

  std::vector<Half> residual() const { return x_.download(); }
  std::vector<Half> normed() const { return hidden_.download(); }

 private:
  KernelId kernel(std::string_view name) { return device_.kernel(module_, name); }

  // Whole warps, eight numbers of a row for each thread where that is not too many.
  std::uint32_t norm_block() const {
    return std::clamp(blocks_for(sizes_.hidden, 8 * 32) * 32, 32u, 256u);
  }

  // Few tokens: a warp for four outputs; many: tiles.
  void product(const DeviceArray<Half>& rows, const DeviceArray<Half>& weights,
               DeviceArray<Half>& out, std::uint32_t inputs, std::uint32_t outputs) {
    constexpr std::uint32_t kTile = 64, kTiledThreads = 256,
                            kTensorThreads = 128;  // as in products.h
    constexpr std::uint32_t kFewThreads = 128, kFewOutputs = 16, kFewTokens = 4;
    const std::uint32_t tokens = sizes_.tokens();
    const Arguments arguments(rows.address(), weights.address(), out.address(), tokens, inputs,
                              outputs);
    if (!sizes_.decode) {
      const bool tensor = sizes_.units == Units::Tensor;
      device_.launch(kernel(tensor ? "llm_product_tensor" : "llm_product"),
                     {blocks_for(outputs, kTile), blocks_for(tokens, kTile)},
                     {tensor ? kTensorThreads : kTiledThreads}, arguments);
      return;
    }
    const std::uint32_t group = tokens == 1 ? 1 : kFewTokens;
    device_.launch(kernel(group == 1 ? "llm_product_1" : "llm_product_4"),
                   {blocks_for(outputs, kFewOutputs), blocks_for(tokens, group)}, {kFewThreads},
                   arguments);
  }

  void add_and_norm(const DeviceArray<Half>& weight) {
    device_.launch(kernel("rms_norm_add"), {sizes_.tokens()}, {norm_block()},
                   Arguments(projected_.address(), x_.address(), weight.address(),
                             hidden_.address(), sizes_.hidden, kLayerEpsilon));
  }

  void attend() {
    const Heads& of = sizes_.of;
    const DeviceArray<float> turns(device_, in_.turns);
    const DeviceArray<std::uint32_t> positions(device_, in_.positions);
    constexpr std::uint32_t kBlock = 128;
    device_.launch(kernel("rotary"), {sizes_.tokens()}, {kBlock},
                   Arguments(rows_.address(), turns.address(), positions.address(),
                             of.heads + of.kv_heads, of.head_dim, sizes_.row()));
    const Address keys = rows_.address() + std::uint64_t{of.query_numbers()} * sizeof(Half);
    if (sizes_.decode) {
      attend_to_pages(keys);
    } else {
      const Address values = keys + std::uint64_t{of.kv_numbers()} * sizeof(Half);
      launch_prefill(device_, module_, of, sizes_.units,
                     {rows_.address(), keys, values, seen_.address(), sizes_.row(), sizes_.row()},
                     sizes_.batch, sizes_.sequence, true);
    }
    device_.synchronize();  // before the arrays go
  }

  void attend_to_pages(Address keys) {
    const Heads& of = sizes_.of;
    const DeviceArray<Half> key_cache(device_, in_.keys), value_cache(device_, in_.values);
    const DeviceArray<std::uint32_t> pages(device_, in_.pages), lengths(device_, in_.lengths);
    const PagedCache cache{key_cache.address(), value_cache.address(),      pages.address(),
                           lengths.address(),   sizes_.pages_of_sequence(), sizes_.page};
    constexpr std::uint32_t kBlock = 128;
    device_.launch(
        kernel("llm_append"), {sizes_.batch}, {kBlock},
        Arguments(keys, sizes_.row(), cache.keys, cache.values, cache.pages, cache.lengths,
                  cache.pages_of_sequence, cache.page_shift(), of.kv_numbers()));
    const DecodeLaunch decode(
        device_, of, {sizes_.split, blocks_for(sizes_.sequence, sizes_.split)}, sizes_.batch);
    decode.launch(module_, rows_.address(), sizes_.row(), cache, seen_.address());
    device_.synchronize();  // before the arrays go
  }

  Device& device_;
  const LayerInputs& in_;
  const LayerSizes& sizes_;
  ModuleId module_;
  DeviceArray<Half> x_, hidden_, projected_, rows_, seen_, gates_, active_;
};

class LlmLayer final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, sizes_.hidden, {32, 1024, 4096});
    by_size(size, sizes_.of.heads, {1, 16, 32});
    by_size(size, sizes_.of.kv_heads, {1, 4, 8});
    by_size(size, sizes_.of.head_dim, {64, 64, 128});
    by_size(size, sizes_.intermediate, {16, 2816, 14'336});
    by_size(size, sizes_.batch, {1, 4, 4});
    by_size(size, sizes_.sequence, {12, 256, 1024});
  }

  void visit(FieldVisitor& v) override {
    v.choice("mode", mode_, kModes,
             "prefill: all tokens of each sequence; decode: the last one, those before it are in "
             "the cache");
    v.choice("units", sizes_.units, kUnitNames,
             "prefill: fp32: products by multiply-adds; tensor: by matrix instructions, which "
             "machines have since 7.0");
    v.field("batch", sizes_.batch, {1, 1024}, "sequences", "sequences");
    v.field("sequence", sizes_.sequence, {1, 1u << 17}, "tokens",
            "length of each sequence; decode: of the longest, others have half of it or more");
    v.field("hidden", sizes_.hidden, {8, 1u << 15}, "numbers", "of a token between layers");
    v.field("heads", sizes_.of.heads, {1, 256}, "heads", "heads of queries");
    v.field("kv_heads", sizes_.of.kv_heads, {1, 256}, "heads", "heads of keys and values");
    v.field("head_dim", sizes_.of.head_dim, {64, 128}, "numbers", "length of a head, 64 or 128");
    v.field("intermediate", sizes_.intermediate, {8, 1u << 17}, "numbers",
            "of a token between the gated products");
    v.field("page", sizes_.page, {1, 1024}, "tokens", "decode: tokens of a page, a power of two");
    v.field("split", sizes_.split, {1, 512}, "tokens", "decode: tokens of a block of attention");
  }

  std::vector<std::string> violations() const override {
    std::vector<std::string> all;
    if (sizes_.of.head_dim != 64 && sizes_.of.head_dim != 128)
      all.push_back("head_dim must be 64 or 128, is " + std::to_string(sizes_.of.head_dim));
    if (sizes_.of.heads % sizes_.of.kv_heads != 0)
      all.push_back("heads must be a multiple of kv_heads, is " + std::to_string(sizes_.of.heads));
    for (const auto& [name, value] :
         {std::pair("hidden", sizes_.hidden), {"intermediate", sizes_.intermediate}})
      if (value % 8 != 0)
        all.push_back(std::string(name) + " must be a multiple of 8, is " + std::to_string(value));
    if (sizes_.units == Units::Tensor && mode_ == Mode::Decode)
      all.push_back("units=tensor needs mode=prefill");
    if (!std::has_single_bit(sizes_.page))
      all.push_back("page must be a power of two, is " + std::to_string(sizes_.page));
    if (std::uint64_t{sizes_.batch} * sizes_.sequence > kMaxTokens)
      all.push_back("batch * sequence must not exceed 2^20");
    return all;
  }

  void run(Device& device, std::uint64_t seed) override {
    seed_ = seed;
    sizes_.decode = mode_ == Mode::Decode;
    layer_ = make_layer(sizes_, seed, inputs_);
    LayerRun layer(device, layer_);
    layer.run();
    residual_ = layer.residual();
    normed_ = layer.normed();
  }

  std::string check() override {
    const std::vector<std::uint32_t> tokens = tokens_checked();
    const LayerRows expected = layer_reference(layer_, tokens);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const std::size_t first = std::size_t{tokens[i]} * sizes_.hidden;
      std::string wrong = wrong_row("residual", first, expected.residual[i], residual_);
      if (wrong.empty()) wrong = wrong_row("normed", first, expected.normed[i], normed_);
      if (!wrong.empty()) return wrong;
    }
    return "";
  }

 private:
  static constexpr std::uint64_t kMaxTokens = std::uint64_t{1} << 20;
  /// Weights of a layer times tokens that are all checked; of more, so many tokens are drawn.
  static constexpr double kWorkChecked = 4e8;
  static constexpr std::uint32_t kTokensDrawn = 3;
  /// Numbers are near 1. Where a sum lies near the middle of two halves, device and reference may
  /// round it to different ones, and what follows differs by that. Chosen, not derived.
  static constexpr double kTolerance = 0.02;

  std::vector<std::uint32_t> tokens_checked() const {
    const std::uint32_t count = sizes_.tokens();
    const double weights = 1.0 * sizes_.hidden *
                           (sizes_.row() + sizes_.of.query_numbers() + 3.0 * sizes_.intermediate);
    std::vector<std::uint32_t> tokens;
    if (count <= kTokensDrawn || count * weights <= kWorkChecked) {
      tokens.resize(count);
      std::iota(tokens.begin(), tokens.end(), 0u);
      return tokens;
    }
    Rng rng(seed_, "llm_layer/check");
    for (std::uint32_t i = 0; i < kTokensDrawn; ++i) tokens.push_back(rng.below(count));
    return tokens;
  }

  static std::string wrong_row(std::string_view what, std::size_t first,
                               const std::vector<float>& expected, const std::vector<Half>& got) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double number = to_float(got.at(first + i)), right = expected[i];
      const double allowed = kTolerance * std::max(1.0, std::abs(right));
      if (!(std::abs(number - right) <= allowed))
        return difference_text(what, first + i, right, number, allowed);
    }
    return "";
  }

  Mode mode_ = Mode::Decode;
  LayerSizes sizes_;
  std::uint64_t seed_ = 0;
  LayerInputs layer_;
  std::vector<Half> residual_, normed_;
};

}  // namespace

void add_workload_llm_layer(Workloads& w) {
  w.add<LlmLayer>("llm_layer", "a layer of a language model: norm, attention, gated products");
}

}  // namespace raddle::runtime

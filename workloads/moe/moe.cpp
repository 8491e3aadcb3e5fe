// Host code of moe: routing, products grouped by expert, weighted sums. See README.md.
#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include "common/device_array.h"
#include "common/inputs.h"
#include "gemm_mma/launch.h"
#include "moe/mixture.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

// As in kernels.cu.
constexpr std::uint32_t kChunk = 256, kGateTokens = 4, kGateThreads = 128, kMaxExperts = 256;
constexpr std::uint32_t kMaxTopK = 16, kStages = 3, kCombineThreads = 128;

enum class Tile : std::uint8_t { Of64x64, Of128x128 };
constexpr std::array<std::string_view, 2> kTileNames = {"64x64", "128x128"};

class MixtureOfExperts final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, sizes_.tokens, {21, 512, 1024});
    by_size(size, sizes_.hidden, {56, 1024, 2048});
    by_size(size, sizes_.intermediate, {24, 512, 1024});
    by_size(size, sizes_.experts, {3, 8, 64});
    by_size(size, sizes_.top_k, {2, 2, 8});
    by_size(size, tile_, {Tile::Of64x64, Tile::Of128x128, Tile::Of128x128});
  }

  void visit(FieldVisitor& v) override {
    v.field("tokens", sizes_.tokens, {1, 65'535}, "tokens", "tokens of the layer");
    v.field("hidden", sizes_.hidden, {8, 16'384}, "numbers", "of a token; a multiple of 8");
    v.field("intermediate", sizes_.intermediate, {8, 16'384}, "numbers",
            "of a token within an expert; a multiple of 8");
    v.field("experts", sizes_.experts, {1, kMaxExperts}, "experts", "experts of the layer");
    v.field("top_k", sizes_.top_k, {1, kMaxTopK}, "experts", "experts of a token");
    v.field("skew", skew_, {0, 8}, "",
            "an expert's share of first choices is as 1 / rank^skew; 0: all alike");
    v.choice("tile", tile_, kTileNames, "results of a block, rows x columns");
  }

  std::vector<std::string> violations() const override {
    std::vector<std::string> all;
    for (const auto& [name, size] :
         {std::pair("hidden", sizes_.hidden), {"intermediate", sizes_.intermediate}})
      if (size % 8 != 0)
        all.push_back(std::string(name) + " must be a multiple of 8, is " + std::to_string(size));
    if (sizes_.top_k > sizes_.experts)
      all.push_back("top_k must not exceed experts = " + std::to_string(sizes_.experts) + ", is " +
                    std::to_string(sizes_.top_k));
    if (std::uint64_t{sizes_.experts} * sizes_.hidden * sizes_.intermediate > kMaxNumbers)
      all.push_back("experts * hidden * intermediate must not exceed 2^29");
    if (std::uint64_t{sizes_.choices()} * std::max(sizes_.hidden, sizes_.intermediate) >
        kMaxNumbers)
      all.push_back("tokens * top_k * hidden, and * intermediate, must not exceed 2^29");
    return all;
  }

  std::uint32_t min_capability() const override { return kMmaCapability; }

  void run(Device& device, std::uint64_t seed) override {
    in_ = make_mixture(sizes_, skew_, seed, inputs_);
    seed_ = seed;
    const ModuleId module = load_module(device, "moe");
    const OnDevice at(device, in_, chunks(), places_for_tiles());
    route(device, module, at);
    mix(device, module, at);
    device.synchronize();
    routing_ = {at.chosen.download(), at.weights.download(), at.sorted.download(),
                at.places.download()};
    out_ = at.out.download();
  }

  // The routing exactly but for the rounding of weights. Outputs of all tokens, or of some.
  std::string check() override {
    if (auto wrong = routing_difference(in_, routing_); !wrong.empty()) return wrong;
    return output_difference(in_, tokens_checked(), out_);
  }

 private:
  static constexpr std::uint64_t kMaxNumbers = std::uint64_t{1} << 29;
  /// Multiply-adds of a layer that is all checked; of a larger one, so many tokens at most.
  static constexpr double kWorkChecked = 1e8;
  static constexpr std::size_t kTokensDrawn = 16;

  struct OnDevice {
    DeviceArray<float> logits;
    DeviceArray<Half> x, gate_up, down;
    // What the kernels make of it: lists, then rows of the sorted tokens.
    DeviceArray<std::uint32_t> chosen, sorted, places, counts, tiles, used;
    DeviceArray<float> weights;
    DeviceArray<Half> activated, results, out;

    OnDevice(Device& device, const MixtureInputs& in, std::size_t chunks, std::size_t max_tiles)
        : logits(device, in.logits),
          x(device, in.x),
          gate_up(device, in.gate_up),
          down(device, in.down),
          chosen(device, in.sizes.choices()),
          sorted(device, in.sizes.choices()),
          places(device, in.sizes.choices()),
          counts(device, chunks * in.sizes.experts),
          tiles(device, 4 * max_tiles),
          used(device, 1),
          weights(device, in.sizes.choices()),
          activated(device, std::size_t{in.sizes.choices()} * in.sizes.intermediate),
          results(device, std::size_t{in.sizes.choices()} * in.sizes.hidden),
          out(device, in.x.size()) {}
  };

  std::uint32_t chunks() const { return blocks_for(sizes_.choices(), kChunk); }
  MmaTiling tiling() const {
    return {tile_ == Tile::Of64x64 ? MmaTile::Of64x64 : MmaTile::Of128x128, kStages};
  }
  /// The most tiles of rows that choices can make: an expert's last tile may have one row.
  std::uint32_t places_for_tiles() const {
    const std::uint32_t choices = sizes_.choices(), rows = tiling().rows();
    const std::uint32_t in_use = std::min(sizes_.experts, choices);
    return (choices + in_use * (rows - 1)) / rows;
  }
  /// The least of 32, 64, 128 and 256 that has room for the experts.
  std::string gate_name() const {
    std::uint32_t room = 32;
    while (room < sizes_.experts) room *= 2;
    return "moe_gate_" + std::to_string(room);
  }

  void route(Device& device, ModuleId module, const OnDevice& at) const {
    const std::uint32_t choices = sizes_.choices(), experts = sizes_.experts;
    const Address chosen = at.chosen.address(), counts = at.counts.address();
    device.launch(device.kernel(module, gate_name()), {blocks_for(sizes_.tokens, kGateTokens)},
                  {kGateThreads},
                  Arguments(at.logits.address(), chosen, at.weights.address(), sizes_.tokens,
                            experts, sizes_.top_k));
    device.launch(device.kernel(module, "moe_count"), {chunks()}, {kChunk},
                  Arguments(chosen, counts, choices, experts));
    device.launch(device.kernel(module, "moe_scan"), {1}, {kMaxExperts},
                  Arguments(counts, at.used.address(), at.tiles.address(), chunks(), experts,
                            tiling().rows()));
    device.launch(device.kernel(module, "moe_place"), {chunks()}, {kChunk},
                  Arguments(chosen, counts, at.sorted.address(), at.places.address(), choices,
                            experts, sizes_.top_k));
  }

  void mix(Device& device, ModuleId module, const OnDevice& at) const {
    const MmaTiling of = tiling();
    const std::uint32_t hidden = sizes_.hidden, intermediate = sizes_.intermediate;
    const std::string tile(kTileNames[static_cast<std::size_t>(tile_)]);
    const Address tiles = at.tiles.address(), used = at.used.address();
    const Address activated = at.activated.address(), results = at.results.address();
    device.launch(device.kernel(module, "moe_gate_up_" + tile),
                  {blocks_for(2 * intermediate, of.columns()), places_for_tiles()}, {of.threads()},
                  Arguments(at.x.address(), at.gate_up.address(), activated, at.sorted.address(),
                            tiles, used, hidden, intermediate, of.stages),
                  of.shared_bytes());
    device.launch(device.kernel(module, "moe_down_" + tile),
                  {blocks_for(hidden, of.columns()), places_for_tiles()}, {of.threads()},
                  Arguments(activated, at.down.address(), results, tiles, used, hidden,
                            intermediate, of.stages),
                  of.shared_bytes());
    const std::uint32_t threads = std::min(kCombineThreads, blocks_for(hidden, 8 * 32) * 32);
    device.launch(device.kernel(module, "moe_combine"),
                  {blocks_for(hidden, 8 * threads), sizes_.tokens}, {threads},
                  Arguments(results, at.places.address(), at.weights.address(), at.out.address(),
                            hidden, sizes_.top_k));
  }

  std::vector<std::uint32_t> tokens_checked() const {
    std::vector<std::uint32_t> all(sizes_.tokens);
    std::iota(all.begin(), all.end(), 0u);
    const double work = 3.0 * sizes_.choices() * sizes_.hidden * sizes_.intermediate;
    if (sizes_.tokens <= kTokensDrawn || work <= kWorkChecked) return all;
    Rng rng(seed_, "moe/check");
    std::set<std::uint32_t> some = {0, sizes_.tokens - 1};
    while (some.size() < kTokensDrawn) some.insert(rng.below(sizes_.tokens));
    return {some.begin(), some.end()};
  }

  MixtureSizes sizes_;
  double skew_ = 0;
  Tile tile_ = Tile::Of64x64;
  std::uint64_t seed_ = 0;
  MixtureInputs in_;
  Routing routing_;
  std::vector<Half> out_;
};

}  // namespace

void add_workload_moe(Workloads& w) {
  w.add<MixtureOfExperts>(
      "moe", "mixture of experts by tensor units, load of experts as wanted; since 8.0");
}

}  // namespace raddle::runtime

// Host code of reuse: one kernel launched again and again on one array. See README.md.
#include <algorithm>
#include <array>
#include <cmath>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/draw.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

enum class Work : std::uint8_t { Even, Skewed, Mixed };
constexpr std::array<std::string_view, 3> kWorks = {"even", "skewed", "mixed"};
constexpr std::uint32_t kMaxUpdates = 64;
constexpr std::uint32_t kThreads = 64, kRound = 8;  // as in kernels.cu

class Reuse final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    bool tiny = size == Size::Tiny;
    blocks_ = tiny ? 12 : 276;
    launches_ = tiny ? 3 : 16;
  }

  void visit(FieldVisitor& v) override {
    v.choice("work", work_, kWorks,
             "updates of a thread. even: each of its words once; skewed: 1 to 64, growing with the "
             "square of the block's number; mixed: 1 to 64, drawn, in part in ascending order");
    v.field("ascending", ascending_, {0, 100}, "%",
            "mixed: share of the blocks whose numbers of updates are in ascending order");
    v.field("blocks", blocks_, {1, 1u << 16}, "blocks", "blocks of each launch");
    v.field("launches", launches_, {1, 10'000}, "launches", "launches of the kernel");
    v.field("words", words_, {kRound, 64}, "words", "words of a thread, a multiple of 8");
  }

  std::vector<std::string> violations() const override {
    if (words_ % kRound == 0) return {};
    return {"words must be a multiple of 8, is " + std::to_string(words_)};
  }

  void run(Device& device, std::uint64_t seed) override {
    make_input(seed);
    ModuleId module = load_module(device, "reuse");
    DeviceArray<std::uint32_t> a(device, a_), updates(device, updates_);
    bool even = work_ == Work::Even;
    KernelId kernel = device.kernel(module, even ? "reuse_even" : "reuse_skewed");
    Arguments arguments(a.address());
    if (!even) arguments.add(updates.address());
    arguments.add(words_ / kRound);
    for (std::uint32_t i = 0; i < launches_; ++i)
      device.launch(kernel, {blocks_}, {kThreads}, arguments);
    device.synchronize();
    result_ = a.download();
  }

  // Exact: a word has been added to as often as its place in the round comes up, in each launch.
  std::string check() override {
    std::vector<std::uint32_t> expected = a_;
    std::size_t of_block = std::size_t{kThreads} * words_;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      auto turn = static_cast<std::uint32_t>(i % of_block / kThreads);
      std::uint32_t count = updates_[i / of_block];
      expected[i] += launches_ * (count / words_ + (turn < count % words_ ? 1 : 0));
    }
    return first_difference("a", expected, result_);
  }

 private:
  void make_input(std::uint64_t seed) {
    Rng rng(seed, "reuse/a");
    a_.resize(std::size_t{blocks_} * kThreads * words_);
    for (std::uint32_t& word : a_) word = static_cast<std::uint32_t>(rng.next());
    updates_.assign(blocks_, words_);
    Rng drawn(seed, "reuse/updates");
    if (work_ == Work::Skewed)
      for (std::uint32_t b = 0; b < blocks_; ++b) updates_[b] = skewed(b, drawn);
    if (work_ == Work::Mixed) mix(drawn);
    inputs_.add(a_, updates_);
  }

  // Grows with the square of the block's number, so that neighbours do about as much as each other
  // and contiguous shares of the grid do not; and up to 2 more or less.
  std::uint32_t skewed(std::uint32_t block, Rng& noise) const {
    double place = static_cast<double>(block) / blocks_;
    double updates = 1 + std::floor((kMaxUpdates - 1) * place * place) + noise.below(5) - 2;
    return static_cast<std::uint32_t>(std::clamp(updates, 1.0, double{kMaxUpdates}));
  }

  // Uniform in 1 to 64. Then the numbers of some blocks, drawn, are sorted among these blocks.
  void mix(Rng& drawn) {
    for (std::uint32_t& count : updates_) count = 1 + drawn.below(kMaxUpdates);
    std::vector<std::uint32_t> blocks = permutation(blocks_, drawn);
    blocks.resize(std::size_t{blocks_} * ascending_ / 100);
    std::sort(blocks.begin(), blocks.end());
    std::vector<std::uint32_t> counts;
    for (std::uint32_t block : blocks) counts.push_back(updates_[block]);
    std::sort(counts.begin(), counts.end());
    for (std::size_t i = 0; i < blocks.size(); ++i) updates_[blocks[i]] = counts[i];
  }

  Work work_ = Work::Even;
  std::uint32_t blocks_ = 0, launches_ = 0, words_ = 8, ascending_ = 50;
  std::vector<std::uint32_t> a_, updates_, result_;  // updates_: of each block's threads
};

}  // namespace

void add_workload_reuse(Workloads& w) {
  w.add<Reuse>("reuse", "one kernel again and again on one array: reuse between launches");
}

}  // namespace raddle::runtime

// Host code of join: the pairs of rows with equal keys of two sorted relations. See README.md.
#include "join/relations.h"

#include <array>

#include "common/child_launches.h"
#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {
namespace {

using namespace workloads;

constexpr std::array<std::string_view, 2> kInputNames = {"uniform", "gaussian"};
constexpr std::uint64_t kMaxPairs = std::uint64_t{1} << 28;

class Join final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    children_ = {.parent = {.block = 256}, .child_block = 32, .threshold = 32};
    by_size(size, rows_, {320, 32'768, 65'536});
    by_size(size, keys_, {5, 512, 1'024});
  }

  void visit(FieldVisitor& v) override {
    v.choice("input", input_, kInputNames,
             "keys: each as often, or those in the middle more often");
    v.field("rows", rows_, {1, 1u << 24}, "rows", "of each relation");
    v.field("keys", keys_, {1, 1u << 24}, "keys", "different keys");
    children_.visit(v, "pairs",
                    "left rows of a block with a right row's key from which on a child "
                    "writes the pairs");
  }

  std::vector<std::string> violations() const override {
    std::vector<std::string> all = children_.violations();
    if (children_.threshold < children_.child_block)
      all.push_back("threshold must be at least child_block = " +
                    std::to_string(children_.child_block) + ": children take whole blocks");
    // A twelfth of the keys has the most rows of the Gaussian input: 0.4 of a deviation.
    const std::uint64_t pairs = std::uint64_t{rows_} * rows_ / keys_ * 4;
    if (pairs > kMaxPairs)
      all.push_back("rows^2 / keys * 4 must not exceed 2^28, the pairs that fit in memory");
    return all;
  }

  void run(Device& device, std::uint64_t seed) override {
    make_input(seed);
    children_.parent.ask_for_launches(device, plan_.pairs / children_.threshold);
    DeviceArray<std::uint32_t> left(device, left_), right(device, right_);
    DeviceArray<std::uint32_t> first_part(device, plan_.first_part);
    DeviceArray<JoinPart> parts(device, plan_.parts);
    DeviceArray<std::uint32_t> out_left(device, plan_.pairs), out_right(device, plan_.pairs);
    const ModuleId module = load_module(device, "join");
    Arguments arguments(left.address(), right.address(), first_part.address(), parts.address(),
                        out_left.address(), out_right.address());
    if (children_.nested()) {
      arguments.add(children_.threshold);
      arguments.add(children_.child_block);
    }
    const std::uint32_t block = children_.parent.block;
    device.launch(device.kernel(module, children_.nested() ? "join_match" : "join_match_flat"),
                  {partitions()}, {block}, arguments, 8 * block);
    device.synchronize();
    got_left_ = out_left.download();
    got_right_ = out_right.download();
  }

  std::string check() override {
    std::vector<std::uint32_t> left, right;
    for (const JoinMatch& match : plan_.matches)
      for (std::uint32_t i = 0; i < match.count; ++i) {
        left.push_back(match.left_first + i);
        right.push_back(match.right);
      }
    const std::string found = first_difference("left", left, got_left_);
    return found.empty() ? first_difference("right", right, got_right_) : found;
  }

 private:
  // Without persistent blocks they have `block` rows each, or one less: rows are divided evenly.
  std::uint32_t partitions() const { return children_.parent.blocks(rows_); }

  void make_input(std::uint64_t seed) {
    Rng rng(seed, "join/keys");
    left_ = sorted_keys(input_, rows_, keys_, rng);
    right_ = sorted_keys(input_, rows_, keys_, rng);
    plan_ = plan_join(left_, right_, partitions(), children_.parent.block);
    inputs_.add(left_, right_);
  }

  KeyKind input_ = KeyKind::Uniform;
  std::uint32_t rows_ = 0, keys_ = 0;
  ChildLaunches children_;
  std::vector<std::uint32_t> left_, right_, got_left_, got_right_;
  JoinPlan plan_;
};

}  // namespace

void add_workload_join(Workloads& w) {
  w.add<Join>("join", "join of sorted relations; children write the pairs of a row");
}

}  // namespace raddle::runtime

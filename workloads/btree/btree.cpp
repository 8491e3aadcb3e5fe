// Host code of btree: searches in a B+ tree. See README.md.
#include <algorithm>

#include "btree/tree.h"
#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::int32_t kNone = -1;         ///< answer to a query that no key equals
constexpr std::uint32_t kGap = 8;          ///< most from a key to the next
constexpr std::uint64_t kNodes = 1 << 20;  ///< most, 2 GB

class BTreeSearch final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, keys_, {2000, 200'000, 1'000'000});
    by_size(size, queries_, {20, 2000, 10'000});
    by_size(size, fill_, {16, 128, 128});
    by_size(size, present_, {0.75, 1, 1});
  }

  void visit(FieldVisitor& v) override {
    v.field("keys", keys_, {1, 1u << 27}, "keys", "keys of the tree");
    v.field("queries", queries_, {1, 65535}, "queries", "searches, one block each");
    v.field("fill", fill_, {2, BTreeNode::kOrder}, "keys", "keys of a leaf, children of a node");
    v.field("present", present_, {0, 1}, "", "share of searches for a key of the tree");
  }

  std::vector<std::string> violations() const override {
    const std::uint64_t nodes = btree_nodes(keys_, fill_);
    if (nodes <= kNodes) return {};
    return {"keys / fill makes " + std::to_string(nodes) + " nodes, more than 2^20"};
  }

  void run(Device& device, std::uint64_t seed) override {
    make_inputs(seed);
    const BTree tree = make_btree(sorted_, fill_);

    KernelId kernel = device.kernel(load_module(device, "btree"), "btree_find");
    DeviceArray<BTreeNode> nodes(device, tree.nodes);
    DeviceArray<std::int32_t> records(device, records_), wanted(device, wanted_);
    DeviceArray<std::uint64_t> at(device, queries_), found(device, queries_);
    DeviceArray<std::int32_t> answers(device, std::vector<std::int32_t>(queries_, kNone));
    at.set_bytes(0);  // all begin at the root
    found.set_bytes(0);
    device.launch(kernel, {queries_}, {BTreeNode::kOrder},
                  Arguments(std::uint64_t{tree.height}, nodes.address(),
                            std::uint64_t{tree.nodes.size()}, records.address(), at.address(),
                            found.address(), wanted.address(), answers.address()));
    device.synchronize();
    answers_ = answers.download();
  }

  // Exact: from the sorted keys, without a tree.
  std::string check() override {
    std::vector<std::int32_t> expected;
    for (std::int32_t key : wanted_) {
      auto place = std::ranges::lower_bound(sorted_, key);
      const bool there = place != sorted_.end() && *place == key;
      expected.push_back(there ? records_[static_cast<std::size_t>(place - sorted_.begin())]
                               : kNone);
    }
    return first_difference("answers", expected, answers_);
  }

 private:
  void make_inputs(std::uint64_t seed) {
    Rng keys(seed, "btree/keys"), records(seed, "btree/records"), queries(seed, "btree/queries");
    std::int32_t key = 0;
    for (std::uint32_t i = 0; i < keys_; ++i) {
      key += static_cast<std::int32_t>(1 + keys.below(kGap));
      sorted_.push_back(key);
      records_.push_back(static_cast<std::int32_t>(records.below(1u << 30)));
    }
    for (std::uint32_t i = 0; i < queries_; ++i) {
      const bool present = queries.unit() < present_;
      wanted_.push_back(present ? sorted_[queries.below(keys_)]
                                : static_cast<std::int32_t>(
                                      queries.below(static_cast<std::uint32_t>(key) + kGap)));
    }
    for (const auto* some : {&sorted_, &records_, &wanted_}) inputs_.add(*some);
    inputs_.add(fill_);
  }

  std::uint32_t keys_ = 0, queries_ = 0, fill_ = 0;
  double present_ = 0;
  std::vector<std::int32_t> sorted_, records_, wanted_, answers_;
};

}  // namespace

void add_workload_btree(Workloads& w) {
  w.add<BTreeSearch>("btree", "search in a B+ tree: a block per query, its place in global memory");
}

}  // namespace raddle::runtime

// Host code of btree_range: ranges of keys in a B+ tree. See README.md.
#include <algorithm>

#include "btree/tree.h"
#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kGap = 8;          ///< most from a key to the next
constexpr std::uint64_t kNodes = 1 << 20;  ///< most, 2 GB

class BTreeRange final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, keys_, {2000, 200'000, 1'000'000});
    by_size(size, queries_, {10, 1200, 6000});
    by_size(size, fill_, {16, 128, 128});
    by_size(size, longest_, {100, 1000, 3000});
  }

  void visit(FieldVisitor& v) override {
    v.field("keys", keys_, {1, 1u << 27}, "keys", "keys of the tree");
    v.field("queries", queries_, {1, 65535}, "queries", "ranges, one block each");
    v.field("fill", fill_, {2, BTreeNode::kOrder}, "keys", "keys of a leaf, children of a node");
    v.field("longest", longest_, {1, 1u << 27}, "keys", "keys of a range at most");
  }

  std::vector<std::string> violations() const override {
    std::vector<std::string> all;
    if (const std::uint64_t nodes = btree_nodes(keys_, fill_); nodes > kNodes)
      all.push_back("keys / fill makes " + std::to_string(nodes) + " nodes, more than 2^20");
    if (longest_ > keys_)
      all.push_back("longest must not exceed keys = " + std::to_string(keys_) + ", is " +
                    std::to_string(longest_));
    return all;
  }

  void run(Device& device, std::uint64_t seed) override {
    make_inputs(seed);
    const BTree tree = make_btree(sorted_, fill_);
    KernelId kernel = device.kernel(load_module(device, "btree_range"), "btree_range");
    DeviceArray<BTreeNode> nodes(device, tree.nodes);
    DeviceArray<std::uint64_t> first_at(device, queries_), first_found(device, queries_);
    DeviceArray<std::uint64_t> last_at(device, queries_), last_found(device, queries_);
    DeviceArray<std::int32_t> first(device, keys_of(starts_)), last(device, keys_of(ends_));
    DeviceArray<std::int32_t> starts(device, queries_), lengths(device, queries_);
    for (auto* places : {&first_at, &first_found, &last_at, &last_found})
      places->set_bytes(0);  // all begin at the root
    starts.set_bytes(0);
    lengths.set_bytes(0);
    device.launch(kernel, {queries_}, {BTreeNode::kOrder},
                  Arguments(std::uint64_t{tree.height}, nodes.address(),
                            std::uint64_t{tree.nodes.size()}, first_at.address(),
                            first_found.address(), last_at.address(), last_found.address(),
                            first.address(), last.address(), starts.address(), lengths.address()));
    device.synchronize();
    found_starts_ = starts.download();
    found_lengths_ = lengths.download();
  }

  // Exact: a record is its key's place.
  std::string check() override {
    if (std::string wrong = first_difference("starts", starts_, found_starts_); !wrong.empty())
      return wrong;
    std::vector<std::int32_t> lengths;
    for (std::size_t i = 0; i < starts_.size(); ++i) lengths.push_back(ends_[i] - starts_[i] + 1);
    return first_difference("lengths", lengths, found_lengths_);
  }

 private:
  void make_inputs(std::uint64_t seed) {
    Rng keys(seed, "btree_range/keys"), queries(seed, "btree_range/queries");
    std::int32_t key = 0;
    for (std::uint32_t i = 0; i < keys_; ++i) {
      key += static_cast<std::int32_t>(1 + keys.below(kGap));
      sorted_.push_back(key);
    }
    for (std::uint32_t i = 0; i < queries_; ++i) {
      const std::uint32_t length = 1 + queries.below(longest_);
      const std::uint32_t start = queries.below(keys_ - length + 1);
      starts_.push_back(static_cast<std::int32_t>(start));
      ends_.push_back(static_cast<std::int32_t>(start + length - 1));
    }
    for (const auto* some : {&sorted_, &starts_, &ends_}) inputs_.add(*some);
    inputs_.add(fill_);
  }

  std::vector<std::int32_t> keys_of(const std::vector<std::int32_t>& places) const {
    std::vector<std::int32_t> out;
    for (const std::int32_t at : places) out.push_back(sorted_[static_cast<std::size_t>(at)]);
    return out;
  }

  std::uint32_t keys_ = 0, queries_ = 0, fill_ = 0, longest_ = 0;
  std::vector<std::int32_t> sorted_, starts_, ends_, found_starts_, found_lengths_;
};

}  // namespace

void add_workload_btree_range(Workloads& w) {
  w.add<BTreeRange>("btree_range", "ranges in a B+ tree: two paths down at once for each block");
}

}  // namespace raddle::runtime

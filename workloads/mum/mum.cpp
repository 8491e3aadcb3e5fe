// Host code of mum: queries matched against the suffix tree of a reference. See README.md.
#include <optional>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"
#include "mum/layout.h"
#include "mum/strings.h"
#include "mum/suffix_tree.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

std::uint32_t row_of_node(std::uint32_t node) {
  return node / (kNodesInRow * kNodeRows) * kNodeRows + node % kNodeRows;
}

std::uint32_t column_of_node(std::uint32_t node) {
  return node % (kNodesInRow * kNodeRows) / kNodeRows;
}

// Rows that hold `entries`, in whole groups.
std::size_t rows_for(std::size_t entries, std::size_t in_row, std::size_t group) {
  return (entries + in_row * group - 1) / (in_row * group) * group;
}

class Mum final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, bases_, {2'000, 100'000, 1'399'930});
    by_size(size, queries_, {96, 12'500, 50'000});
  }

  void visit(FieldVisitor& v) override {
    v.field("bases", bases_, {1, 1u << 24}, "letters", "length of the reference");
    v.field("queries", queries_, {1, 1u << 24}, "queries", "strings to look for");
    v.field("length", length_, {1, 1000}, "letters", "length of a query");
    v.field("least", minimum_, {1, 1000}, "letters", "matches shorter than this are not told");
    v.field("planted", planted_, {0, 1}, "share", "queries that are pieces of the reference");
    v.field("block", block_, {1, 1024}, "threads", "threads per block");
  }

  std::vector<std::string> violations() const override {
    std::vector<std::string> all;
    if (minimum_ > length_) all.push_back("least must not exceed length");
    if (length_ > bases_) all.push_back("length must not exceed bases");
    if (std::uint64_t{queries_} * (length_ + 2) >= 1u << 31)
      all.push_back("queries * (length + 2) must be less than 2^31");
    return all;
  }

  void run(Device& device, std::uint64_t seed) override {
    make_input(seed);
    KernelId kernel = device.kernel(load_module(device, "mum"), "mum_match");
    std::vector<std::int32_t> begins(queries_), lengths(queries_);
    for (std::uint32_t q = 0; q < queries_; ++q) {
      begins[q] = static_cast<std::int32_t>(q * strings_.stride());
      lengths[q] = static_cast<std::int32_t>(length_);
    }
    const SuffixTree& tree = tree_.emplace(strings_.reference);
    DeviceArray<char> reference(device, laid_out_text(tree));
    DeviceArray<std::uint32_t> nodes(device, laid_out_nodes(tree));
    DeviceArray<std::uint32_t> children(device, laid_out_children(tree));
    DeviceArray<char> letters(device, strings_.letters);
    DeviceArray<std::int32_t> device_begins(device, begins), device_lengths(device, lengths);
    DeviceArray<Match> matches(device, std::size_t{queries_} * starts());
    matches.set_bytes(0);
    device.launch(kernel, {blocks_for(queries_, block_)}, {block_},
                  Arguments(matches.address(), letters.address(), device_begins.address(),
                            device_lengths.address(), static_cast<std::int32_t>(queries_),
                            static_cast<std::int32_t>(minimum_), nodes.address(),
                            children.address(), reference.address()));
    device.synchronize();
    matches_ = matches.download();
  }

  // Each start by a walk of its own from the root, without suffix links. Words of a match: the
  // node, and the letters along its edge in the low half.
  std::string check() override {
    for (std::size_t i = 0; i < matches_.size(); ++i) {
      auto query = static_cast<std::uint32_t>(i / starts());
      TreePosition at = tree_->find(strings_.query(query).substr(i % starts()));
      Match expected{};
      if (at.matched >= minimum_) expected = {at.node, at.along};
      if (matches_[i].node != expected.node)
        return difference_text("match", 2 * i, expected.node, matches_[i].node);
      if (matches_[i].along != expected.along)
        return difference_text("match", 2 * i + 1, expected.along, matches_[i].along);
    }
    return "";
  }

 private:
  struct Match {
    std::uint32_t node, along;
  };

  std::uint32_t starts() const { return length_ - minimum_ + 1; }

  void make_input(std::uint64_t seed) {
    strings_ = make_query_strings(bases_, queries_, length_, planted_, seed);
    inputs_.add(std::vector<char>(strings_.reference.begin(), strings_.reference.end()),
                strings_.letters, minimum_);
  }

  static std::uint32_t place(std::uint32_t node) {
    return column_of_node(node) | row_of_node(node) << 16;
  }

  static std::size_t entry(std::uint32_t node) {
    return std::size_t{row_of_node(node)} * kNodesInRow + column_of_node(node);
  }

  static std::size_t node_words(const SuffixTree& tree) {
    return rows_for(tree.nodes().size(), kNodesInRow, kNodeRows) * kNodesInRow * kNodeWords;
  }

  static std::vector<std::uint32_t> laid_out_nodes(const SuffixTree& tree) {
    std::vector<std::uint32_t> words(node_words(tree), 0);
    for (std::uint32_t n = SuffixTree::kRoot; n < tree.nodes().size(); ++n) {
      const SuffixTree::Node& node = tree.nodes()[n];
      std::uint32_t* at = &words[entry(n) * kNodeWords];
      at[kBegin] = node.begin;
      at[kEnd] = node.end;
      at[kSentinelChild] = place(node.children[4]);
      at[kSuffix] = place(node.suffix);
    }
    return words;
  }

  static std::vector<std::uint32_t> laid_out_children(const SuffixTree& tree) {
    std::vector<std::uint32_t> words(node_words(tree), 0);
    for (std::uint32_t n = SuffixTree::kRoot; n < tree.nodes().size(); ++n)
      for (std::uint32_t letter = 0; letter < 4; ++letter)
        words[entry(n) * 4 + letter] = place(tree.nodes()[n].children[letter]);
    return words;
  }

  static std::vector<char> laid_out_text(const SuffixTree& tree) {
    const std::string& text = tree.text();
    std::vector<char> letters(rows_for(text.size(), kLettersInRow, kLetterRows) * kLettersInRow);
    constexpr std::size_t kGroup = std::size_t{kLettersInRow} * kLetterRows;
    for (std::size_t i = 0; i < text.size(); ++i) {
      std::size_t row = i / kGroup * kLetterRows + i % kLetterRows;
      letters[row * kLettersInRow + i % kGroup / kLetterRows] = text[i];
    }
    return letters;
  }

  std::uint32_t bases_ = 0, queries_ = 0, length_ = 25, minimum_ = 20, block_ = 256;
  double planted_ = 0.269;
  QueryStrings strings_;
  std::optional<SuffixTree> tree_;
  std::vector<Match> matches_;
};

}  // namespace

void add_workload_mum(Workloads& w) {
  w.add<Mum>("mum", "strings matched against a suffix tree: two fetches to a node, far apart");
}

}  // namespace raddle::runtime

#include "raddle/analysis/footprint.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>
#include <utility>

#include "raddle/analysis/figures.h"
#include "raddle/analysis/line_map.h"
#include "raddle/base/error.h"
#include "raddle/base/stable_sort.h"

namespace raddle::analysis {

namespace {

constexpr std::uint32_t kWordsOfLine = 32;  // of the op streams: a bit of a piece's mask each
constexpr std::uint32_t kWordBytes = trace::kLineBytes / kWordsOfLine;
constexpr std::uint32_t kSmallestLine = kWordBytes;
constexpr std::uint32_t kLargestLine = 4096;

bool is_global(trace::OpKind kind) {
  return kind == trace::OpKind::LoadGlobal || kind == trace::OpKind::StoreGlobal ||
         kind == trace::OpKind::AtomicGlobal || kind == trace::OpKind::ReduceGlobal;
}

/// How many of some sets hold a line.
class Holders {
 public:
  void add(std::span<const std::uint64_t> lines) {
    for (const std::uint64_t line : lines) ++*holders_.try_emplace(line).first;
  }
  std::uint64_t lines() const { return holders_.size(); }
  /// Holders of the lines of one of the sets, without itself, summed over its lines.
  std::uint64_t others_of(std::span<const std::uint64_t> lines) {
    std::uint64_t sum = 0;
    for (const std::uint64_t line : lines) sum += *holders_.find(line) - 1;
    return sum;
  }
  /// Lines of the set that at least so many hold.
  std::uint64_t held_by(std::uint32_t minimum, std::span<const std::uint64_t> lines) {
    return static_cast<std::uint64_t>(std::ranges::count_if(lines, [&](std::uint64_t line) {
      const std::uint32_t* n = holders_.find(line);
      return n != nullptr && *n >= minimum;
    }));
  }

 private:
  LineMap<std::uint32_t, std::uint64_t> holders_;
};

/// Takes as long as the sets have lines: what two of them share is not looked for, only how many
/// hold each line.
Peers each_with_the_others(std::span<const std::vector<std::uint64_t>> sets) {
  Peers out;
  if (sets.size() < 2) return out;
  Holders holders;
  for (const auto& lines : sets) holders.add(lines);
  for (const auto& own : sets) {
    const std::uint64_t shared = holders.held_by(2, own);
    out.others.add(own.size(), holders.lines() - (own.size() - shared), shared);
    out.each_other.add(sets.size() - 1, own.size(), holders.others_of(own));
  }
  return out;
}

/// Calls f(range) for each longest range of neighbours that have the same key.
template <class T, class Key, class F>
void each_group(std::span<T> items, Key key, F f) {
  for (std::size_t from = 0; from < items.size();) {
    std::size_t to = from + 1;
    while (to < items.size() && key(items[to]) == key(items[from])) ++to;
    f(items.subspan(from, to - from));
    from = to;
  }
}

}  // namespace

// --- figures ------------------------------------------------------------------------------------

void Overlap::add(std::uint64_t first, std::uint64_t second, std::uint64_t both) {
  RADDLE_ASSERT(both <= first && both <= second);
  if (second == 0) return;
  ++pairs_;
  first_ += first;
  second_ += second;
  both_ += both;
  ratios_ += static_cast<double>(both) / static_cast<double>(second);
  if (first != 0) own_shares_ += static_cast<double>(both) / static_cast<double>(first);
}

Overlap& Overlap::operator+=(const Overlap& o) {
  pairs_ += o.pairs_;
  first_ += o.first_;
  second_ += o.second_;
  both_ += o.both_;
  ratios_ += o.ratios_;
  own_shares_ += o.own_shares_;
  return *this;
}

void BlockPairs::add(std::uint64_t pairs, std::uint64_t lines, std::uint64_t both) {
  RADDLE_ASSERT(both <= pairs * lines);
  if (lines == 0) return;
  pairs_ += pairs;
  ratios_ += static_cast<double>(both) / static_cast<double>(lines);
}

BlockPairs& BlockPairs::operator+=(const BlockPairs& o) {
  pairs_ += o.pairs_;
  ratios_ += o.ratios_;
  return *this;
}

Peers& Peers::operator+=(const Peers& o) {
  others += o.others;
  each_other += o.each_other;
  return *this;
}

FamilyFootprints& FamilyFootprints::operator+=(const FamilyFootprints& o) {
  direct_parents += o.direct_parents;
  child_launches += o.child_launches;
  child_blocks += o.child_blocks;
  parent_child += o.parent_child;
  child_sibling += o.child_sibling;
  return *this;
}

ParentFootprints& ParentFootprints::operator+=(const ParentFootprints& o) {
  launches += o.launches;
  blocks += o.blocks;
  parent_parent += o.parent_parent;
  return *this;
}

void Overlap::visit(FieldVisitor& v) const {
  double ratio = this->ratio(), own_share = this->own_share();
  v.field("ratio", ratio, {}, "", "mean of lines in both sets / lines of the second");
  v.field("own_share", own_share, {}, "", "mean of lines in both sets / lines of the first");
  figure(v, "pairs", pairs_, "pairs of sets that the means are over");
  figure(v, "first_lines", first_, "lines of the first sets, summed over the pairs");
  figure(v, "second_lines", second_, "lines of the second sets");
  figure(v, "shared_lines", both_, "lines in both");
}

void BlockPairs::visit(FieldVisitor& v) const {
  double ratio = this->ratio();
  v.field("ratio", ratio, {}, "", "mean of lines in both / lines of the second");
  figure(v, "pairs", pairs_, "ordered pairs of blocks that the mean is over");
}

void Peers::visit(FieldVisitor& v) const {
  others.visit(v);
  v.enter("each_other", "the block, and each of the others alone");
  each_other.visit(v);
  v.leave();
}

void FamilyFootprints::visit(FieldVisitor& v) const {
  figure(v, "direct_parents", direct_parents, "blocks that launch");
  figure(v, "child_launches", child_launches, "launches that they make");
  figure(v, "child_blocks", child_blocks, "blocks of these launches");
  v.enter("parent_child", "a direct parent, and all its child blocks");
  parent_child.visit(v);
  v.leave();
  v.enter("child_sibling", "a child block, and all its siblings");
  child_sibling.visit(v);
  v.leave();
}

void ParentFootprints::visit(FieldVisitor& v) const {
  figure(v, "parent_launches", launches, "launches in which a block launches");
  figure(v, "parent_blocks", blocks, "their blocks, those too that launch nothing");
  v.enter("parent_parent", "a parent block, and all others of its launch");
  parent_parent.visit(v);
  v.leave();
}

void SharedFootprint::visit(FieldVisitor& v) const {
  figure(v, "line_bytes", line_bytes_, "");
  figure(v, "host_launches", host_launches_, "launches of the host");
  figure(v, "device_launches", device_launches_, "launches of kernels");
  parents_.visit(v);
  families_.visit(v);
  v.enter("kernels", "kernels that launch, by name");
  for (const auto& [name, kernel] : kernels_) {
    v.enter(name, "");
    kernel.parents.visit(v);
    v.enter("children", "what they launch, by name; siblings are those of the same kernel");
    for (const auto& [child, families] : kernel.children) {
      v.enter(child, "");
      families.visit(v);
      v.leave();
    }
    v.leave();
    v.leave();
  }
  v.leave();
}

// --- sets of lines ------------------------------------------------------------------------------

SharedFootprint::SharedFootprint(std::uint32_t line_bytes) : line_bytes_(line_bytes) {
  RADDLE_ASSERT(valid_line(line_bytes));
}

bool SharedFootprint::valid_line(std::uint32_t bytes) {
  return std::has_single_bit(bytes) && bytes >= kSmallestLine && bytes <= kLargestLine;
}

/// The words in which launches of the tree got their parameters.
void SharedFootprint::note_parameters(std::span<const Launch> launches) {
  parameters_.clear();
  for (const Launch& launch : launches) {
    if (launch.origin == nullptr || launch.origin->parameter_bytes == 0) continue;
    const Address first = launch.origin->parameters / kWordBytes;
    const Address last =
        (launch.origin->parameters + launch.origin->parameter_bytes - 1) / kWordBytes;
    for (Address word = first; word <= last; ++word) {
      const auto line = static_cast<std::uint32_t>(word / kWordsOfLine);
      *parameters_.try_emplace(line).first |= LaneMask{1} << word % kWordsOfLine;
    }
  }
}

/// Words of its line that the piece touches, without parameters.
LaneMask SharedFootprint::words_of(const std::uint32_t* transaction) {
  const LaneMask* parameters = parameters_.find(transaction[0]);
  return parameters == nullptr ? transaction[1] : transaction[1] & ~*parameters;
}

/// Lines of the records in [at, end), some of them several times.
void SharedFootprint::add_lines(const trace::KernelCode& code, const std::uint32_t* at,
                                const std::uint32_t* end, Lines& lines) {
  const std::uint32_t parts = std::max(trace::kLineBytes / line_bytes_, 1u);  // of a piece's line
  const std::uint32_t words = 32 / parts;
  const LaneMask part_mask = words == 32 ? kFullMask : (LaneMask{1} << words) - 1;
  while (at < end) {
    const trace::Record record{at[0], at[1]};
    at += trace::kRecordWords;
    const trace::OpKind kind = code.instructions[record.inst()].kind;
    if (!trace::carries_transactions(kind)) continue;
    for (unsigned p = 0; p < record.transactions(); ++p, at += trace::kTransactionWords) {
      if (!is_global(kind)) continue;
      const LaneMask touched = words_of(at);
      for (std::uint32_t part = 0; part < parts; ++part)
        if ((touched >> part * words & part_mask) != 0)
          lines.push_back(std::uint64_t{at[0]} * trace::kLineBytes / line_bytes_ + part);
    }
  }
  RADDLE_ASSERT(at == end);
}

SharedFootprint::Lines SharedFootprint::lines_of(trace::KernelStream& stream, std::uint32_t block) {
  Lines lines;
  for (unsigned warp = 0; warp < stream.shape().warps_per_block(); ++warp) {
    trace::WarpCursor cursor = stream.open(block, warp);
    do {
      add_lines(stream.code(), cursor.at, cursor.end, lines);
      cursor.at = cursor.end;
    } while (stream.refill(cursor));
  }
  stream.close(block);
  std::ranges::sort(lines);
  const auto twice = std::ranges::unique(lines);
  lines.erase(twice.begin(), twice.end());
  lines.shrink_to_fit();  // all blocks of a parent's launch are held at once
  return lines;
}

std::vector<SharedFootprint::Lines> SharedFootprint::blocks_of(trace::KernelStream& stream) {
  std::vector<Lines> out;
  const std::uint64_t blocks = stream.shape().grid.count();
  out.reserve(blocks);
  for (std::uint32_t block = 0; block < blocks; ++block) out.push_back(lines_of(stream, block));
  return out;
}

// --- families -----------------------------------------------------------------------------------

void SharedFootprint::tree(std::span<const Launch> launches) {
  RADDLE_ASSERT(!launches.empty());
  ++host_launches_;
  device_launches_ += launches.size() - 1;
  note_parameters(launches);
  std::vector<std::uint32_t> made(launches.size() - 1);
  std::iota(made.begin(), made.end(), 1u);
  const auto parent = [&](std::uint32_t i) { return launches[i].origin->parent; };
  sort_stably(made, [&](std::uint32_t i) {
    RADDLE_ASSERT(launches[i].origin != nullptr && parent(i) < i);
    return std::pair(parent(i), launches[i].origin->block);
  });
  each_group(std::span<const std::uint32_t>(made), parent,
             [&](std::span<const std::uint32_t> children) {
               parent_launch(launches, parent(children.front()), children);
             });
}

/// A launch and those that its blocks have made, in order of these blocks.
void SharedFootprint::parent_launch(std::span<const Launch> launches, std::uint32_t parent,
                                    std::span<const std::uint32_t> children) {
  trace::KernelStream& stream = *launches[parent].stream;
  const std::vector<Lines> blocks = blocks_of(stream);
  Kernel& kernel = kernels_[stream.code().name];
  const ParentFootprints here{1, blocks.size(), each_with_the_others(blocks)};
  parents_ += here;
  kernel.parents += here;
  const auto block = [&](std::uint32_t i) { return launches[i].origin->block; };
  each_group(children, block, [&](std::span<const std::uint32_t> made) {
    RADDLE_ASSERT(block(made.front()) < blocks.size());
    family(launches, blocks[block(made.front())], made, kernel);
  });
}

/// Child blocks that a direct parent has launched at once or one after another.
FamilyFootprints SharedFootprint::family_of(const Lines& parent, std::span<const Lines> children) {
  FamilyFootprints out;
  out.direct_parents = 1;
  out.child_blocks = children.size();
  Holders holders;
  for (const Lines& lines : children) holders.add(lines);
  out.parent_child.add(parent.size(), holders.lines(), holders.held_by(1, parent));
  out.child_sibling = each_with_the_others(children);
  return out;
}

/// A direct parent and the launches that it has made.
void SharedFootprint::family(std::span<const Launch> launches, const Lines& parent,
                             std::span<const std::uint32_t> children, Kernel& kernel) {
  const auto name = [&](std::uint32_t i) { return launches[i].stream->code().name; };
  std::vector<std::uint32_t> by_kernel(children.begin(), children.end());
  sort_stably(by_kernel, name);
  std::vector<Lines> all;
  each_group(std::span<const std::uint32_t>(by_kernel), name,
             [&](std::span<const std::uint32_t> same) {
               const std::size_t first = all.size();
               for (const std::uint32_t i : same)
                 std::ranges::move(blocks_of(*launches[i].stream), std::back_inserter(all));
               FamilyFootprints here = family_of(parent, std::span(all).subspan(first));
               here.child_launches = same.size();
               kernel.children[name(same.front())] += here;
               if (same.size() == by_kernel.size()) families_ += here;
             });
  if (name(by_kernel.front()) == name(by_kernel.back())) return;
  FamilyFootprints here = family_of(parent, all);
  here.child_launches = children.size();
  families_ += here;
}

}  // namespace raddle::analysis

// How much of what child blocks touch their direct parent and their siblings touch too: LaPerm
// (Wang et al., ISCA 2016), section III and figure 2. From op streams, so from executions and
// recordings alike; time plays no part.
//
// Words. A block that launches kernels is the direct parent of all blocks of these launches, its
// child blocks; they are each other's siblings. The parent blocks are all blocks of a launch in
// which some block is a direct parent. The set of a block, or of several, is the lines that its
// loads, stores and atomics of global memory touch. Left out are local memory, a thread's own, and
// the buffers in which a parent hands over parameters: which parents use the same one after another
// says when they ran and nothing about the program.
//
// Ratios. Lines that are in both of two sets / lines of the second:
//
//   parent-child   a direct parent, and all its child blocks: the paper's pc / c
//   child-sibling  a child block, and all its siblings: the paper's cos / cs
//   parent-parent  a parent block, and all other parent blocks of its launch. The paper gives one
//                  figure and no definition: this one is child-sibling's, a level higher
//
// What is told is the plain mean over the first sets, of those whose second set is not empty. The
// second set grows with the number of blocks in it, and with it the ratio shrinks; so two figures
// stand beside it that do not: the share of the first set (of its own lines), and, for siblings and
// for parents, the mean over all ordered pairs of two single blocks of a family or a launch.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "raddle/analysis/line_map.h"
#include "raddle/base/fields.h"
#include "raddle/trace/device_launch.h"
#include "raddle/trace/stream.h"

namespace raddle::analysis {

/// Two sets and what both hold, summed over pairs of sets.
class Overlap {
 public:
  /// Lines. A pair whose second set is empty has no ratio and does not count.
  void add(std::uint64_t first, std::uint64_t second, std::uint64_t both);
  Overlap& operator+=(const Overlap& o);
  std::uint64_t pairs() const { return pairs_; }
  /// Means over the pairs; 0 where there is none. A first set without lines has no share: 0.
  double ratio() const { return mean(ratios_); }
  double own_share() const { return mean(own_shares_); }
  void visit(FieldVisitor& v) const;

 private:
  double mean(double sum) const { return pairs_ == 0 ? 0 : sum / static_cast<double>(pairs_); }
  std::uint64_t pairs_ = 0, first_ = 0, second_ = 0, both_ = 0;
  double ratios_ = 0, own_shares_ = 0;
};

/// Ordered pairs of two blocks: lines in both / lines of the second, mean over the pairs.
class BlockPairs {
 public:
  /// A block that is the second of so many pairs. `both`: summed over these. A block without lines
  /// has no ratio and does not count.
  void add(std::uint64_t pairs, std::uint64_t lines, std::uint64_t both);
  BlockPairs& operator+=(const BlockPairs& o);
  std::uint64_t pairs() const { return pairs_; }
  double ratio() const { return pairs_ == 0 ? 0 : ratios_ / static_cast<double>(pairs_); }
  void visit(FieldVisitor& v) const;

 private:
  std::uint64_t pairs_ = 0;
  double ratios_ = 0;
};

/// Each of some blocks, with all the others together and with each of them alone.
struct Peers {
  Overlap others;
  BlockPairs each_other;
  Peers& operator+=(const Peers& o);
  void visit(FieldVisitor& v) const;
};

/// Direct parents with their child blocks, all or those of one kernel.
struct FamilyFootprints {
  std::uint64_t direct_parents = 0, child_launches = 0, child_blocks = 0;
  Overlap parent_child;
  Peers child_sibling;
  FamilyFootprints& operator+=(const FamilyFootprints& o);
  void visit(FieldVisitor& v) const;
};

/// Launches in which a block is a direct parent.
struct ParentFootprints {
  std::uint64_t launches = 0, blocks = 0;
  Peers parent_parent;
  ParentFootprints& operator+=(const ParentFootprints& o);
  void visit(FieldVisitor& v) const;
};

class SharedFootprint {
 public:
  /// A launch of a tree. Its streams are read once as a child's, once as a parent's.
  struct Launch {
    trace::KernelStream* stream;
    const trace::DeviceOrigin* origin;  ///< nullptr: of the host's launch
  };

  /// Precondition: valid_line(line_bytes).
  explicit SharedFootprint(std::uint32_t line_bytes);
  /// Powers of two from 4 bytes, a word, to 4096. A word of which a thread touches a byte counts.
  static bool valid_line(std::uint32_t bytes);
  /// One launch of the host with all that descend from it, by their numbers.
  void tree(std::span<const Launch> launches);
  void visit(FieldVisitor& v) const;

  const FamilyFootprints& families() const { return families_; }
  const ParentFootprints& parents() const { return parents_; }

 private:
  using Lines = std::vector<std::uint64_t>;  // distinct
  struct Kernel {
    ParentFootprints parents;
    std::map<std::string, FamilyFootprints> children;  // by kernel
  };
  void note_parameters(std::span<const Launch> launches);
  Lines lines_of(trace::KernelStream& stream, std::uint32_t block);
  void add_lines(const trace::KernelCode& code, const std::uint32_t* at, const std::uint32_t* end,
                 Lines& lines);
  LaneMask words_of(const std::uint32_t* transaction);
  std::vector<Lines> blocks_of(trace::KernelStream& stream);
  void parent_launch(std::span<const Launch> launches, std::uint32_t parent,
                     std::span<const std::uint32_t> children);
  void family(std::span<const Launch> launches, const Lines& parent,
              std::span<const std::uint32_t> children, Kernel& kernel);
  static FamilyFootprints family_of(const Lines& parent, std::span<const Lines> children);

  std::uint32_t line_bytes_;
  std::uint64_t host_launches_ = 0, device_launches_ = 0;
  FamilyFootprints families_;
  ParentFootprints parents_;
  std::map<std::string, Kernel> kernels_;  // that launch others, by name
  LineMap<LaneMask> parameters_;           // of the tree: words, by line of the op streams
};

}  // namespace raddle::analysis

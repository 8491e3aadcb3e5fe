// Which SM owns which block of a grid, and who therefore owns the blocks of a later grid that
// consume what those have produced (IKRA section 8; docs/mechanisms/ikra.md, affine dependence and
// history). Free of simulator types.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/policy/chunks.h"

namespace raddle::policy {

using Grid = std::array<std::uint32_t, 3>;

constexpr std::uint32_t blocks_of(Grid grid) { return grid[0] * grid[1] * grid[2]; }

/// Blocks in ascending order, as few pieces as can be. Taken from both ends.
class ChunkList {
 public:
  ChunkList() = default;
  explicit ChunkList(Chunk chunk) : ChunkList(std::vector{chunk}) {}
  /// In any order; none overlap.
  explicit ChunkList(std::vector<Chunk> chunks) {
    std::ranges::sort(chunks, {}, &Chunk::begin);
    for (const Chunk& c : chunks) {
      if (c.empty()) continue;
      if (!parts_.empty() && parts_.back().end == c.begin) parts_.back().end = c.end;
      else parts_.push_back(c);
    }
  }
  bool empty() const { return parts_.empty(); }
  const std::vector<Chunk>& parts() const { return parts_; }
  /// Precondition: `block` is above all others.
  void append(std::uint32_t block) {
    if (!parts_.empty() && parts_.back().end == block) ++parts_.back().end;
    else parts_.push_back({block, block + 1});
  }
  std::uint32_t take_first() {
    const std::uint32_t block = parts_.front().begin++;
    if (parts_.front().empty()) parts_.erase(parts_.begin());
    return block;
  }
  std::uint32_t take_last() {
    const std::uint32_t block = --parts_.back().end;
    if (parts_.back().empty()) parts_.pop_back();
    return block;
  }
  friend bool operator==(const ChunkList&, const ChunkList&) = default;

 private:
  std::vector<Chunk> parts_;  ///< none empty, none touching
};

/// What one SM owns: a contiguous piece as a rule, and blocks it once stole, oldest first.
struct Holding {
  ChunkList chunks;
  std::vector<std::uint32_t> queue;
};

/// A launch and its owners, by SM. Each block has one.
struct Owners {
  Grid grid{};
  std::vector<Holding> sm;
};

/// Block (x, y, z) of `kernel` consumes what block (a x + b0, a y + b1, a z + b2) of the launch
/// `distance` launches ago has produced.
struct Relation {
  std::string kernel;
  std::uint32_t distance = 1;
  std::int64_t a = 1;
  std::array<std::int64_t, 3> b{};
  friend bool operator==(const Relation&, const Relation&) = default;
};

/// Reads "KERNEL DISTANCE A BX [BY [BZ]]; ...". Throws InputError, which names what it could not
/// read: distance 1 to 64, a not 0, no number beyond 2^30.
std::vector<Relation> read_relations(std::string_view text);
/// What is wrong with such a text, for violations() of the policies that have one.
std::vector<std::string> relation_faults(std::string_view text);

inline constexpr std::string_view kRelationsDoc =
    "who consumes what others than the same block of the last launch have produced: 'KERNEL "
    "DISTANCE A BX [BY [BZ]]; ...', block (x, y, z) what (A x + BX, A y + BY, A z + BZ) of "
    "DISTANCE "
    "launches ago has";

/// The relation of a kernel, or null.
const Relation* find_relation(const std::vector<Relation>& relations, std::string_view kernel);

/// Owners of `grid`: each consumer belongs to the SM that owned its producer, to its queue if the
/// producer was in the queue. A consumer without one belongs to the SM of the consumer before it,
/// those before the first to that one's. Nothing if no block has a producer.
std::optional<Owners> follow(const Owners& producers, const Relation& relation, Grid grid);

/// Owners of the launches that ended last, as many as relations look back.
class OwnerHistory {
 public:
  explicit OwnerHistory(const std::vector<Relation>& relations) {
    for (const Relation& r : relations) maximum_ = std::max<std::size_t>(maximum_, r.distance);
  }
  /// A launch has ended; nothing: who owned its blocks was not recorded.
  void push(std::optional<Owners> owners) {
    if (maximum_ == 0) return;
    past_.push_front(std::move(owners));
    if (past_.size() > maximum_) past_.pop_back();
  }
  /// Owners of a launch by its relation; nothing if they cannot be told.
  std::optional<Owners> follow(const Relation& relation, Grid grid) const {
    if (past_.size() < relation.distance || !past_[relation.distance - 1]) return std::nullopt;
    return policy::follow(*past_[relation.distance - 1], relation, grid);
  }

 private:
  std::size_t maximum_ = 0;
  std::deque<std::optional<Owners>> past_;  ///< the last first
};

}  // namespace raddle::policy

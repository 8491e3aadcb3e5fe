// Chunks: the grid is cut into as many contiguous pieces as there are SMs, and each SM runs its own
// piece in order, so that neighbouring blocks share an L1. An SM that is done idles until the
// kernel ends. Rule: mechanisms.md 1.3 (C of IKRA). Each SM has its own scheduler, so one block per
// SM and cycle.
#include <algorithm>
#include <array>
#include <vector>

#include "raddle/policy/block/policy.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {
namespace {

/// Blocks [next, end) in linear order.
struct Piece {
  std::uint32_t next = 0, end = 0;
};

/// Piece i of n over `blocks`: the first (blocks mod n) pieces are one block longer than the
/// others.
constexpr Piece piece(std::uint32_t blocks, std::uint32_t n, std::uint32_t i) {
  const std::uint32_t size = blocks / n, longer = blocks % n;
  const std::uint32_t start = i * size + std::min(i, longer);
  return {start, start + size + (i < longer ? 1 : 0)};
}

class Chunk final : public BlockPolicy {
 public:
  using Params = NoParams;
  Chunk(const Params&, const Context& context) : sms_(context.sms) {}

  unsigned blocks_per_cycle() const override { return sms_; }

  void on_launch(const BlockLaunch& launch) override {
    ++stats_.launches;
    Grid& grid = grids_[launch.slot];
    grid.pieces.resize(sms_);
    grid.with_work = {};
    for (unsigned i = 0; i < sms_; ++i) {
      const unsigned sm = (first_sm_ + i) % sms_;
      grid.pieces[sm] = piece(launch.blocks, sms_, i);
      if (grid.pieces[sm].next != grid.pieces[sm].end) grid.with_work.set(sm);
      else ++stats_.empty_pieces;
    }
  }

  std::optional<BlockChoice> pick(const BlockView& view) override {
    Grid& grid = grids_[view.slot];
    const SmSet able = view.room & grid.with_work;
    if (!able.any()) return std::nullopt;
    const unsigned sm = able.first();
    Piece& own = grid.pieces[sm];
    const BlockChoice choice{sm, own.next++};
    if (own.next == own.end) grid.with_work.clear(sm);
    ++stats_.blocks;
    return choice;
  }

  void on_block_done(std::uint32_t sm, std::uint32_t, unsigned) override {
    first_sm_ = (sm + 1) % sms_;
  }
  void visit_statistics(FieldVisitor& v) override { stats_.visit(v); }

 private:
  struct Stats {
    std::uint64_t launches = 0, blocks = 0, empty_pieces = 0;
    void visit(FieldVisitor& v) {
      v.field("launches", launches, {}, "launches", "kernels handed out");
      v.field("blocks", blocks, {}, "blocks", "blocks handed out");
      v.field("empty_pieces", empty_pieces, {}, "SMs", "SMs without a block, summed over launches");
    }
  };
  struct Grid {
    std::vector<Piece> pieces;  ///< by SM
    SmSet with_work;            ///< SMs whose piece is not handed out yet
  };

  unsigned sms_;
  std::array<Grid, 32> grids_;  ///< by slot
  unsigned first_sm_ =
      0;  ///< gets the first piece of the next launch: after the SM that finished last
  Stats stats_;
};

}  // namespace

void add_block_chunk(Registry<BlockPolicy>& r) {
  r.add<Chunk>("chunk", "contiguous pieces of the grid, one per SM");
}

}  // namespace raddle::policy

// Block policies that deal a launch out in chunks and let each SM run its own: what chunk, reset
// and flip share. They differ in how a launch is dealt. Each SM has its own scheduler, so one block
// per SM and cycle.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "raddle/policy/block/places.h"
#include "raddle/policy/block/policy.h"
#include "raddle/policy/block_owners.h"
#include "raddle/policy/chunks.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {

struct ChunkParams {
  std::uint32_t chunks_per_sm = 1;
  void visit(FieldVisitor& v) {
    v.field("chunks_per_sm", chunks_per_sm, {1, 64}, "chunks",
            "pieces of the grid for each SM; above 1 an SM that is through takes the next");
  }
};

class ChunkScheduler : public BlockPolicy {
 public:
  ChunkScheduler(const ChunkParams& params, const Context& context)
      : sms_(context.sms), per_sm_(params.chunks_per_sm), places_(context.sms) {}

  unsigned blocks_per_cycle() const final { return sms_; }
  void on_launch(const BlockLaunch& launch) final {
    places_.on_launch(launch);
    left_[launch.slot] = launch.blocks;
    deal(launch, deals_[launch.slot]);
  }
  std::optional<BlockChoice> pick(const BlockView& view) final {
    if (left_[view.slot] == 0) return std::nullopt;
    for (SmSet free = view.free_sms; free.any(); free.clear(free.first())) {
      const unsigned sm = free.first();
      const std::optional<std::uint32_t> block = deals_[view.slot].next(sm);
      if (!block) continue;
      --left_[view.slot];
      places_.on_pick(view.slot, {sm, *block});
      return BlockChoice{sm, *block};
    }
    return std::nullopt;
  }
  void on_kernel_end(unsigned slot) final {
    places_.on_kernel_end(slot);
    ended(slot, deals_[slot]);
  }
  void visit_statistics(FieldVisitor& v) final { places_.visit(v); }

 protected:
  virtual void deal(const BlockLaunch& launch, ChunkDeal& deal) = 0;
  virtual void ended(unsigned /*slot*/, const ChunkDeal&) {}
  unsigned sms() const { return sms_; }
  unsigned per_sm() const { return per_sm_; }

 private:
  unsigned sms_, per_sm_;
  std::array<ChunkDeal, kKernelSlots> deals_;       ///< by slot
  std::array<std::uint32_t, kKernelSlots> left_{};  ///< blocks to hand out, by slot
  BlockPlaces places_;
};

struct RepeatingParams : ChunkParams {
  std::string relations;
  void visit(FieldVisitor& v) {
    ChunkParams::visit(v);
    v.field("relations", relations, kRelationsDoc);
  }
  std::vector<std::string> violations(const MachineFacts&) const {
    return relation_faults(relations);
  }
};

/// Deals the same chunks to the same SMs as long as the grid stays, or as a relation says (see
/// block_owners.h). Launches that are under way at the same time follow the one that ended last
/// before they began.
class RepeatingScheduler : public ChunkScheduler {
 public:
  using Params = RepeatingParams;
  RepeatingScheduler(const Params& params, const Context& context)
      : ChunkScheduler(params, context),
        relations_(read_relations(params.relations)),
        history_(relations_) {}

 protected:
  void deal_as_before(const BlockLaunch& launch, ChunkDeal& deal, bool descending) {
    const Grid grid{launch.grid.x, launch.grid.y, launch.grid.z};
    grids_[launch.slot] = grid;
    const Relation* relation = find_relation(relations_, launch.kernel);
    const auto owners = relation != nullptr ? history_.follow(*relation, grid) : std::nullopt;
    if (owners) {
      ChunkDeal::Record record;
      for (const Holding& sm : owners->sm) record.push_back(sm.chunks.parts());
      deal.repeat(record, descending);
    } else if (!record_.empty() && grid == grid_) {
      deal.repeat(record_, descending);
    } else {
      deal.deal(launch.blocks, sms(), per_sm(), 0, descending);
    }
  }

 private:
  void ended(unsigned slot, const ChunkDeal& deal) final {
    grid_ = grids_[slot];
    record_ = deal.record();
    if (relations_.empty()) return;
    Owners owners{grid_, {}};
    for (const std::vector<Chunk>& chunks : record_) owners.sm.push_back({ChunkList(chunks), {}});
    history_.push(std::move(owners));
  }
  std::array<Grid, kKernelSlots> grids_{};  ///< by slot
  Grid grid_{};                             ///< of the launch that ended last
  ChunkDeal::Record record_;
  std::vector<Relation> relations_;
  OwnerHistory history_;
};

}  // namespace raddle::policy

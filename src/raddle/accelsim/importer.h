// Reads a kernel's blocks: definitions in import.cpp, of what runs beside its warp and of barriers
// in import_async.cpp.
#pragma once
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/accelsim/code_table.h"
#include "raddle/accelsim/import.h"
#include "raddle/accelsim/rehearsal.h"

namespace raddle::accelsim {

class Importer {
 public:
  Importer(Text& text, const KernelHeader& header, Regions& regions, Notes& notes)
      : text_(text),
        header_(header),
        regions_(regions),
        notes_(notes),
        code_(header.format),
        launch_(std::make_shared<Launch>()) {
    launch_->shape = {header.grid, header.block, 0};
    warps_ = launch_->shape.warps_per_block();
  }
  /// Throws InputError naming file and line.
  std::shared_ptr<Launch> run();

 private:
  using Three = std::array<std::uint64_t, 3>;

  // --- lines ------------------------------------------------------------------------------------
  /// The next line that is not blank.
  bool next(std::string_view& line);
  std::string_view need(std::string_view what);
  [[noreturn]] void fail_at(std::string_view expected, std::string_view found) const;
  /// "key = number", "front x,y,z".
  std::uint64_t number(std::string_view line, std::string_view key) const;
  Three three(std::string_view line, std::string_view front) const;

  // --- blocks, warps, instructions --------------------------------------------------------------
  void block();
  std::uint32_t block_number(std::string_view line) const;
  /// The lines "cluster ..." of tracer version 6; returns the first line behind them.
  std::string_view cluster(std::string_view line);
  void warp(unsigned w);
  void instruction(std::string_view line);
  /// Appends the record of an instruction whose operands are those of `line`.
  void record(std::uint32_t at, LaneMask mask, Fields& fields);
  void memory(std::uint32_t at, LaneMask mask, Fields& fields);
  void access(std::uint32_t at, LaneMask mask);
  void put(std::uint32_t at, unsigned transactions, std::uint32_t mask) {
    const trace::Record r = trace::Record::make(at, 1, transactions, mask);
    batch_.words.push_back(r.head);
    batch_.words.push_back(r.mask);
  }
  void close_batch();
  void finish();
  void finish_local();

  // --- what runs beside its warp, and barriers (import_async.cpp) -------------------------------
  /// Of an instruction whose opcode has an effect.
  void beside(std::uint32_t at, LaneMask mask, Fields& fields);
  void barrier(std::uint32_t at, LaneMask mask, Fields& fields);
  void put_barrier(std::uint32_t at, unsigned id, trace::BarrierKind kind, unsigned warps = 0) {
    put(at, 0, id | static_cast<std::uint32_t>(kind) << 4 | warps << 8);
  }
  void inert(std::uint32_t at, LaneMask mask) { put(code_.as(at, trace::OpKind::Alu, 0), 0, mask); }
  void product(std::uint32_t at, LaneMask mask);
  void end_products(std::uint32_t at);
  void warpgroup(std::uint32_t at, LaneMask mask, std::int64_t immediate);
  void wait_for_groups(std::uint32_t at, LaneMask mask, std::int64_t immediate);
  void copy(std::uint32_t at, LaneMask mask, Fields& fields);
  void put_lines(std::uint32_t at, LaneMask lane);
  void report_bytes(std::uint32_t at, LaneMask lane, std::uint64_t bytes);
  void objects(std::uint32_t at, LaneMask mask, Fields& fields);
  /// Changes by the lanes; what they do to objects of other blocks is an event only.
  void change_objects(std::uint32_t at, LaneMask mask,
                      const std::array<std::uint64_t, kLanes>& values);
  void put_changes(std::uint32_t at, LaneMask mask, std::span<const trace::ObjectChange> changes);
  /// Whose the object at an address of shared memory is, and its number.
  std::pair<std::uint8_t, std::uint16_t> object_at(std::uint64_t address) const;
  /// One lane's, of an object; `own`: what the op stream has of the instruction.
  void change_object(BarrierEvent one, std::size_t first, LaneMask lane,
                     std::vector<trace::ObjectChange>& own);
  /// The events from `first` on are waits and get their numbers. A wait that the warp repeats at
  /// once had not ended, and is none.
  void number_waits(std::size_t first, std::vector<trace::ObjectChange>& own);
  void event(const BarrierEvent& event) {
    if (header_.format.version_6) barriers_.warps.back().push_back(event);
  }
  void keep_barriers();
  void rehearse();

  Text& text_;
  const KernelHeader& header_;
  Regions& regions_;
  Notes& notes_;
  CodeTable code_;
  std::shared_ptr<Launch> launch_;
  unsigned warps_ = 0;
  Batch batch_;
  std::uint32_t blocks_in_batch_ = 0;
  LaneMask lanes_ = kFullMask;  // that the warp has
  Addresses addresses_{};
  std::uint32_t first_local_ = std::numeric_limits<std::uint32_t>::max(), last_local_ = 0;
  // Of the warp: groups of copies that DEPBAR waits for, those that have ended last; products that
  // belong to no group yet; where among its events those of its latest wait are.
  enum class Groups : std::uint8_t { None, Copies, Bulk } groups_ = Groups::None;
  bool open_products_ = false;
  std::uint64_t markers_ = 0;  // lines that are no instructions
  struct {
    std::size_t begin = 0, end = 0;
  } latest_wait_;
  CopyLine copied_;
  std::vector<trace::Transaction> lines_;  // of a copy
  // What the block's warps do to barriers; the same of clusters, whose waits are not known yet.
  BlockBarriers barriers_;
  Three cluster_{};
  bool in_cluster_ = false;  // the trace says so
  std::map<Three, std::vector<BlockBarriers>> clusters_;
  std::vector<BlockBarriers> alone_;
};

}  // namespace raddle::accelsim

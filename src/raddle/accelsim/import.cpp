#include "raddle/accelsim/import.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <optional>
#include <utility>

#include "raddle/accelsim/importer.h"
#include "raddle/base/error.h"
#include "raddle/base/mask.h"

namespace raddle::accelsim {

namespace {

using trace::OpKind;
constexpr std::size_t kBatchWords = std::size_t{1} << 16;
constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << 24;  ///< of shared and local memory
constexpr std::uint64_t kMaxLocalBytes = 512 << 10;             ///< of a thread, as CUDA has it
constexpr std::uint64_t kMaxBlockWords = std::uint64_t{1} << 31;

constexpr std::array<std::int8_t, 256> make_hex() {
  std::array<std::int8_t, 256> out{};
  for (auto& digit : out) digit = -1;
  for (int i = 0; i < 10; ++i) out[static_cast<unsigned>('0' + i)] = static_cast<std::int8_t>(i);
  for (int i = 0; i < 6; ++i) {
    out[static_cast<unsigned>('a' + i)] = static_cast<std::int8_t>(10 + i);
    out[static_cast<unsigned>('A' + i)] = static_cast<std::int8_t>(10 + i);
  }
  return out;
}
constexpr std::array<std::int8_t, 256> kHex = make_hex();

std::string_view without_blanks(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t' || s.front() == '\r'))
    s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\r'))
    s.remove_suffix(1);
  return s;
}

}  // namespace

std::shared_ptr<Launch> Importer::run() {
  try {
    std::string_view line;
    while (next(line)) {
      if (line != "#BEGIN_TB") fail_at("'#BEGIN_TB'", line);
      block();
    }
    finish();
  } catch (const InputError& error) {
    if (!error.diagnostics().front().place.file.empty()) throw;
    text_.fail(error.what());
  }
  return std::move(launch_);
}

bool Importer::next(std::string_view& line) {
  while (text_.next(line)) {
    line = without_blanks(line);
    if (!line.empty()) return true;
  }
  return false;
}

std::string_view Importer::need(std::string_view what) {
  std::string_view line;
  if (!next(line)) text_.fail("the file ends where " + std::string(what) + " is expected");
  return line;
}

void Importer::fail_at(std::string_view expected, std::string_view found) const {
  text_.fail("expected " + std::string(expected) + ", found '" + std::string(found.substr(0, 80)) +
             "'");
}

std::uint64_t Importer::number(std::string_view line, std::string_view key) const {
  Fields fields(line);
  if (fields.word() != key || fields.word() != "=")
    fail_at("'" + std::string(key) + " = ...'", line);
  const std::int64_t n = fields.decimal("a number");
  if (n < 0 || !fields.at_end()) fail_at("'" + std::string(key) + " = NUMBER'", line);
  return static_cast<std::uint64_t>(n);
}

Importer::Three Importer::three(std::string_view line, std::string_view front) const {
  const auto fail = [&] { fail_at("'" + std::string(front) + " x,y,z'", line); };
  if (!line.starts_with(front)) fail();
  std::string text(line.substr(front.size()));
  if (std::ranges::count(text, ',') != 2) fail();
  std::ranges::replace(text, ',', ' ');
  Fields fields(text);
  Three out{};
  for (std::uint64_t& number : out) {
    const std::int64_t n = fields.decimal("a block number");
    if (n < 0) fail();
    number = static_cast<std::uint64_t>(n);
  }
  if (!fields.at_end()) fail();
  return out;
}

std::uint32_t Importer::block_number(std::string_view line) const {
  const Three at = three(line, "thread block =");
  if (at[0] >= header_.grid.x || at[1] >= header_.grid.y || at[2] >= header_.grid.z)
    fail_at("a block inside the grid", line);
  return static_cast<std::uint32_t>(at[0] + header_.grid.x * (at[1] + header_.grid.y * at[2]));
}

std::string_view Importer::cluster(std::string_view line) {
  constexpr std::string_view kRank = "cluster rank =";
  constexpr std::int64_t kMaxBlocks = 16;
  in_cluster_ = false;
  barriers_ = {};
  for (; line.starts_with("cluster "); line = need("'warp = 0'")) {
    if (line.starts_with("cluster id =")) {
      cluster_ = three(line, "cluster id =");
      in_cluster_ = true;
    } else if (line.starts_with(kRank)) {
      Fields fields(line.substr(kRank.size()));
      const std::int64_t rank = fields.decimal("a rank in the cluster");
      if (rank < 0 || rank >= kMaxBlocks || !fields.at_end())
        fail_at("'cluster rank = 0' to 15", line);
      barriers_.rank = static_cast<std::uint32_t>(rank);
    }
  }
  return line;
}

void Importer::block() {
  const std::uint32_t block = block_number(need("'thread block = x,y,z'"));
  if (!launch_->blocks.empty() && launch_->blocks.back().block == block)
    text_.fail("thread block " + std::to_string(block) + " is there twice");
  launch_->blocks.push_back(
      {block, static_cast<std::uint32_t>(launch_->blocks_in.size()), blocks_in_batch_});
  std::string_view line = need("'warp = 0'");
  line = cluster(line);
  for (unsigned w = 0; w < warps_; ++w) {
    if (number(line, "warp") != w)
      fail_at("'warp = " + std::to_string(w) + "' of " + std::to_string(warps_), line);
    warp(w);
    line = need(w + 1 < warps_ ? "the next warp" : "'#END_TB'");
  }
  if (line != "#END_TB")
    fail_at("'#END_TB' after the block's " + std::to_string(warps_) + " warps", line);
  keep_barriers();
  ++blocks_in_batch_;
  if (batch_.words.size() >= kBatchWords) close_batch();
}

void Importer::warp(unsigned w) {
  const auto threads = static_cast<unsigned>(header_.block.count()) - w * kLanes;
  lanes_ = threads < kLanes ? static_cast<LaneMask>(low_bits(threads)) : kFullMask;
  const std::uint64_t instructions = number(need("'insts = N'"), "insts");
  if (instructions == 0) text_.fail("a warp without instructions");
  groups_ = Groups::None;
  open_products_ = false;
  latest_wait_ = {};
  markers_ = 0;
  barriers_.warps.emplace_back();
  const std::size_t begin = batch_.words.size();
  std::string_view line;
  for (std::uint64_t i = 0; i < instructions; ++i) {
    if (!next(line) || line.front() == '#' || line.starts_with("warp"))
      text_.fail("the warp has " + std::to_string(i) + " instructions, not the " +
                 std::to_string(instructions) + " it announces");
    instruction(line);
    if (batch_.words.size() > kMaxBlockWords) text_.fail("a thread block of more than 8 GiB");
  }
  if (batch_.words.size() == begin) text_.fail("a warp without instructions");
  launch_->warp_instructions += instructions - markers_;
  batch_.start.push_back(static_cast<std::uint32_t>(batch_.words.size()));
}

void Importer::instruction(std::string_view line) {
  unsigned source_line = 0;
  if (header_.format.block_first || header_.format.lineinfo) {
    Fields front(line);
    if (header_.format.block_first)
      for (unsigned i = 0; i < 4; ++i) front.decimal("block and warp in front of the instruction");
    if (header_.format.lineinfo)
      source_line = static_cast<unsigned>(front.decimal("a line number"));
    line = front.rest();
  }
  const char *at = line.data(), *end = at + line.size();
  auto hex = [&](std::string_view what) {
    std::uint64_t value = 0;
    unsigned digits = 0;
    for (int digit = 0; at != end && (digit = kHex[static_cast<unsigned char>(*at)]) >= 0;
         ++at, ++digits)
      value = value << 4 | static_cast<unsigned>(digit);
    if (digits == 0 || digits > 16 || at == end || *at != ' ') fail_at(what, line);
    while (at != end && *at == ' ') ++at;
    return value;
  };
  const std::uint64_t pc = hex("an instruction that begins with its address in hexadecimal");
  const char* const digits = at;
  const std::uint64_t mask = hex("the instruction's lane mask");
  if (at - digits < 9 || digits[8] != ' ') fail_at("a lane mask of 8 digits", line);
  if ((mask & ~std::uint64_t{lanes_}) != 0)
    fail_at("only lanes of the block's " + std::to_string(header_.block.count()) + " threads",
            line);
  const std::string_view rest(at, static_cast<std::size_t>(end - at));
  const std::uint32_t index = code_.find(pc, rest, source_line);
  Fields fields(rest);
  fields.skip(code_.line(index).text.size());
  launch_->thread_instructions += static_cast<unsigned>(std::popcount(mask));
  ++code_.executed(index);
  record(index, static_cast<LaneMask>(mask), fields);
}

void Importer::record(std::uint32_t at, LaneMask mask, Fields& fields) {
  const StaticLine& line = code_.line(at);
  if (line.addresses_follow) read_addresses(fields, mask, addresses_);
  if (line.effect != Effect::None) return beside(at, mask, fields);
  if (line.has_addresses) return memory(at, mask, fields);
  if (line.inst.kind == OpKind::Barrier) return barrier(at, mask, fields);
  const OpKind kind = line.inst.kind;
  const Tail tail = read_tail(fields, header_.format.version_6);
  if (kind == OpKind::Sleep) {
    const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(0, tail.first));
    const auto log2 = static_cast<int>(ns <= 1 ? 0 : std::bit_width(ns - 1));
    return put(at, static_cast<unsigned>(std::min(log2, 20)), mask);
  }
  put(at, kind == OpKind::LoadConst && mask != 0 ? 1 : 0, mask);
}

// Lanes that mean different memories make one record each, as in exec.
void Importer::memory(std::uint32_t at, LaneMask mask, Fields& fields) {
  read_tail(fields, header_.format.version_6);
  if (code_.line(at).space != Space::Generic) return access(at, mask & code_.line(at).lanes);
  // As Accel-Sim has it; what is not known at all rather means global memory.
  const bool all_shared = header_.shared_base == 0 && code_.line(at).opcode != nullptr;
  LaneMask shared = 0, local = 0;
  auto in_window = [](std::uint64_t address, std::uint64_t base) {
    return base != 0 && address - base < kWindowBytes;
  };
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    const std::uint64_t address = addresses_[lane];
    if (in_window(address, header_.local_base)) local |= m & (0 - m);
    else if (in_window(address, header_.shared_base) || all_shared) shared |= m & (0 - m);
  }
  const LaneMask global = mask & ~shared & ~local;
  if (shared != 0) access(code_.in_space(at, Space::Shared), shared);
  if (local != 0) access(code_.in_space(at, Space::Local), local);
  if (global != 0 || mask == 0) access(at, global);
}

void Importer::access(std::uint32_t at, LaneMask mask) {
  const StaticLine& line = code_.line(at);
  const trace::OpKind kind = line.inst.kind;
  const unsigned bytes = line.bytes;
  if (!trace::carries_transactions(kind)) {
    const unsigned n = kind == OpKind::LoadConst      ? distinct(addresses_, mask)
                       : kind == OpKind::AtomicShared ? atomic_passes(addresses_, mask, bytes)
                                                      : bank_passes(addresses_, mask, bytes);
    return put(at, n, mask);
  }
  const std::size_t head = batch_.words.size();
  put(at, 0, mask);
  unsigned n = 0;
  if (kind == OpKind::LoadLocal || kind == OpKind::StoreLocal) {
    for (LaneMask rest = mask; rest != 0; rest &= rest - 1) {
      std::uint64_t& address = addresses_[static_cast<unsigned>(std::countr_zero(rest))];
      if (address - header_.local_base < kWindowBytes) address -= header_.local_base;
      if (address >= kWindowBytes)
        text_.fail("a local address beyond the window of 16 MiB that a thread has");
    }
    n = local_transactions(addresses_, mask, bytes, batch_.words);
    for (std::size_t i = head + 2; i < batch_.words.size(); i += trace::kTransactionWords) {
      first_local_ = std::min(first_local_, batch_.words[i]);
      last_local_ = std::max(last_local_, batch_.words[i]);
    }
  } else {
    for (LaneMask rest = mask; rest != 0; rest &= rest - 1) {
      std::uint64_t& address = addresses_[static_cast<unsigned>(std::countr_zero(rest))];
      address = regions_.map(address);
    }
    n = global_transactions(addresses_, mask, bytes, batch_.words);
  }
  batch_.words[head] = trace::Record::make(at, 1, n, mask).head;
}

void Importer::close_batch() {
  if (blocks_in_batch_ == 0) return;
  launch_->store.put(batch_);
  launch_->blocks_in.push_back(std::exchange(blocks_in_batch_, 0));
  batch_ = {};
}

void Importer::finish_local() {
  if (first_local_ > last_local_) return;
  const std::uint64_t bytes = (std::uint64_t{last_local_} - first_local_ + 1) * 4;
  if (bytes > kMaxLocalBytes)
    text_.fail("local addresses " + std::to_string(bytes) +
               " bytes apart; a thread has at most 524288 bytes of local memory");
  launch_->local_first_line = first_local_;
}

void Importer::finish() {
  close_batch();
  std::vector<BlockPlace>& blocks = launch_->blocks;
  const std::uint64_t expected = header_.grid.count();
  if (!std::ranges::is_sorted(blocks, {}, &BlockPlace::block))
    std::ranges::sort(blocks, {}, &BlockPlace::block);
  const auto twice = std::ranges::adjacent_find(blocks, {}, &BlockPlace::block);
  if (twice != blocks.end())
    text_.fail("thread block " + std::to_string(twice->block) + " is there twice");
  if (blocks.size() != expected)
    text_.fail("the file ends after " + std::to_string(blocks.size()) + " of the grid's " +
               std::to_string(expected) + " thread blocks");
  finish_local();
  rehearse();
  auto code = std::make_shared<trace::KernelCode>(code_.finish(launch_->final_index));
  code->name = header_.name;
  code->file = text_.path();
  code->registers_per_thread = header_.registers;
  code->static_shared_bytes = header_.shared_bytes;
  if (first_local_ <= last_local_)
    code->local_bytes_per_thread = (last_local_ - first_local_ + 1) * 4;
  launch_->code = std::move(code);
  for (std::uint32_t i = 0; i < code_.size(); ++i) {
    const StaticLine& line = code_.line(i);
    if (code_.executed(i) == 0) continue;
    if (line.opcode == nullptr) notes_.unknown[line.mnemonic] += code_.executed(i);
    else if (line.effect == Effect::Untimed)
      notes_.without_effect[line.mnemonic] += code_.executed(i);
    else if (line.opcode->space != Space::None && line.opcode->space != Space::Const &&
             line.space == Space::None)
      notes_.without_addresses[line.mnemonic] += code_.executed(i);
  }
}

std::shared_ptr<Launch> import_launch(Text& text, const KernelHeader& header, Regions& regions,
                                      Notes& notes) {
  return Importer(text, header, regions, notes).run();
}

}  // namespace raddle::accelsim

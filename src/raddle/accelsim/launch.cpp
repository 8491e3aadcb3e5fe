#include "raddle/accelsim/launch.h"

#include <zstd.h>

#include <cstring>

#include "raddle/base/error.h"

namespace raddle::accelsim {

namespace {

using trace::Record;
constexpr int kCompressionLevel = 1;
constexpr std::uint64_t kMaxInMemory = std::uint64_t{1} << 20;

bool may_share_a_record(const trace::StaticInst& inst) {
  return inst.kind == trace::OpKind::Alu || inst.kind == trace::OpKind::Branch;
}

/// A wait whose value is a number of `waits`.
bool is_wait(const trace::StaticInst& inst) {
  return inst.kind == trace::OpKind::BarrierObject && inst.copy == trace::CopyKind::None &&
         inst.bytes == static_cast<std::uint16_t>(trace::ObjectAction::Wait);
}

trace::Transaction known_wait(const std::uint32_t* words, const std::vector<BarrierWait>& waits) {
  auto change = trace::ObjectChange::of(words);
  const BarrierWait& wait = waits.at(change.value);
  change.value = wait.value;
  change.arrivals = wait.brought ? trace::ObjectChange::kBrought : 0;
  return change.packed();
}

}  // namespace

std::uint32_t BatchStore::put(const Batch& batch) {
  std::vector<std::uint32_t> raw(batch.start);
  raw.insert(raw.end(), batch.words.begin(), batch.words.end());
  const std::size_t bytes = raw.size() * sizeof raw[0];
  std::string packed(ZSTD_compressBound(bytes), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), raw.data(), bytes, kCompressionLevel));
  Entry entry;
  entry.words = batch.words.size();
  entry.starts = batch.start.size();
  packed_bytes_ += packed.size();
  if (packed_bytes_ <= kMaxInMemory) entry.packed = std::move(packed);
  else entry.place = spill_.write(packed.data(), packed.size());
  entries_.push_back(std::move(entry));
  return static_cast<std::uint32_t>(entries_.size() - 1);
}

Batch BatchStore::get(std::uint32_t number) const {
  RADDLE_ASSERT(number < entries_.size());
  const Entry& entry = entries_[number];
  std::string read(entry.place.bytes, '\0');
  if (entry.packed.empty()) spill_.read(entry.place, read.data());
  const std::string& packed = entry.packed.empty() ? read : entry.packed;
  std::vector<std::uint32_t> raw(entry.starts + entry.words);
  const std::size_t bytes = raw.size() * sizeof raw[0];
  const std::size_t unpacked = ZSTD_decompress(raw.data(), bytes, packed.data(), packed.size());
  RADDLE_ASSERT(unpacked == bytes);  // it is what put() has packed
  const auto words = raw.begin() + static_cast<std::ptrdiff_t>(entry.starts);
  return {{words, raw.end()}, {raw.begin(), words}};
}

// Instructions get the numbers of the whole kernel, in order of address, so that straight runs
// share records as in recorded streams.
Batch LaunchStream::finished(Batch raw) const {
  const std::vector<trace::StaticInst>& code = launch_->code->instructions;
  Batch out;
  out.words.reserve(raw.words.size());
  for (std::size_t warp = 0; warp + 1 < raw.start.size(); ++warp) {
    std::size_t run = ~std::size_t{0};  // where the record is to which instructions may be added
    for (std::size_t at = raw.start[warp]; at < raw.start[warp + 1];) {
      const Record from{raw.words[at], raw.words[at + 1]};
      RADDLE_ASSERT(from.inst() < launch_->final_index.size());
      const std::uint32_t index = launch_->final_index[from.inst()];
      const trace::StaticInst& inst = code[index];
      at += trace::kRecordWords;
      if (may_share_a_record(inst)) {
        if (run != ~std::size_t{0}) {
          const Record last{out.words[run], out.words[run + 1]};
          if (last.mask == from.mask && last.inst() + last.count() == index &&
              last.count() < trace::kMaxRun) {
            out.words[run] = Record::make(last.inst(), last.count() + 1, 0, last.mask).head;
            continue;
          }
        }
        run = out.words.size();
      } else {
        run = ~std::size_t{0};
      }
      out.words.push_back(Record::make(index, 1, from.transactions(), from.mask).head);
      out.words.push_back(from.mask);
      if (!trace::carries_transactions(inst.kind)) continue;
      const bool local =
          inst.kind == trace::OpKind::LoadLocal || inst.kind == trace::OpKind::StoreLocal;
      const bool wait = is_wait(inst);
      for (unsigned i = 0; i < from.transactions(); ++i, at += trace::kTransactionWords) {
        trace::Transaction transaction{raw.words[at], raw.words[at + 1], raw.words[at + 2]};
        if (local) transaction.line -= launch_->local_first_line;
        if (wait) transaction = known_wait(&raw.words[at], launch_->waits);
        out.words.insert(out.words.end(), {transaction.line, transaction.words, transaction.lanes});
      }
    }
    out.start.push_back(static_cast<std::uint32_t>(out.words.size()));
  }
  return out;
}

const LaunchStream::Loaded& LaunchStream::load(std::uint32_t number) {
  Loaded& loaded = loaded_[number];
  if (loaded.left == 0) loaded = {finished(launch_->store.get(number)), launch_->blocks_in[number]};
  return loaded;
}

trace::WarpCursor LaunchStream::open(std::uint32_t block, unsigned warp) {
  const std::lock_guard lock(mutex_);
  const BlockPlace& place = launch_->blocks[block];
  const Batch& batch = load(place.batch).batch;
  const std::size_t i = std::size_t{place.index} * shape().warps_per_block() + warp;
  RADDLE_ASSERT(i + 1 < batch.start.size());
  return {batch.words.data() + batch.start[i], batch.words.data() + batch.start[i + 1], nullptr};
}

void LaunchStream::close(std::uint32_t block) {
  const std::lock_guard lock(mutex_);
  const auto found = loaded_.find(launch_->blocks[block].batch);
  RADDLE_ASSERT(found != loaded_.end() && found->second.left > 0);
  if (--found->second.left == 0) loaded_.erase(found);
}

}  // namespace raddle::accelsim

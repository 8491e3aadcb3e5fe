#include "raddle/analysis/recorder.h"

#include <algorithm>

#include "raddle/base/error.h"

namespace raddle::analysis {

namespace {
Record mark(Record::Kind kind, std::uint64_t wide = 0) {
  Record r{};
  r.code = static_cast<unsigned>(kind) & 7;
  r.line = static_cast<std::uint32_t>(wide);
  r.lanes = static_cast<std::uint32_t>(wide >> 32);
  return r;
}
}  // namespace

void Recorder::put(Cycle at, Record r) {
  if (at - last_ > kMaxSince) {
    stream_.push(mark(Record::Kind::Gap, at - last_));
    last_ = at;
  }
  r.since = static_cast<std::uint32_t>(at - last_) & kMaxSince;
  last_ = at;
  stream_.push(r);
}

void Recorder::access(const policy::L1Access& e) {
  if (e.outcome == policy::L1Outcome::Refused) return;
  RADDLE_ASSERT(e.inst < 1u << 24 && e.warp < 64);
  Record r{};
  r.line = e.line;
  r.lanes = e.lanes;
  r.inst = e.inst & 0xffffff;
  r.kernel = e.kernel;
  r.warp = e.warp & 63u;
  r.local = e.local;
  r.bypass = e.bypass;
  const bool load = e.kind == policy::L1Kind::Load;
  r.sectors = load ? e.sectors : e.keeps;
  const auto coming = find_coming(e.line);
  if (load && e.outcome == policy::L1Outcome::Miss) {
    if (coming == coming_.end()) coming_.push_back({e.line, e.sectors});
    else coming->sectors |= e.sectors;
  }
  r.coming = e.kind == policy::L1Kind::Store && coming != coming_.end();
  r.code = static_cast<unsigned>(load                              ? Record::Kind::Load
                                 : e.kind == policy::L1Kind::Store ? Record::Kind::Store
                                                                   : Record::Kind::Atomic) &
           7;
  put(e.at, r);
}

std::vector<Recorder::Coming>::iterator Recorder::find_coming(std::uint32_t line) {
  return std::ranges::find(coming_, line, &Coming::line);
}

void Recorder::filled(const policy::L1Fill& e) {
  const auto at = find_coming(e.line);
  if (at == coming_.end()) return;  // a store's fetch, or one that began before the recording
  at->sectors = static_cast<std::uint8_t>(at->sectors & ~e.sectors);
  if (at->sectors == 0) coming_.erase(at);
}

void Recorder::flushed(Cycle at) { put(at, mark(Record::Kind::Flush)); }

void Recorder::resized(Cycle at, unsigned sets, unsigned ways) {
  put(at, mark(Record::Kind::Resize, sets | std::uint64_t{ways} << 32));
}

void Recorder::warp_started(const policy::WarpStart& e) {
  if (launch_[e.kernel] != e.launch + 1) {
    launch_[e.kernel] = e.launch + 1;
    Record kernel = mark(Record::Kind::KernelStart, e.launch);
    kernel.kernel = e.kernel;
    put(e.at, kernel);
  }
  Record r = mark(Record::Kind::WarpStart);
  r.line = e.index;
  r.lanes = e.block;
  r.kernel = e.kernel;
  r.warp = e.warp & 63u;
  put(e.at, r);
}

}  // namespace raddle::analysis

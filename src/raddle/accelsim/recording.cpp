#include "raddle/accelsim/recording.h"

#include <ctime>
#include <map>
#include <utility>
#include <vector>

#include "raddle/accelsim/import.h"
#include "raddle/accelsim/kernels_list.h"
#include "raddle/base/error.h"

namespace raddle::accelsim {

using Json = nlohmann::ordered_json;

namespace {

/// Of this thread: what other users of the host do does not count.
double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

bool same(const trace::StaticInst& a, const trace::StaticInst& b) {
  return a.kind == b.kind && a.op_class == b.op_class && a.bytes == b.bytes &&
         a.bypass_l1 == b.bypass_l1 && a.reads == b.reads && a.writes == b.writes &&
         a.line == b.line && a.opcode == b.opcode && a.alias_of == b.alias_of;
}

bool same(const trace::KernelCode& a, const trace::KernelCode& b) {
  if (a.registers_per_thread != b.registers_per_thread ||
      a.static_shared_bytes != b.static_shared_bytes ||
      a.local_bytes_per_thread != b.local_bytes_per_thread || a.opcode_names != b.opcode_names ||
      a.instructions.size() != b.instructions.size())
    return false;
  for (std::size_t i = 0; i < a.instructions.size(); ++i)
    if (!same(a.instructions[i], b.instructions[i])) return false;
  return true;
}

}  // namespace

struct TraceRecording::Impl {
  struct Kernel {
    std::string file;
    Json operations;
  };
  static constexpr std::size_t kNone = ~std::size_t{0};

  Json header, trailer;
  std::vector<Kernel> kernels;
  Json operations = Json::array();  // after the last kernel
  Regions regions;
  Notes notes;
  std::map<std::uint64_t, std::uint32_t> streams;  // number by CUDA's id
  /// Replays know a kernel by where its code is, so codes stay; launches of a kernel share theirs.
  std::multimap<std::string, std::shared_ptr<const trace::KernelCode>> codes;
  std::size_t current = kNone;
  trace::LaunchHeader launch;
  std::shared_ptr<const Launch> imported;
  std::uint64_t hash = 0, bytes = 0, warp_instructions = 0, copies = 0, copied_bytes = 0;
  double seconds = 0;

  explicit Impl(const std::string& path) {
    Json since = Json::array();
    for (const Command& command : read_kernels_list(path)) {
      if (command.kernel_file.empty()) {
        // cudaMemcpy: the host waits until the device is idle. What it fills is not modelled.
        const Json wait = {"synchronize"};
        if (since.empty() || since.back() != wait) since.push_back(wait);
        ++copies;
        copied_bytes += command.bytes;
        hash = hash * 0x9e3779b97f4a7c15ull + command.address + command.bytes;
        continue;
      }
      Text text(command.kernel_file);
      read_header(text);
      kernels.push_back({command.kernel_file, std::exchange(since, Json::array())});
    }
    operations = std::move(since);
    header = {{"workload", path},
              {"parameters",
               {{"kernels", kernels.size()}, {"copies", copies}, {"copied_bytes", copied_bytes}}},
              {"seed", 1}};
  }

  std::uint32_t stream_of(std::uint64_t id) {
    // 0 and 1 (cudaStreamLegacy) are the default stream.
    if (id <= 1) return 0;
    return streams.try_emplace(id, static_cast<std::uint32_t>(streams.size() + 1)).first->second;
  }

  void import(std::size_t i) {
    const double start = processor_seconds();
    Text text(kernels.at(i).file);
    const KernelHeader kernel = read_header(text);
    imported.reset();
    std::shared_ptr<Launch> fresh = import_launch(text, kernel, regions, notes);
    for (auto [at, end] = codes.equal_range(kernel.name); at != end; ++at)
      if (same(*at->second, *fresh->code)) fresh->code = at->second;
    bool known = false;
    for (auto [at, end] = codes.equal_range(kernel.name); at != end; ++at)
      known = known || at->second == fresh->code;
    if (!known) codes.emplace(kernel.name, fresh->code);
    launch = {kernel.name,
              i,
              stream_of(kernel.cuda_stream),
              fresh->warp_instructions,
              fresh->thread_instructions,
              kernels[i].operations};
    imported = std::move(fresh);
    current = i;
    hash = hash * 0x9e3779b97f4a7c15ull + text.hash();
    bytes += text.bytes();
    warp_instructions += imported->warp_instructions;
    seconds += processor_seconds() - start;
    if (i + 1 == kernels.size()) finish();
  }

  void finish() {
    Json import = {{"unknown_opcodes", Json(notes.unknown)},
                   {"without_addresses", Json(notes.without_addresses)},
                   {"without_effect", Json(notes.without_effect)},
                   {"unended_waits", notes.unended_waits},
                   {"rules", Json(notes.rules)}};
    trailer = {
        {"input_hash", hash},
        {"verdict", "unchecked"},
        {"difference", ""},
        {"operations", operations},
        {"import", std::move(import)},
        {"import_cost",
         {{"seconds", seconds}, {"bytes", bytes}, {"warp_instructions", warp_instructions}}}};
  }
};

TraceRecording::TraceRecording(const std::string& path) : impl_(std::make_unique<Impl>(path)) {}
TraceRecording::~TraceRecording() = default;
const Json& TraceRecording::header() const { return impl_->header; }
const Json& TraceRecording::trailer() const { return impl_->trailer; }
std::size_t TraceRecording::launches() const { return impl_->kernels.size(); }

const trace::LaunchHeader& TraceRecording::launch(std::size_t i) const {
  if (i != impl_->current) impl_->import(i);
  return impl_->launch;
}

std::unique_ptr<trace::KernelStream> TraceRecording::open(std::size_t i) const {
  launch(i);
  RADDLE_ASSERT(impl_->current == i && impl_->imported != nullptr);
  return std::make_unique<LaunchStream>(impl_->imported);
}

}  // namespace raddle::accelsim

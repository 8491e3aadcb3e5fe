#include "raddle/sim/run/parts.h"

#include <sys/resource.h>

#include <algorithm>

#include "raddle/base/error.h"
#include "raddle/base/json.h"
#include "raddle/sim/run/recorder.h"

namespace raddle::sim {

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

namespace {
std::uint64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

/// What the workload says of its result.
void judge(Result& result, runtime::Workload& workload, const std::string& difference) {
  result.input_hash = workload.input_hash();
  result.difference = difference;
  result.verdict = !workload.checked()  ? Result::Verdict::Unchecked
                   : difference.empty() ? Result::Verdict::Correct
                                        : Result::Verdict::Wrong;
}
}  // namespace

void run_and_judge(runtime::Workload& workload, runtime::SimulatedDevice& device,
                   std::uint64_t seed, Result& verdict) {
  workload.run(device, seed);
  device.synchronize();
  judge(verdict, workload, workload.checked() ? workload.check() : "");
  verdict.host.functional_seconds = device.functional_seconds();
}

void fill_verdict(Result& result, const nlohmann::ordered_json& trailer) {
  result.input_hash = trailer.at("input_hash");
  result.difference = trailer.at("difference");
  const std::string verdict = trailer.at("verdict");
  result.verdict =
      static_cast<Result::Verdict>(std::ranges::find(kVerdicts, verdict) - kVerdicts.begin());
  result.launches_left_out = trailer.value("launches_left_out", std::uint64_t{0});
  result.launches_refused = trailer.value("launches_refused", std::uint64_t{0});
  result.pending_limit = trailer.value("pending_limit", std::uint64_t{0});
  if (trailer.contains("import")) result.import = trailer.at("import");
}

void fill_launches(Result& result, const runtime::SimulatedDevice& device) {
  result.launches_left_out = device.launches_left_out();
  result.launches_refused = device.launches_refused();
  result.pending_limit = device.pending_limit();
}

nlohmann::ordered_json trailer_of(const Result& result, nlohmann::ordered_json operations) {
  nlohmann::ordered_json out = {{"input_hash", result.input_hash},
                                {"verdict", kVerdicts[static_cast<unsigned>(result.verdict)]},
                                {"difference", result.difference},
                                {"operations", std::move(operations)},
                                {"launches_left_out", result.launches_left_out}};
  if (result.launches_refused != 0) {
    out["launches_refused"] = result.launches_refused;
    out["pending_limit"] = result.pending_limit;
  }
  return out;
}

void check_operations(const nlohmann::ordered_json& operations, std::uint64_t& marks) {
  constexpr std::uint64_t kAddresses = std::uint64_t{trace::kLineBytes} << 32;
  constexpr std::uint64_t kStreams = 1u << 20;
  auto is = [](const auto& operation, std::string_view name, std::size_t numbers) {
    if (!operation.is_array() || operation.size() != numbers + 1 || operation[0] != name)
      return false;
    return std::all_of(operation.begin() + 1, operation.end(),
                       [](const auto& n) { return n.is_number_unsigned(); });
  };
  auto below = [](const auto& n, std::uint64_t end) {
    return n.template get<std::uint64_t>() < end;
  };
  for (const auto& o : operations) {
    const bool touches = is(o, Recorder::kWrite, 2) || is(o, Recorder::kRead, 2);
    const bool known = (is(o, Recorder::kRecord, 1) && below(o[1], kStreams)) ||
                       (is(o, Recorder::kWait, 2) && below(o[1], kStreams) && below(o[2], marks)) ||
                       (touches && below(o[1], kAddresses) && below(o[2], kAddresses)) ||
                       is(o, Recorder::kSynchronize, 0) ||
                       (is(o, Recorder::kSynchronize, 1) && below(o[1], marks));
    if (!known)
      throw InputError("the file holds an operation that makes no sense: " + json_dump(o));
    marks += is(o, Recorder::kRecord, 1);
  }
}

void copy_block(trace::KernelStream& from, trace::StreamWriter& to, std::uint32_t block) {
  for (unsigned warp = 0; warp < from.shape().warps_per_block(); ++warp) {
    trace::WarpCursor cursor = from.open(block, warp);
    do {
      const auto words = static_cast<unsigned>(cursor.end - cursor.at);
      const trace::StreamWriter::Room room = to.grow(block, warp, words);
      to.commit(block, warp, std::copy(cursor.at, cursor.end, room.at));
      cursor.at = cursor.end;
    } while (from.refill(cursor));
  }
  from.close(block);
  to.finish(block);
}

void copy(trace::KernelStream& from, trace::StreamWriter& to) {
  const std::uint64_t blocks = from.shape().grid.count();
  for (std::uint32_t block = 0; block < blocks; ++block) copy_block(from, to, block);
}

std::size_t end_of_tree(const trace::Recording& recording, std::size_t i) {
  if (!recording.any_order()) return i + 1;
  for (++i; i < recording.launches() && recording.launch(i).origin;) ++i;
  return i;
}

void add_functional(Result& result, const runtime::LaunchRecord& launch) {
  KernelResult kernel;
  kernel.name = launch.name;
  kernel.grid = launch.grid;
  kernel.block = launch.block;
  kernel.stream = index(launch.stream);
  kernel.counters.sm.issued = kernel.warp_instructions = launch.warp_instructions;
  kernel.counters.sm.thread_instructions = kernel.thread_instructions = launch.thread_instructions;
  if (launch.origin) {
    // The launch before is of the same tree. Looking for the tree's first one by one would take a
    // program with 50,000 launches longer than executing it.
    const auto& before = result.kernels.back().parent;
    const std::size_t root = before ? before->kernel - before->origin.parent  // the host's launch
                                    : result.kernels.size() - 1;
    kernel.parent = KernelParent{root + launch.origin->parent, *launch.origin};
  }
  stats::accumulate(result.totals.sm, kernel.counters.sm);
  result.kernels.push_back(std::move(kernel));
}

void fill_functional(Result& result, std::span<const runtime::LaunchRecord> launches) {
  result.timed = false;
  for (const runtime::LaunchRecord& launch : launches) add_functional(result, launch);
}

runtime::SimulatedDeviceOptions device_options(const SeenByWorkload& seen, const Options& options) {
  runtime::SimulatedDeviceOptions out;
  out.live = seen.live && !options.functional;
  out.memory_bytes = std::uint64_t{seen.memory_gib} << 30;
  out.max_warp_instructions = options.max_warp_instructions;
  out.max_stream_bytes = options.max_stream_bytes;
  out.max_threads_per_block = seen.max_threads_per_block;
  out.sms = seen.sms;
  out.warps_per_sm = seen.warps_per_sm;
  out.print = options.print;
  out.note = options.note;
  out.first_launches = options.first_launches;
  out.max_per_ms = seen.core_clock_mhz * 1e3 * seen.sms * seen.schedulers;
  if (options.progress)
    out.progress = [report = options.progress](const exec::LaunchProgress& launch) {
      report({.kernel = launch.kernel, .executing = &launch});
    };
  // A warp issues at most one machine instruction a cycle (two where a scheduler issues two), and
  // rarely stand more than two of PTX for one.
  constexpr std::uint64_t kOfCycle = 4;
  if (options.max_cycles != kNever && !options.functional)
    out.max_instructions_of_warp = options.max_cycles < kNever / kOfCycle
                                       ? std::max<std::uint64_t>(kOfCycle * options.max_cycles, 64)
                                       : 0;
  out.shared_unit_bytes = seen.shared_unit_bytes;
  out.independent_lanes = seen.independent_lanes;
  out.out_of_bounds = options.out_of_bounds;
  return out;
}

Result blank(const WorkloadInfo& info, Setup& setup, const Options& options) {
  Result result;
  result.workload = info.name;
  result.parameters = info.parameters;
  result.config = setup.config();
  // Streams that are executed while they are timed keep PTX's order, whatever the machine has.
  if (setup.run.live && result.config.at("isa").contains("order"))
    result.config["isa"]["order"] = "as_written";
  result.schedulers = setup.machine.sm.count * setup.machine.sm.schedulers;
  result.core_clock_mhz = setup.machine.core_clock_mhz;
  result.sample_interval = options.sample_interval;
  result.host.threads = options.threads;
  return result;
}

void finish(Result& result, Clock::time_point start) {
  result.host.wall_seconds = seconds_since(start);
  result.host.peak_rss_bytes = peak_rss_bytes();
}

}  // namespace raddle::sim

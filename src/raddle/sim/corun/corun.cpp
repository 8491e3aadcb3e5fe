#include "raddle/sim/corun/corun.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "raddle/base/error.h"
#include "raddle/sim/corun/tenant_host.h"
#include "raddle/sim/profile/run_analyses.h"
#include "raddle/sim/run/parts.h"
#include "raddle/timing/code/launch.h"
#include "raddle/timing/gpu/scheme_unit.h"
#include "raddle/timing/spec/address_regions.h"

namespace raddle::sim {

namespace {

/// Memories begin at multiples of it: the large page of NVIDIA's GPUs.
constexpr Address kPage = Address{2} << 20;

/// What has been counted up to a cycle.
struct Snapshot {
  std::vector<stats::GpuCounters> counters;
  std::vector<std::uint64_t> launches, rounds;
  std::vector<timing::BlockNeeds> blocks;
};

/// A GPU with the hosts of its tenants.
class SharedGpu {
 public:
  SharedGpu(std::span<const TenantProgram> tenants, std::span<const Address> bases, Setup& setup,
            const Options& options)
      : gpu_(setup, options), progress_(options.progress) {
    hosts_.reserve(tenants.size());
    for (std::size_t t = 0; t < tenants.size(); ++t)
      hosts_.emplace_back(TenantId{static_cast<std::uint8_t>(t)}, tenants[t], bases[t], gpu_,
                          setup);
    drive();
  }
  void run_to(Cycle horizon) {
    while (gpu_.gpu().run_to(horizon)) {
      for (const timing::Completion& completion : gpu_.gpu().take_completions())
        hosts_[index(completion.tenant)].completed(completion);
      drive();
      if (progress_) progress_({sequence_, "co-run", gpu_.now()});
    }
    RADDLE_ASSERT(gpu_.now() == horizon);
  }
  /// Stops after each interval of the record. Precondition: the GPU is where the record ends.
  void run_to(Cycle horizon, UseRecord& record) {
    while (gpu_.now() < horizon) {
      const Cycle now = gpu_.now();
      run_to(std::min(horizon, now - now % record.interval() + record.interval()));
      std::vector<std::uint32_t> blocks;
      for (std::size_t t = 0; t < hosts_.size(); ++t)
        blocks.push_back(gpu_.gpu().resident_blocks(TenantId{static_cast<std::uint8_t>(t)}));
      record.add(gpu_.now(), snapshot().counters, blocks);
    }
  }
  Snapshot snapshot() {
    Snapshot out;
    for (std::size_t t = 0; t < hosts_.size(); ++t) {
      out.counters.push_back(gpu_.gpu().tenant_counters(TenantId{static_cast<std::uint8_t>(t)}));
      out.launches.push_back(hosts_[t].launches_completed());
      out.rounds.push_back(hosts_[t].rounds());
      out.blocks.push_back(hosts_[t].largest_block());
    }
    return out;
  }
  std::vector<TenantLaunch> launches() {
    std::map<std::uint64_t, TenantLaunch> all;
    for (const TenantHost& host : hosts_)
      all.insert(host.launches().begin(), host.launches().end());
    const std::vector<timing::KernelRun>& runs = gpu_.gpu().kernels();
    std::vector<TenantLaunch> out;
    for (auto& [sequence, launch] : all) {
      RADDLE_ASSERT(sequence == out.size());
      if (sequence < runs.size()) {
        launch.start = runs[sequence].start;
        launch.end = runs[sequence].end;
      }
      out.push_back(std::move(launch));
    }
    return out;
  }
  TimedGpu& timed() { return gpu_; }

 private:
  void drive() {
    for (TenantHost& host : hosts_) host.drive(sequence_);
  }
  TimedGpu gpu_;
  std::function<void(const Progress&)> progress_;
  std::vector<TenantHost> hosts_;
  std::uint64_t sequence_ = 0;
};

std::string_view name_of(Result::Verdict verdict) {
  return kVerdicts[static_cast<std::size_t>(verdict)];
}

/// Wrong if one is, correct if all are.
void join_verdicts(Result& result, std::span<const TenantProgram> tenants) {
  result.verdict = Result::Verdict::Correct;
  for (const TenantProgram& tenant : tenants) {
    if (tenant.verdict == Result::Verdict::Unchecked && result.verdict == Result::Verdict::Correct)
      result.verdict = Result::Verdict::Unchecked;
    if (tenant.verdict != Result::Verdict::Wrong) continue;
    result.verdict = Result::Verdict::Wrong;
    result.difference = tenant.info.name + ": " + tenant.difference;
  }
}

/// Tenants without what they have done to the end of the warm-up.
CorunResult measured(std::span<const TenantProgram> tenants, std::span<const Address> bases,
                     const CorunOptions& corun, const Snapshot& from, const Snapshot& to) {
  CorunResult out;
  out.horizon = corun.horizon;
  out.warmup = corun.warmup;
  for (std::size_t t = 0; t < tenants.size(); ++t) {
    TenantResult& one = out.tenants.emplace_back();
    one.name = tenants[t].info.name;
    one.parameters = tenants[t].info.parameters;
    one.input_hash = tenants[t].input_hash;
    one.verdict = name_of(tenants[t].verdict);
    one.base = bases[t];
    one.footprint_bytes = tenants[t].footprint.bytes();
    one.block = to.blocks[t];
    one.counters = to.counters[t];
    stats::accumulate(one.counters, from.counters[t], -1);
    one.launches = to.launches[t] - from.launches[t];
    one.rounds = to.rounds[t] - from.rounds[t];
  }
  return out;
}

CorunResult run(SharedGpu& gpu, std::span<const TenantProgram> tenants,
                std::span<const Address> bases, const CorunOptions& corun,
                std::optional<UseRecord> record = {}) {
  const auto run_to = [&](Cycle horizon) {
    if (record) gpu.run_to(horizon, *record);
    else gpu.run_to(horizon);
  };
  run_to(corun.warmup);
  const Snapshot from = gpu.snapshot();
  run_to(corun.horizon);
  CorunResult out = measured(tenants, bases, corun, from, gpu.snapshot());
  out.use = std::move(record);
  return out;
}

std::optional<UseRecord> record_of(std::size_t tenants, const Setup& setup,
                                   const CorunOptions& corun) {
  if (corun.sample == 0) return std::nullopt;
  return UseRecord(corun.sample, tenants, timing::bandwidth_of(setup.machine),
                   setup.machine.noc.flit_bytes);
}

void compare(CorunResult& shared, std::span<const double> ipc_alone) {
  std::vector<double> ipc;
  for (std::size_t t = 0; t < shared.tenants.size(); ++t) {
    shared.tenants[t].ipc_alone = ipc_alone[t];
    ipc.push_back(shared.ipc(shared.tenants[t]));
  }
  shared.sharing = sharing(ipc, ipc_alone);
}

/// By tenant. Who is alone shares with nobody: there is no scheme, whose parameters are of tenants
/// that share, such as so many SMs for each.
std::vector<double> run_alone(std::span<const TenantProgram> tenants,
                              std::span<const Address> bases, Setup& setup, const Options& options,
                              const CorunOptions& corun) {
  struct NoScheme {
    explicit NoScheme(Setup& one) : of(one), scheme(std::exchange(one.scheme, nullptr)) {}
    ~NoScheme() { of.scheme = std::move(scheme); }
    Setup& of;
    sim::ChosenPolicy<policy::SchemePolicy> scheme;
  } const none(setup);
  std::vector<double> ipc_alone;
  for (std::size_t t = 0; t < tenants.size(); ++t) {
    SharedGpu gpu(tenants.subspan(t, 1), bases.subspan(t, 1), setup, options);
    const CorunResult alone = run(gpu, tenants.subspan(t, 1), bases.subspan(t, 1), corun);
    ipc_alone.push_back(alone.ipc(alone.tenants.front()));
  }
  return ipc_alone;
}

/// What a scheme asks of the run of several tenants.
void check_scheme(const policy::Choice<policy::SchemePolicy>& choice, const CorunOptions& corun) {
  const auto scheme = choice.make({});
  const std::string name = "policy.scheme.name = \"" + std::string(choice.name()) + "\"";
  if (corun.horizon <= scheme->decides_after())
    throw InputError(
        fmt::format("{} decides after {} cycles or more: expected a longer --horizon, "
                    "found {}",
                    name, scheme->decides_after(), corun.horizon));
  if (scheme->wants_ipc_alone() && !corun.alone && corun.ipc_alone.empty())
    throw InputError(name +
                     " goes by what each tenant does alone: leave out --no-alone, or in an "
                     "experiment file give [corun] alone");
}

}  // namespace

std::optional<Sharing> sharing(std::span<const double> ipc, std::span<const double> ipc_alone) {
  RADDLE_ASSERT(ipc.size() == ipc_alone.size() && !ipc.empty());
  std::vector<double> slowdown;
  for (std::size_t i = 0; i < ipc.size(); ++i) {
    if (!(ipc[i] > 0) || !(ipc_alone[i] > 0)) return std::nullopt;
    slowdown.push_back(ipc_alone[i] / ipc[i]);
  }
  const auto [minimum, maximum] = std::ranges::minmax(slowdown);
  const auto tenants = static_cast<double>(slowdown.size());
  const double sum = std::accumulate(slowdown.begin(), slowdown.end(), 0.0);
  Sharing out;
  for (const double one : slowdown) out.weighted_speedup += 1 / one;
  out.harmonic_speedup = tenants / sum;
  out.antt = sum / tenants;
  out.fairness = minimum / maximum;
  return out;
}

namespace {

/// A tenant's launches are timed all of them, again and again, beside those of others.
void check_whole_launches(const Setup& setup, const Options& options) {
  const auto refuse = [](const char* option) {
    throw InputError(
        fmt::format("{} does not hold for a co-run (A + B with --horizon): leave it out", option));
  };
  if (setup.run.cold_l2) refuse("--cold-l2 (run.cold_l2)");
  if (options.first_launches != 0) refuse("--first-launches");
  if (options.checks.any()) refuse("--check");
}

}  // namespace

void check_corun(std::size_t tenants, const Setup& setup, const Options& options,
                 const CorunOptions& corun) {
  if (tenants < 1 || tenants > kMaxTenants)
    throw InputError(fmt::format("a co-run has 1 to {} tenants, found {}", kMaxTenants, tenants));
  check_tenants(setup, tenants);
  if (corun.horizon == 0)
    throw InputError("a co-run needs a horizon: --horizon CYCLES, at least 1");
  if (corun.warmup >= corun.horizon)
    throw InputError(fmt::format("--warmup: expected fewer cycles than the horizon of {}, found {}",
                                 corun.horizon, corun.warmup));
  if (options.max_cycles < corun.horizon)
    throw InputError(
        fmt::format("a co-run goes on to its horizon of {}: expected --max-cycles of "
                    "no less, found {}",
                    corun.horizon, options.max_cycles));
  if (!corun.ipc_alone.empty() && corun.ipc_alone.size() != tenants)
    throw InputError(fmt::format("a co-run of {} tenants: expected an IPC alone of each, found {}",
                                 tenants, corun.ipc_alone.size()));
  for (const double ipc : corun.ipc_alone)
    if (!(ipc > 0) || !std::isfinite(ipc))
      throw InputError(
          fmt::format("a co-run: expected an IPC alone above 0 of each tenant, found {}", ipc));
  check_whole_launches(setup, options);
  if (setup.run.live)
    throw InputError("tenants of a co-run are executed before they are timed: leave out --live");
  if (setup.run.sampling_error != 0)
    throw InputError(
        "a co-run ends at its horizon, no launch is estimated: leave out --sampling-error "
        "(run.sampling_error)");
  if (options.functional) throw InputError("a co-run is about timing: leave out --functional");
  check_analyses(options.analyses, {.corun = true});
  if (tenants > 1) check_scheme(*setup.scheme, corun);
  if (setup.choices().coherence->make({})->rules().host)
    throw InputError(
        "coherence.host: what a host reads and writes passes through the L2 between launches, and "
        "in a co-run there is no such time: give host=false (--policy "
        "coherence=denovo:host=false)");
}

WorkloadInfo corun_info(std::span<const WorkloadInfo> tenants, const CorunOptions& corun) {
  WorkloadInfo out;
  out.parameters = {{"horizon", corun.horizon},
                    {"warmup", corun.warmup},
                    {"tenants", nlohmann::ordered_json::array()}};
  if (!corun.ipc_alone.empty()) out.parameters["ipc_alone"] = corun.ipc_alone;
  if (corun.sample != 0) out.parameters["sample"] = corun.sample;
  for (const WorkloadInfo& tenant : tenants) {
    out.name += (out.name.empty() ? "" : " + ") + tenant.name;
    out.parameters["tenants"].push_back(tenant.parameters);
  }
  return out;
}

std::vector<Address> bases_of(std::span<const TenantProgram> tenants) {
  std::vector<Address> out;
  Address next = tenants.front().footprint.begin;
  for (const TenantProgram& tenant : tenants) {
    const Footprint& own = tenant.footprint;
    const bool first = out.empty() || own.bytes() == 0;
    // Addresses only grow: a tenant whose memory already lies behind stays where it is.
    const Address base =
        first || own.begin >= next ? 0 : (next - own.begin + kPage - 1) / kPage * kPage;
    if (own.bytes() != 0 && base + own.end > timing::kLocalBase)
      throw InputError(fmt::format(
          "tenant '{}' does not fit behind the others: {} bytes of addresses from {:#x}, the last "
          "that a co-run may use is {:#x}",
          tenant.info.name, own.bytes(), base + own.begin, timing::kLocalBase - 1));
    out.push_back(base);
    if (own.bytes() != 0) next = std::max(next, base + own.end);
  }
  return out;
}

/// A co-run that has measured nothing says nothing about its tenants.
void check_executed(const CorunResult& shared, const Setup& setup) {
  const auto idle = [](const TenantResult& one) {
    return one.counters.sm.thread_instructions == 0;
  };
  if (std::ranges::all_of(shared.tenants, idle))
    throw InputError(fmt::format(
        "no tenant has executed anything in the measured cycles {} to {}: expected a longer "
        "--horizon or a shorter --warmup (a launch takes launch_latency_cycles = {})",
        shared.warmup, shared.horizon, setup.machine.launch_latency_cycles));
}

Result corun(std::span<const TenantProgram> tenants, Setup& setup, const Options& options,
             const CorunOptions& corun) {
  const auto start = Clock::now();
  check_corun(tenants.size(), setup, options, corun);
  const std::vector<Address> bases = bases_of(tenants);
  Options notified = options;
  notified.ipc_alone = corun.ipc_alone;
  if (corun.alone && notified.ipc_alone.empty())
    notified.ipc_alone = run_alone(tenants, bases, setup, options, corun);
  SharedGpu gpu(tenants, bases, setup, notified);
  CorunResult shared = run(gpu, tenants, bases, corun, record_of(tenants.size(), setup, corun));
  shared.launches = gpu.launches();
  check_executed(shared, setup);
  if (!notified.ipc_alone.empty()) compare(shared, notified.ipc_alone);
  std::vector<WorkloadInfo> infos;
  for (const TenantProgram& tenant : tenants) infos.push_back(tenant.info);
  Result result = blank(corun_info(infos, corun), setup, options);
  join_verdicts(result, tenants);
  gpu.timed().fill(result);
  if (options.audit) gpu.timed().audit();
  result.corun = std::move(shared);
  finish(result, start);
  return result;
}

}  // namespace raddle::sim

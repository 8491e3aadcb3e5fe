#include "raddle/cli/shared/own_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <numeric>

#include "raddle/base/json.h"
#include "raddle/cli/shared/output.h"
#include "raddle/cli/shared/profile_table.h"
#include "raddle/cli/shared/reports.h"
#include "raddle/cli/shared/simulate_measured.h"
#include "raddle/cli/shared/work.h"
#include "raddle/report/scatter.h"
#include "raddle/report/validation_page.h"
#include "raddle/sim/validate/kernel_names.h"
#include "raddle/sim/validate/profile_pairs.h"

namespace raddle::cli {

namespace {

using sim::Metric;
using sim::Profile;

constexpr std::size_t value_index(Metric metric) { return static_cast<std::size_t>(metric); }

bool is_ncu(const OwnProfileOptions& options) { return !options.ncu.empty(); }

Profile profile_of(const OwnProfileOptions& options) {
  return is_ncu(options) ? sim::read_ncu_profile(options.ncu)
                         : sim::read_nsys_profile(options.nsys);
}

std::string replay_of(const OwnProfileOptions& options) {
  if (!options.replay_as.empty()) return options.replay_as;
  return is_ncu(options) ? "ncu" : "nsys";
}

Work work_of(const OwnProfileOptions& options, const CommonOptions& common) {
  if (options.work.empty() && options.program.empty())
    throw InputError(
        "validate: name what the profile is of: a program behind --, a recording or a workload");
  if (!options.work.empty() && !options.program.empty())
    throw InputError("validate: a profile is of one program: '" + options.work.front() +
                     "' stands beside the one behind --");
  return options.program.empty() ? make_work(options.work, common.out_of_bounds)
                                 : program_work(options.program, common.out_of_bounds);
}

sim::Setup setup_of(const OwnProfileOptions& options, CommonOptions common, const Work& work) {
  if (!common.says_seed()) common.seed = work.seed().value_or(0);
  config::Tree tree = common.tree();
  if (replay_of(options) == "ncu") tree.set("run.cold_l2", "true", "--replay-as ncu");
  sim::Setup out = sim::read_setup(tree, policy::all_policies());
  if (out.run.sampling_error != 0)
    throw InputError(
        "validate times what was measured; leave out --sampling-error (run.sampling_error)");
  work.check_run(out);
  return out;
}

/// Of launches of which both are known, the middle one; NaN where there are none.
double measured_mhz(const Profile& profile) {
  std::vector<double> all;
  for (const sim::ProfiledLaunch& launch : profile.launches)
    if (const double mhz = launch.value[value_index(Metric::Cycles)] / launch.microseconds; mhz > 0)
      all.push_back(mhz);
  if (all.empty()) return std::nan("");
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::ranges::nth_element(all, middle);
  return *middle;
}

/// What one must know to read the numbers.
std::vector<std::string> remarks(const Profile& profile, const sim::Setup& setup) {
  std::vector<std::string> out = profile.notes;
  const double mhz = measured_mhz(profile), ours = setup.machine.core_clock_mhz;
  constexpr double kApart = 0.03;
  if (!std::isnan(mhz) && std::abs(mhz / ours - 1) > kApart)
    out.push_back(
        fmt::format("measured at {:.0f} MHz (cycles over time), simulated at {:.0f}: "
                    "cycles in which DRAM takes part differ; --set core_clock_mhz={:.0f}",
                    mhz, ours, mhz));
  const auto capability = profile.conventions.find("capability");
  if (capability != profile.conventions.end()) {
    const std::uint32_t compute = setup.device.compute_capability;
    const std::string said = fmt::format("{}.{}", compute / 10, compute % 10);
    if (said != capability->second)
      out.push_back(fmt::format("the profile is of a GPU of capability {}, {} has {}",
                                capability->second, setup.machine.name, said));
  }
  return out;
}

std::map<std::string, std::string> simulated_conventions(const OwnProfileOptions& options,
                                                         const sim::Setup& setup, Cycle gap) {
  return {{"gpu", setup.machine.name},
          {"clock", fmt::format("{} MHz", setup.machine.core_clock_mhz)},
          {"cycles",
           "core cycles from when the first block can be handed out to the end of the last; " +
               (gap != 0 ? fmt::format("kernels.gap_cycles ({}) more, as the counters of elapsed "
                                       "cycles have them",
                                       gap)
                         : std::string("no launch latency"))},
          {"cache", passes_of(options.replay_as) > 1
                        ? kPassesText + std::string("copies by the host leave no trace in it")
                    : replay_of(options) == "ncu"
                        ? "L2 emptied before each launch, as ncu does (--cache-control all)"
                        : "L2 as the launch before left it, cold at the first; copies by the host "
                          "leave no trace in it"},
          {"rates",
           "L1: accesses of lines, loads; L2: requests; hits are also those on what is on its way, "
           "and in the L2 writes for which nothing is fetched"}};
}

/// Instructions per SM and cycle, where the profile has what they are computed from.
void add_warp_ipc(Profile& profile, const sim::Setup& setup) {
  for (sim::ProfiledLaunch& launch : profile.launches)
    if (std::isnan(launch.value[value_index(Metric::WarpIpc)]))
      launch.value[value_index(Metric::WarpIpc)] =
          launch.value[value_index(Metric::WarpInstructions)] /
          launch.value[value_index(Metric::Cycles)] / setup.machine.sm.count;
}

[[noreturn]] void refuse_strangers(const Profile& profile, const sim::Result& result,
                                   const sim::ProfileComparison& compared) {
  const auto names = [](const auto& launches, auto name_of) {
    std::vector<std::string> all;
    for (const auto& launch : launches) {
      const std::string name = sim::kernel_name(name_of(launch)).full;
      if (std::ranges::find(all, name) == all.end()) all.push_back(name);
    }
    constexpr std::size_t kNamed = 5;
    std::string out;
    for (std::size_t i = 0; i < all.size() && i < kNamed; ++i) out += (i == 0 ? "" : ", ") + all[i];
    return out + (all.size() > kNamed ? fmt::format(" and {} more", all.size() - kNamed) : "");
  };
  throw InputError(
      {profile.file},
      "no launch pairs with one that was simulated: the profile has " +
          names(profile.launches, [](const sim::ProfiledLaunch& l) { return l.kernel; }) +
          "; simulated were " +
          names(result.kernels, [](const sim::KernelResult& k) { return k.name; }) + "; " +
          compared.unpaired.front().kernel + ": " + compared.unpaired.front().reason);
}

void write_plots(const std::string& folder, const report::Validation& page) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw InputError("cannot make the folder " + folder + ": " + error.message());
  for (std::size_t m = 0; m < sim::kMetrics; ++m)
    if (!page.pairs[m].empty())
      write_file(
          (std::filesystem::path(folder) / (std::string(sim::kMetricNames[m]) + ".svg")).string(),
          report::scatter_svg(page.pairs[m], static_cast<Metric>(m)));
}

}  // namespace

int validate_own_profile(const OwnProfileOptions& options, const CommonOptions& common) {
  Profile profile = profile_of(options);
  Work work = work_of(options, common);
  std::vector<sim::Setup> setups;
  setups.push_back(setup_of(options, common, work));
  sim::Options simulation = common.simulation(setups.front());
  const unsigned passes = passes_of(options.replay_as);
  check_passes(setups.front(), passes);
  work.prepare(setups.front(), simulation);
  simulation.progress = progress_line(work.title(), common.quiet);
  simulation.passes = passes;
  sim::Result result = std::move(work.time(setups, simulation).front());
  clear_progress(common.quiet);
  sim::keep_last_pass(result, passes);
  warn_of_refusals(result);

  const sim::Setup& setup = setups.front();
  const Cycle gap = is_ncu(options) ? setup.machine.kernels.gap_cycles : 0;
  add_warp_ipc(profile, setup);
  const sim::ProfileComparison compared = sim::compare_profile(
      profile, result, sim::measurements_of(result, setup, gap), options.launch_skip);
  if (compared.launches.empty()) refuse_strangers(profile, result, compared);
  const ProfileTable table(profile, compared, simulated_conventions(options, setup, gap),
                           remarks(profile, setup));
  report::Validation page = table.page();
  page.title = work.title() + " on " + setup.machine.name + ", measured and simulated";
  page.command = options.command;
  page.date = today();
  if (!common.json.empty()) write_file(common.json, json_dump(table.json(), 2));
  if (!options.page.empty()) write_file(options.page, report::validation_page(page));
  if (!options.plots.empty()) write_plots(options.plots, page);
  if (!common.quiet && common.json != "-") std::fputs(table.text().c_str(), stdout);
  if (result.verdict != sim::Result::Verdict::Wrong) return 0;
  std::fprintf(stderr, "raddle: %s: the result is wrong: %s\n", work.name().c_str(),
               result.difference.c_str());
  return 1;
}

}  // namespace raddle::cli

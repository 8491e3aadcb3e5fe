#include "raddle/cli/shared/corun.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "raddle/api/simulator.h"
#include "raddle/base/json.h"
#include "raddle/cli/shared/output.h"
#include "raddle/cli/shared/reports.h"
#include "raddle/report/report.h"
#include "raddle/sim/profile/analysis.h"

namespace raddle::cli {

namespace {

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string text_of(const sim::CorunResult& run, const sim::TenantResult& tenant,
                    std::uint64_t dram_bytes) {
  const stats::GpuCounters& c = tenant.counters;
  const double ipc = run.ipc(tenant);
  std::string slowdown = "-";
  if (tenant.ipc_alone && ipc > 0) slowdown = fmt::format("{:.3f}", *tenant.ipc_alone / ipc);
  return fmt::format(
      "  {:<24} {:>15} {:>10.2f} {:>10} {:>9} {:>7.1f} {:>7.1f} {:>7.1f} {:>8} {:>8}\n",
      tenant.name, grouped(c.sm.thread_instructions), ipc,
      tenant.ipc_alone ? fmt::format("{:.2f}", *tenant.ipc_alone) : "-", slowdown,
      100 * share(c.sm.l1d_hits, c.sm.l1d_accesses),
      100 * share(c.l2.hits, c.l2.reads + c.l2.writes + c.l2.atomics),
      100 * share(c.dram.bytes, dram_bytes), tenant.launches, tenant.rounds);
}

std::string table(const sim::Result& result) {
  const sim::CorunResult& run = *result.corun;
  std::uint64_t dram_bytes = 0;
  for (const sim::TenantResult& tenant : run.tenants) dram_bytes += tenant.counters.dram.bytes;
  std::string out = headline(result);
  out += fmt::format("  measured             cycles {} to {}\n", grouped(run.warmup),
                     grouped(run.horizon));
  out += fmt::format("  {:<24} {:>15} {:>10} {:>10} {:>9} {:>7} {:>7} {:>7} {:>8} {:>8}\n",
                     "tenant", "thread instr.", "IPC", "IPC alone", "slowdown", "L1 %", "L2 %",
                     "DRAM %", "kernels", "restarts");
  for (const sim::TenantResult& tenant : run.tenants) out += text_of(run, tenant, dram_bytes);
  if (run.sharing)
    out += fmt::format(
        "  weighted speedup {:.3f}, harmonic speedup {:.3f}, ANTT {:.3f}, fairness {:.3f}\n",
        run.sharing->weighted_speedup, run.sharing->harmonic_speedup, run.sharing->antt,
        run.sharing->fairness);
  return out;
}

}  // namespace

void CorunArguments::add_to(CLI::App& command, OptionModes& modes) {
  const auto add = [&](CLI::Option* option) {
    return modes.add(option, {Mode::Corun})->group("Co-runs");
  };
  add(command.add_option(
          "--horizon", horizon,
          "run A + B, tenants that share the GPU, to this cycle; each begins anew at its end"))
      ->check(number_from(1))
      ->type_name("CYCLES");
  add(command.add_option("--warmup", warmup, "of a co-run: measure tenants from this cycle on"))
      ->check(number_from(0))
      ->type_name("CYCLES");
  add(command.add_option(
          "--sample", sample,
          "of a co-run: record what the tenants use of network and DRAM in intervals of so many "
          "cycles"))
      ->check(number_from(1))
      ->type_name("CYCLES");
  add(command.add_flag("--no-alone,!--alone", no_alone,
                       "of a co-run: do not run each tenant alone too, which gives the speedups"));
}

bool CorunArguments::asked(const std::vector<std::string>& words) const {
  return horizon != 0 || std::ranges::find(words, "+") != words.end();
}

std::vector<std::vector<std::string>> split_tenants(const std::vector<std::string>& words) {
  std::vector<std::vector<std::string>> out(1);
  for (const std::string& word : words) {
    if (word == "+") out.emplace_back();
    else out.back().push_back(word);
  }
  for (const std::vector<std::string>& tenant : out)
    if (tenant.empty())
      throw InputError(
          "'+' stands between two tenants: expected WORKLOAD [KEY=VALUE ...] on both "
          "sides of it, found nothing on one");
  return out;
}

int run_corun(const CommonOptions& common, const std::vector<std::string>& words,
              CorunArguments corun, const std::vector<std::string>& arguments) {
  // As many intervals as the page draws.
  if ((!common.report.empty() || !common.timeline.empty()) && corun.sample == 0)
    corun.sample = std::max<Cycle>(1, corun.horizon / report::kMaxSamples);
  const std::vector<std::vector<std::string>> tenants = split_tenants(words);
  sim::Setup setup = sim::read_setup(common.tree(), policy::all_policies());
  sim::Options options = common.simulation(setup);
  if (!options.analyses.empty()) options.analyses = sim::analyses_for_report(true);
  sim::check_corun(tenants.size(), setup, options, corun.options());
  std::vector<sim::TenantProgram> programs;
  for (const std::vector<std::string>& one : tenants)
    programs.push_back(api::tenant_of(one, setup, options));
  options.progress = progress_line("co-run", common.quiet);
  const sim::Result result = sim::corun(programs, setup, options, corun.options());
  clear_progress(common.quiet);
  if (!common.json.empty()) write_file(common.json, json_dump(sim::to_json(result), 2));
  write_reports(common, {{result.workload, "", &result}}, arguments);
  if (!common.quiet && common.json != "-") std::fputs(table(result).c_str(), stdout);
  if (result.verdict != sim::Result::Verdict::Wrong) return 0;
  std::fprintf(stderr, "raddle: the result is wrong: %s\n", result.difference.c_str());
  return 1;
}

}  // namespace raddle::cli

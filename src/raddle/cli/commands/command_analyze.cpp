// raddle analyze: what a run is like inside, beyond how long it took. One subcommand for each
// analysis of the registry; all take a workload or a recording, run it once and print a table. What
// has no table of its own here is printed figure by figure.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "raddle/base/demangle.h"
#include "raddle/base/json.h"
#include "raddle/cli/commands/commands.h"
#include "raddle/cli/shared/allocations_table.h"
#include "raddle/cli/shared/observed_run.h"
#include "raddle/cli/shared/output.h"
#include "raddle/cli/shared/source_table.h"
#include "raddle/cli/shared/warps_table.h"
#include "raddle/cli/shared/work.h"
#include "raddle/config/describer.h"
#include "raddle/config/spelling.h"
#include "raddle/sim/profile/analysis.h"

namespace raddle::cli {

namespace {

using Json = nlohmann::ordered_json;

std::string percent(std::uint64_t part, std::uint64_t whole) {
  const double share =
      whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
  return fmt::format("{:.2f} %", share);
}

double per_thousand(std::uint64_t events, std::uint64_t instructions) {
  return instructions == 0 ? 0
                           : 1000 * static_cast<double>(events) / static_cast<double>(instructions);
}

// --- cache --------------------------------------------------------------------------------------

struct CacheCommand {
  ObservedRun observed;
  std::vector<std::string> replacement = {"lru", "belady", "unbounded"};
  std::vector<std::uint32_t> size_kib;
  std::uint32_t ways = 0;

  /// One request for each size; the label is "cache", with several sizes "cache_8kib" and so on.
  std::vector<sim::AnalysisRequest> requests() const {
    std::string names;
    for (const std::string& name : replacement) names += (names.empty() ? "" : "+") + name;
    std::vector<sim::AnalysisRequest> out;
    for (const std::uint32_t size : size_kib.empty() ? std::vector<std::uint32_t>{0} : size_kib) {
      const std::string label = size_kib.size() < 2 ? "cache" : fmt::format("cache_{}kib", size);
      try {
        out.push_back(
            sim::request_analysis(label, "cache",
                                  {"replacement=" + names, fmt::format("size_kib={}", size),
                                   fmt::format("ways={}", ways)},
                                  ""));
      } catch (const InputError& error) {
        throw InputError(std::string("--") + error.what());
      }
    }
    if (std::set(size_kib.begin(), size_kib.end()).size() != size_kib.size())
      throw InputError("--size-kib: a size is there twice");
    return out;
  }

  CLI::App* add_to(CLI::App& analyze) {
    CLI::App* app = observed.add_to(
        analyze, "cache", "the run's L1D accesses replayed in caches of other kinds and sizes");
    app->add_option("--replacement", replacement,
                    "lru, belady (the best there can be: evicts what is needed last), unbounded")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("A,B,...")
        ->capture_default_str();
    app->add_option("--size-kib", size_kib, "capacities to try (default: the machine's)")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::Range(1, 65536))
        ->type_name("N,M,...");
    app->add_option("--ways", ways, "lines of a set (default: the machine's)")
        ->check(CLI::Range(1, 65536));
    app->footer(
        "The run is timed once, under the policies given; its accesses are then replayed SM by "
        "SM in\n"
        "caches in which data is there at once. Stores do what the machine's write policy says "
        "and are\n"
        "neither hits nor misses. --json gives analysis.cache.lru.mpki and so on, with several "
        "sizes\n"
        "analysis.cache_8kib.lru.mpki.");
    return app;
  }

  int operator()() const {
    const std::vector<sim::AnalysisRequest> asked = requests();
    const sim::Result result = observed.run(asked);
    return observed.finish(result, table(result, asked));
  }

  static std::string row(const std::string& cache, const std::string& replacement,
                         const Json& figures) {
    const auto number = [&](const char* key) { return figures.at(key).get<double>(); };
    return fmt::format("  {:<18} {:<12} {:>13} {:>8.2f} % {:>9.3f} {:>13.3f} {:>13.3f} {:>11.3f}\n",
                       cache, replacement, grouped(figures.at("accesses").get<std::uint64_t>()),
                       100 * number("miss_rate"), number("mpki"), number("intra_thread_pki"),
                       number("inter_thread_pki"), number("inter_warp_pki"));
  }

  static std::string table(const sim::Result& r, const std::vector<sim::AnalysisRequest>& asked) {
    const auto& sm = r.totals.sm;
    std::string out = fmt::format("  {:<18} {:<12} {:>13} {:>10} {:>9} {:>13} {:>13} {:>11}\n",
                                  "cache", "replacement", "loads", "miss rate", "MPKI",
                                  "intra-thread", "inter-thread", "inter-warp");
    out +=
        fmt::format("  {:<18} {:<12} {:>13} {:>10} {:>9.3f}   and {} pending hits\n", "timing run",
                    "lru", grouped(sm.l1d_accesses), percent(sm.l1d_misses, sm.l1d_accesses),
                    per_thousand(sm.l1d_misses, sm.thread_instructions),
                    percent(sm.l1d_pending_hits, sm.l1d_accesses));
    std::string unbounded;
    for (const sim::AnalysisRequest& request : asked) {
      const Json& cache = r.analysis.at(request.label);
      const std::string shape = fmt::format("{} KiB, {} ways", cache.at("size_kib").get<unsigned>(),
                                            cache.at("ways").get<unsigned>());
      for (const auto& [name, figures] : cache.items())
        if (name == "unbounded") unbounded = row("no limit", name, figures);
        else if (figures.is_object()) out += row(shape, name, figures);
    }
    out +=
        unbounded +
        "  loads are of lines; MPKI and classes of hits per 1000 thread instructions; in a replay "
        "a pending hit is a hit\n";
    const Json& l1 = r.config.at("sm").at("l1d");
    if (l1.at("sector_bytes") != l1.at("line_bytes"))
      out +=
          "  lines have sectors here: belady comes near the fewest misses and need not reach it\n";
    return out;
  }
};

// --- locality -----------------------------------------------------------------------------------

struct LocalityCommand {
  ObservedRun observed;

  CLI::App* add_to(CLI::App& analyze) {
    CLI::App* app =
        observed.add_to(analyze, "locality",
                        "who hits on whose line in the L1D: the same thread, warp, or another");
    app->footer(
        "A hit is intra-warp when the warp that brought the line hits, and then intra-thread when "
        "one\n"
        "of the lanes has touched the line before; else inter-warp. --json gives\n"
        "analysis.locality.intra_thread_hits and so on.");
    return app;
  }

  int operator()() const {
    const sim::Result result = observed.run({sim::read_analysis("locality", "")});
    return observed.finish(result, table(result));
  }

  static std::string table(const sim::Result& r) {
    const Json& all = r.analysis.at("locality");
    const auto count = [](const Json& of, const char* key) {
      return of.at(key).get<std::uint64_t>();
    };
    const std::uint64_t accesses = count(all, "accesses");
    std::string out = fmt::format("  {:<24} {:>15} {:>10} {:>14} {:>14}\n", "loads of lines",
                                  "number", "share", "per 1000 thr.i.", "per 1000 w.i.");
    const auto line = [&](const char* name, std::uint64_t n) {
      out += fmt::format("  {:<24} {:>15} {:>10} {:>14.3f} {:>14.3f}\n", name, grouped(n),
                         percent(n, accesses), per_thousand(n, r.totals.sm.thread_instructions),
                         per_thousand(n, r.totals.sm.issued));
    };
    line("hits, intra-thread", count(all, "intra_thread_hits"));
    line("hits, inter-thread", count(all, "inter_thread_hits"));
    line("hits, inter-warp", count(all, "inter_warp_hits"));
    const Json& pending = all.at("pending");
    line("pending, intra-thread", count(pending, "intra_thread_hits"));
    line("pending, inter-thread", count(pending, "inter_thread_hits"));
    line("pending, inter-warp", count(pending, "inter_warp_hits"));
    line("misses", count(all, "misses"));
    line("all", accesses);
    return out + fmt::format(
                     "  {} warps load {:.1f} distinct lines each; a pending hit waits for a "
                     "miss under way\n",
                     grouped(count(all, "warps")), all.at("lines_per_warp").get<double>());
  }
};

// --- dependencies -------------------------------------------------------------------------------

struct DependenciesCommand {
  ObservedRun observed;

  CLI::App* add_to(CLI::App& analyze) {
    CLI::App* app = observed.add_to(analyze, "dependencies",
                                    "who has written what threads load: the same block in the "
                                    "launch before, a neighbour, others");
    app->footer(
        "The run is executed without timing. self, ghost and other are those of the IKRA paper's\n"
        "table 1; logical counting looks through shared memory and registers, executed does not.\n"
        "--json gives analysis.dependencies.logical.self_share and so on, and the same by kernel.");
    return app;
  }

  int operator()() const {
    if (const auto program = words_of_program(observed.arguments); !program.empty())
      throw InputError("'" + program.front() +
                       "': dependencies are seen when something is executed, and a program is "
                       "recorded first; expected a workload or a PTX file");
    const sim::Result result = observed.run({sim::read_analysis("dependencies", "")});
    return observed.finish(result, table(result));
  }

  static std::string row(const char* counting, std::string_view name, const Json& kernel) {
    const Json& counts = kernel.at(counting);
    const auto n = [&](const char* key) { return counts.at(key).get<std::uint64_t>(); };
    const std::uint64_t all = n("self") + n("ghost") + n("other");
    std::string out = fmt::format("  {:<9} {:<24}", counting, name);
    for (const char* key : {"self", "ghost", "other", "older_self", "host", "elsewhere"})
      out += fmt::format(" {:>12}", percent(n(key), all));
    out += fmt::format(" {:>15} {:>15}", grouped(all), grouped(n("same_kernel") + n("input")));
    if (std::string_view(counting) == "logical")
      out += fmt::format("   {:.0f} to {:.0f} %", 100 * kernel.at("least_self_share").get<double>(),
                         100 * kernel.at("most_self_share").get<double>());
    return out + "\n";
  }

  static std::string table(const sim::Result& r) {
    const Json& all = r.analysis.at("dependencies");
    std::string out =
        fmt::format("  {:<9} {:<24} {:>12} {:>12} {:>12} {:>12} {:>12} {:>12} {:>15} {:>15}   {}\n",
                    "counting", "kernel", "self", "ghost", "other =", "older self +", "host +",
                    "elsewhere", "loads", "not counted", "self by launch");
    const Json& kernels = all.at("kernels");
    for (const char* counting : {"logical", "executed"}) {
      if (kernels.size() > 1)
        for (const auto& [name, kernel] : kernels.items())
          out += row(counting, short_name(name), kernel);
      out += row(counting, "all", all);
    }
    out +=
        "  loads: distinct words by thread and launch, of what other launches or the host have "
        "written;\n"
        "  logical: words that outputs are computed from; executed: words that load instructions "
        "name\n";
    if (const auto unseen = all.at("unseen_instructions").get<std::uint64_t>(); unseen != 0)
      out += fmt::format("  {} warp instructions (textures, matrix products ...) are not seen\n",
                         grouped(unseen));
    return out;
  }
};

// --- footprint ----------------------------------------------------------------------------------

struct FootprintCommand {
  static constexpr const char *kLines = "footprint", *kWords = "footprint_bytes";
  ObservedRun observed;
  std::uint32_t line_bytes = 128;

  CLI::App* add_to(CLI::App& analyze) {
    CLI::App* app = observed.add_to(
        analyze, "footprint",
        "of kernels that launch kernels: the lines that child blocks share with their parent and "
        "their siblings");
    app->add_option("--line-bytes", line_bytes, "a power of two from 4 to 4096")
        ->capture_default_str();
    app->footer(
        "The run is executed without timing. A parent is a block that launches, its children are "
        "the\n"
        "blocks of what it launches. parent-child: lines in both / lines of the children (LaPerm,\n"
        "figure 2); child-sibling: a child and all its siblings; parent-parent: a block and all "
        "others\n"
        "of its launch. Means, each parent or block once. --json gives\n"
        "analysis.footprint.parent_child.ratio and so on, the same by kernel, and under\n"
        "analysis.footprint_bytes the same in words of 4 bytes.");
    return app;
  }

  int operator()() const {
    std::vector<sim::AnalysisRequest> asked;
    try {
      asked.push_back(sim::request_analysis(kLines, "footprint",
                                            {fmt::format("line_bytes={}", line_bytes)}, ""));
    } catch (const InputError&) {
      throw InputError(fmt::format("--line-bytes: expected a power of two from 4 to 4096, found {}",
                                   line_bytes));
    }
    asked.push_back(sim::request_analysis(kWords, "footprint", {"line_bytes=4"}, ""));
    const sim::Result result = observed.run(asked);
    return observed.finish(result, table(result));
  }

  static std::string mean(const Json& overlap, const char* key) {
    if (overlap.at("pairs").get<std::uint64_t>() == 0) return "none";
    return fmt::format("{:.2f} %", 100 * overlap.at(key).get<double>());
  }
  static std::string mean_of_pairs(const Json& sets) {
    return sets.contains("each_other") ? mean(sets.at("each_other"), "ratio") : "";
  }

  static constexpr const char* kRow =
      "  {:<14} {:<32} {:>10} {:>10} {:>10} {:>10} {:>12} {:>14} {:>14} {:>14}\n";
  /// `lines`, `words`: the same pairs of sets, in lines and in words.
  static std::string row(std::string_view what, const std::string& kernels, const Json& lines,
                         const Json& words) {
    const auto n = [&](const char* key) { return grouped(lines.at(key).get<std::uint64_t>()); };
    return fmt::format(kRow, what, kernels, mean(lines, "ratio"), mean(words, "ratio"),
                       mean(lines, "own_share"), mean_of_pairs(lines), n("pairs"), n("first_lines"),
                       n("second_lines"), n("shared_lines"));
  }

  static std::string rows_of(const std::string& kernel, const Json& lines, const Json& words) {
    std::string out;
    for (const auto& [child, family] : lines.at("children").items()) {
      const Json& in_words = words.at("children").at(child);
      const std::string both = kernel + " > " + short_name(child);
      out += row("parent-child", both, family.at("parent_child"), in_words.at("parent_child"));
      out += row("child-sibling", both, family.at("child_sibling"), in_words.at("child_sibling"));
    }
    return out + row("parent-parent", kernel, lines.at("parent_parent"), words.at("parent_parent"));
  }

  static std::string table(const sim::Result& r) {
    const Json& lines = r.analysis.at(kLines);
    const Json& words = r.analysis.at(kWords);
    const auto n = [&](const char* key) { return grouped(lines.at(key).get<std::uint64_t>()); };
    if (lines.at("device_launches") == 0)
      return fmt::format(
          "  no kernel launches a kernel here ({} launches, all of the host): there are no parents "
          "and\n  no children that could share lines\n",
          n("host_launches"));
    std::string out = fmt::format(kRow, "shared by", "kernels", "ratio", "in bytes", "own share",
                                  "two alone", "pairs", "lines, first", "second", "both");
    for (const auto& [name, figures] : lines.at("kernels").items())
      out += rows_of(short_name(name), figures, words.at("kernels").at(name));
    for (const auto& [what, key] :
         {std::pair("parent-child", "parent_child"), std::pair("child-sibling", "child_sibling"),
          std::pair("parent-parent", "parent_parent")})
      out += row(what, "all", lines.at(key), words.at(key));
    return out + fmt::format(
                     "  {} direct parents of {} parent blocks make {} launches of {} child blocks\n"
                     "  ratio: both / second, own share: both / first, means over pairs; two "
                     "alone: the ratio of\n  two single blocks, mean; lines of {} bytes\n",
                     n("direct_parents"), n("parent_blocks"), n("child_launches"),
                     n("child_blocks"), lines.at("line_bytes").get<std::uint64_t>());
  }
};

// --- source -------------------------------------------------------------------------------------

struct SourceCommand {
  static constexpr const char* kLabel = "source";
  ObservedRun observed;
  std::uint32_t interval = 64;
  std::size_t top = SourceTableOptions{}.maximum;
  bool ptx = false;

  CLI::App* add_to(CLI::App& analyze) {
    CLI::App* app =
        observed.add_to(analyze, kLabel,
                        "which lines of the kernels warps spend their time at, and why: of the "
                        "CUDA source (nvcc -lineinfo) or of the PTX");
    app->add_option("--interval", interval, "cycles between looks at the warps, in the mean")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
    app->add_option("--top", top, "lines of each kernel; 0 = all")
        ->check(CLI::Range(0, 1'000'000))
        ->capture_default_str();
    app->add_flag("--ptx", ptx, "lines of the PTX, also where those of the CUDA source are known");
    app->footer(
        "Executions, lanes, lines of memory and hits are exact; what warps wait for is sampled, at "
        "random\n"
        "distances. Timing is what it is without. --json gives analysis.source.kernels, by PTX "
        "line.");
    return app;
  }

  int operator()() const {
    const sim::Result result =
        observed.run({sim::read_analysis(fmt::format("source:interval_cycles={}", interval), "")});
    using Lines = SourceTableOptions::Lines;
    return observed.finish(
        result, source_table(result.analysis.at(kLabel), {ptx ? Lines::Ptx : Lines::Known, top}));
  }
};

// --- allocations --------------------------------------------------------------------------------

struct AllocationsCommand {
  static constexpr const char* kLabel = "allocations";
  ObservedRun observed;
  AllocationsTableOptions options;

  CLI::App* add_to(CLI::App& analyze) {
    CLI::App* app =
        observed.add_to(analyze, kLabel,
                        "which buffers and variables accesses of memory go to, and what the caches "
                        "and DRAM do for each");
    app->add_option("--top", options.maximum, "rows; 0 = all")
        ->check(CLI::Range(0, 1'000'000))
        ->capture_default_str();
    app->add_flag("--kernels", options.by_kernel, "also by kernel");
    app->footer(
        "Counts are exact and add up to those of the run, and its timing is what it is without. "
        "--json gives\n"
        "analysis.allocations.rows, with addresses and kernel by kernel.");
    return app;
  }

  int operator()() const {
    const sim::Result result = observed.run({sim::read_analysis(kLabel, "")});
    return observed.finish(result, allocations_table(result.analysis.at(kLabel), options));
  }
};

// --- warps --------------------------------------------------------------------------------------

struct WarpsCommand {
  static constexpr const char* kLabel = "warps";
  ObservedRun observed;
  std::string window;
  unsigned sm = 0;

  CLI::App* add_to(CLI::App& analyze) {
    CLI::App* app = observed.add_to(
        analyze, kLabel,
        "what each warp of an SM does in a window of cycles, and what it waits for");
    app->add_option("--window", window, "cycles")->type_name("BEGIN:END")->required();
    app->add_option("--sm", sm, "the SM")
        ->type_name("N")
        ->check(number_from(0))
        ->capture_default_str();
    app->footer(
        "All of it is exact, and timing is what it is without. --json gives analysis.warps: each\n"
        "issue, each state and what it waits for. `raddle compare --window BEGIN:END --report` "
        "draws\n"
        "it, a policy below the other.");
    return app;
  }

  int operator()() const {
    const sim::Result result = observed.run({window_analysis(window, sm)});
    return observed.finish(result, warps_table(result.analysis.at(kLabel)));
  }
};

// --- any other ----------------------------------------------------------------------------------

/// An analysis that has no table of its own here: its parameters are options, its figures lines.
struct OtherCommand {
  ObservedRun observed;
  std::string name;
  std::map<std::string, std::string> values = {};  ///< of parameters, by name

  CLI::App* add_to(CLI::App& analyze) {
    const auto choice = sim::all_analyses().choose(name);
    CLI::App* app = observed.add_to(analyze, name.c_str(), std::string(choice->doc()).c_str());
    config::Describer parameters;
    choice->visit(parameters);
    for (const config::FieldDescription& parameter : parameters.fields()) {
      std::string option = "--" + parameter.path;
      std::ranges::replace(option, '_', '-');
      app->add_option(option, values[parameter.path], parameter.doc)
          ->default_str(json_dump(parameter.initial));
    }
    return app;
  }

  int operator()() const {
    std::vector<std::string> settings;
    for (const auto& [parameter, value] : values)
      if (!value.empty()) settings.push_back(parameter + "=" + value);
    const sim::AnalysisRequest asked =
        sim::request_analysis(name, name, settings, "analyze " + name);
    const sim::Result result = observed.run({asked});
    return observed.finish(result, lines(result.analysis.at(name), ""));
  }

  static std::string lines(const Json& figures, const std::string& prefix) {
    std::string out;
    for (const auto& [figure, value] : figures.items())
      if (value.is_structured() && !value.empty()) out += lines(value, prefix + figure + ".");
      else out += fmt::format("  {:<40} {}\n", prefix + figure, json_dump(value));
    return out;
  }
};

// --- all ----------------------------------------------------------------------------------------

/// The subcommand of an analysis.
struct Subcommand {
  const CLI::App* app = nullptr;
  std::function<int()> action;
  std::shared_ptr<const OptionModes> modes;
};

template <class T>
Subcommand add(CLI::App& analyze, T made, const std::vector<std::string>& arguments) {
  auto command = std::make_shared<T>(std::move(made));
  command->observed.arguments = arguments;
  const CLI::App* app = command->add_to(analyze);
  command->observed.modes.add_others(*app);  // what is the analysis's own
  return {app, [command] { return (*command)(); }, {command, &command->observed.modes}};
}

Subcommand add_named(CLI::App& analyze, const std::string& name,
                     const std::vector<std::string>& arguments) {
  if (name == "allocations") return add(analyze, AllocationsCommand{}, arguments);
  if (name == "cache") return add(analyze, CacheCommand{}, arguments);
  if (name == "dependencies") return add(analyze, DependenciesCommand{}, arguments);
  if (name == "footprint") return add(analyze, FootprintCommand{}, arguments);
  if (name == "locality") return add(analyze, LocalityCommand{}, arguments);
  if (name == "source") return add(analyze, SourceCommand{}, arguments);
  if (name == "warps") return add(analyze, WarpsCommand{}, arguments);
  return add(analyze, OtherCommand{.observed = {}, .name = name}, arguments);
}

/// "a, b or c".
std::string one_of(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i)
    out += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  return out;
}

[[noreturn]] void refuse_name(const std::vector<std::string>& words) {
  std::vector<std::string> names = sim::all_analyses().names();
  names.emplace_back("bounds");
  std::ranges::sort(names);
  std::string why = "analyze: expected " + one_of(names);
  if (!words.empty()) {
    const std::string near = config::nearest(words.front(), names);
    why += ", found '" + words.front() + "'";
    if (!near.empty()) why += "; did you mean '" + near + "'?";
  }
  throw InputError(why + " (see raddle analyze --help)");
}

}  // namespace

Command add_analyze(CLI::App& app, const std::vector<std::string>& arguments) {
  CLI::App* analyze = app.add_subcommand(
      "analyze",
      "what a run is like inside: time by source line, traffic by allocation, caches, locality, "
      "dependencies, shared footprints");
  std::vector<Subcommand> all;
  for (const std::string& name : sim::all_analyses().names())
    all.push_back(add_named(*analyze, name, arguments));
  const Command bounds = add_bounds(*analyze, arguments);
  all.push_back({bounds.app, bounds.action, bounds.modes.front().modes});
  analyze->allow_extras();  // for an error that names what there is; after the subcommands, which
                            // would do the same
  std::vector<DeclaredModes> modes;
  for (const Subcommand& one : all) modes.push_back({one.app, one.modes});
  return {analyze,
          [=] {
            for (const Subcommand& one : all)
              if (one.app->parsed()) return one.action();
            refuse_name(analyze->remaining());
          },
          modes};
}

}  // namespace raddle::cli

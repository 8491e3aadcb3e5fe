// raddle analyze: what a run is like inside, beyond how long it took. One subcommand
// for each analysis; all take a workload or a recording, run it once and print a table.
#include <fmt/format.h>

#include <set>

#include "raddle/base/demangle.h"
#include "raddle/cli/commands/commands.h"
#include "raddle/cli/shared/allocations_table.h"
#include "raddle/cli/shared/observed_run.h"
#include "raddle/cli/shared/output.h"
#include "raddle/cli/shared/source_table.h"
#include "raddle/cli/shared/work.h"

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
  std::vector<analysis::Request> requests() const {
    std::string names;
    for (const std::string& name : replacement) names += (names.empty() ? "" : "+") + name;
    std::vector<analysis::Request> out;
    for (const std::uint32_t size : size_kib.empty() ? std::vector<std::uint32_t>{0} : size_kib) {
      analysis::CacheOptions options{names, size, ways};
      try {
        options.replacements();
      } catch (const InputError& error) {
        throw InputError(std::string("--") + error.what());
      }
      out.push_back({size_kib.size() < 2 ? "cache" : fmt::format("cache_{}kib", size), options});
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
    const std::vector<analysis::Request> asked = requests();
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

  static std::string table(const sim::Result& r, const std::vector<analysis::Request>& asked) {
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
    for (const analysis::Request& request : asked) {
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
    const sim::Result result = observed.run({{"locality", analysis::LocalityOptions{}}});
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
    const sim::Result result =
        observed.run({{"dependencies", analysis::DependenciesOptions{}}}, true);
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
  std::uint32_t line_bytes = analysis::FootprintOptions{}.line_bytes;

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
    const analysis::FootprintOptions lines{line_bytes}, words{analysis::FootprintOptions::kWord};
    try {
      lines.check();
    } catch (const InputError&) {
      throw InputError(fmt::format("--line-bytes: expected a power of two from 4 to 4096, found {}",
                                   line_bytes));
    }
    const sim::Result result = observed.run({{kLines, lines}, {kWords, words}}, true);
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
  std::uint32_t interval = analysis::SourceOptions{}.interval_cycles;
  std::size_t top = SourceTableOptions{}.most;
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
        observed.run({{kLabel, analysis::SourceOptions{.interval_cycles = interval}}});
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
    app->add_option("--top", options.most, "rows; 0 = all")
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
    const sim::Result result = observed.run({{kLabel, analysis::AllocationsOptions{}}});
    return observed.finish(result, allocations_table(result.analysis.at(kLabel), options));
  }
};

}  // namespace

Command add_analyze(CLI::App& app, const std::vector<std::string>& arguments) {
  CLI::App* analyze = app.add_subcommand(
      "analyze",
      "what a run is like inside: time by source line, traffic by allocation, caches, locality, "
      "dependencies, shared footprints");

  auto cache = std::make_shared<CacheCommand>();
  cache->observed.arguments = arguments;
  const CLI::App* with_cache = cache->add_to(*analyze);
  auto locality = std::make_shared<LocalityCommand>();
  locality->observed.arguments = arguments;
  locality->add_to(*analyze);
  auto dependencies = std::make_shared<DependenciesCommand>();
  dependencies->observed.arguments = arguments;
  const CLI::App* with_dependencies = dependencies->add_to(*analyze);
  auto footprint = std::make_shared<FootprintCommand>();
  footprint->observed.arguments = arguments;
  const CLI::App* with_footprint = footprint->add_to(*analyze);
  auto allocations = std::make_shared<AllocationsCommand>();
  allocations->observed.arguments = arguments;
  const CLI::App* with_allocations = allocations->add_to(*analyze);
  auto source = std::make_shared<SourceCommand>();
  source->observed.arguments = arguments;
  const CLI::App* with_source = source->add_to(*analyze);

  analyze->allow_extras();  // for an error that names what there is; after the subcommands, which
                            // would do the same
  return {
      analyze, [=] {
        const std::vector<std::string> extra = analyze->remaining();
        if (analyze->get_subcommands().empty())
          throw InputError(
              "analyze: expected allocations, cache, dependencies, footprint, locality or source" +
              (extra.empty() ? "" : ", found '" + extra.front() + "'") +
              " (see raddle analyze --help)");
        if (with_dependencies->parsed()) return (*dependencies)();
        if (with_footprint->parsed()) return (*footprint)();
        if (with_allocations->parsed()) return (*allocations)();
        if (with_source->parsed()) return (*source)();
        return with_cache->parsed() ? (*cache)() : (*locality)();
      }};
}

}  // namespace raddle::cli

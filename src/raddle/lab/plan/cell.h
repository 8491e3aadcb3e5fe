// A cell: one simulation, described by a file that any process on any machine can run
// (`raddle cell SPEC.json -o RESULT.json`). A recording is described and made in the same way.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/lab/file/experiment.h"
#include "raddle/policy/all.h"
#include "raddle/sim/corun/corun.h"
#include "raddle/sim/result/version.h"
#include "raddle/sim/run/named_workload.h"

namespace raddle::lab {

class ExternalPrograms;

/// What there is to run, from the program's outermost room.
struct Catalogue {
  runtime::Workloads workloads;
  policy::Registries policies;
  /// What a workload's kernels are: their PTX, and the registers that are known of them.
  std::function<std::string(std::string_view workload)> code;
  std::shared_ptr<const ExternalPrograms> external = nullptr;
  sim::SourceHashes sources = sim::source_hashes();
};

/// A program of a cell: of one that shares the GPU with others, a tenant.
struct Program {
  std::string workload;  ///< a name of `raddle list workloads`, or a PTX file
  Settings parameters;
  std::string recording = {};  ///< .rdl to time, or "" to execute
  std::optional<ExternalProgram> external = std::nullopt;
};

struct CellSpec {
  std::vector<Program> programs;  ///< at least one; several need `corun`
  /// They run again and again up to a horizon; otherwise once, to the end.
  std::optional<sim::CorunOptions> corun;
  PlacedText gpu;
  std::vector<PlacedText> policies;  ///< as --policy
  Settings set;                      ///< after the policies; of the same path the last wins
  std::uint64_t seed = 1;
  std::uint64_t max_cycles = 0;                ///< 0 = no limit
  std::map<std::string, PlacedText> analyses;  ///< by label
  /// Hash of what will be simulated, which the worker must come to as well; "" in plans.
  std::string configuration;
  /// program_name() of who wants the result, which the worker must be too; "" in plans.
  std::string program;
};

/// `kind` is "cell" or "recording"; a recording is of one program, whose `recording` is the file to
/// make.
Json to_json(const CellSpec& spec, std::string_view kind);
struct CellFile {
  std::string kind;
  CellSpec spec;
};
/// Throws InputError with everything that is wrong.
CellFile read_cell(const Json& json, const std::string& file);

/// The spec with names looked up and everything checked.
struct ResolvedCell {
  sim::Setup setup;
  std::vector<sim::NamedWorkload> programs;
  sim::WorkloadInfo info;               ///< of all programs: what the result will say
  std::string configuration;            ///< hash of all that decides the timing
  std::string program;                  ///< who would make the result (program.h)
  std::vector<std::string> recordings;  ///< by program: hash of all that decides its op streams,
                                        ///< "" of a recording; none when run live
};
/// Throws InputError with everything that is wrong, at the places of the spec's parts.
ResolvedCell resolve(const CellSpec& spec, const Catalogue& catalogue);

/// The machine alone, resolved: {"name", "config"}.
Json resolved_machine(const CellSpec& spec, const Catalogue& catalogue);

/// The same hash from a result of it, to see that it is the result of what was asked for.
std::string configuration_of(const Json& result, const CellSpec& spec, const Catalogue& catalogue);

/// A replay executes nothing, so an analysis of the execution cannot look at one.
bool needs_workload(const std::map<std::string, PlacedText>& analyses);

/// Runs it in this process: the ordinary result JSON of a cell, or of the functional run that was
/// recorded. Throws InputError, RunError and std::bad_alloc.
Json run_cell(const CellFile& cell, const Catalogue& catalogue);

/// `{"error": {"kind", "message"}}` for what run_cell threw.
Json error_result(const std::string& kind, const std::string& message);

/// 32 hexadecimal digits.
std::string hash_text(std::string_view text);

}  // namespace raddle::lab

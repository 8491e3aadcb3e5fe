// Programs of the user's own, and recordings, in the place of workloads. What is known of CUDA
// programs and of files other than ours is the outermost room's; here stands what the laboratory
// wants of it.
#pragma once
#include <memory>
#include <string>

#include "raddle/lab/cell.h"
#include "raddle/trace/recording.h"

namespace raddle::lab {

class ForeignWork {
 public:
  virtual ~ForeignWork() = default;
  /// Fills in name, parameters and identity. Throws InputError when there is no such thing.
  virtual void identify(Foreign& foreign) const = 0;
  /// Runs the program, or reads the trace, and puts its op streams into `file`. Returns the result
  /// JSON of that. Throws InputError and RunError.
  virtual Json record(const Foreign& foreign, sim::Setup& setup, const sim::Options& options,
                      const std::string& file) const = 0;
};

/// Finds out what the programs and recordings of a paper's workloads are. Throws InputError with
/// all that are not there.
void identify(Paper& paper, const Catalogue& catalogue);

/// Puts a program or a recording in the place of workload `name` of every experiment that has it:
/// `text` is FILE.rdl, kernelslist.g, or a program and its arguments, split as a shell does. Those
/// experiments are no longer the paper's: their rows become studies, and lose the numbers that the
/// paper states. Throws InputError when no experiment of `chosen` has such a workload.
void replace_workload(Paper& paper, const std::vector<const Experiment*>& chosen,
                      const std::string& name, const std::string& text);

/// Words of a command as a shell splits them: blanks, quotes, backslashes. Throws InputError when
/// a quote does not end.
std::vector<std::string> split_command(const std::string& text);

/// For documents: {"program", "recording", "identity"}.
Json to_json(const Foreign& foreign);

}  // namespace raddle::lab

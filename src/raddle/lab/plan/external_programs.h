// Programs of the user's own, and recordings, in the place of workloads. What is known of CUDA
// programs and of files other than ours is the outermost room's; here stands what the laboratory
// wants of it.
#pragma once
#include <memory>
#include <string>

#include "raddle/lab/plan/cell.h"
#include "raddle/trace/recording.h"

namespace raddle::lab {

class ExternalPrograms {
 public:
  virtual ~ExternalPrograms() = default;
  /// Fills in name, parameters and identity. Throws InputError when there is no such thing.
  virtual void identify(ExternalProgram& external) const = 0;
  /// Runs the program, or reads the trace, and puts its op streams into `file`. Returns the result
  /// JSON of that. Throws InputError and RunError.
  virtual Json record(const ExternalProgram& external, sim::Setup& setup,
                      const sim::Options& options, const std::string& file) const = 0;
};

/// Finds out what the programs and recordings of a paper's workloads are. Throws InputError with
/// all that are not there.
void identify(Paper& paper, const Catalogue& catalogue);

}  // namespace raddle::lab

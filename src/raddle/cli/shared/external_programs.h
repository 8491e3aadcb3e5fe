// What the laboratory cannot know of CUDA programs and of traces of others
// (lab/plan/external_programs.h).
#pragma once
#include "raddle/lab/plan/external_programs.h"

namespace raddle::cli {

class HostPrograms final : public lab::ExternalPrograms {
 public:
  void identify(lab::ExternalProgram& external) const override;
  lab::Json record(const lab::ExternalProgram& external, sim::Setup& setup,
                   const sim::Options& options, const std::string& file) const override;
};

}  // namespace raddle::cli

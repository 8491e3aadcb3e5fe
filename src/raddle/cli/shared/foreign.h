// What the laboratory cannot know of CUDA programs and of traces of others
// (lab/plan/external_work.h).
#pragma once
#include "raddle/lab/plan/external_work.h"

namespace raddle::cli {

class ForeignPrograms final : public lab::ForeignWork {
 public:
  void identify(lab::Foreign& foreign) const override;
  lab::Json record(const lab::Foreign& foreign, sim::Setup& setup, const sim::Options& options,
                   const std::string& file) const override;
};

}  // namespace raddle::cli

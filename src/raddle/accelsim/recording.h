// An Accel-Sim trace (kernelslist.g and a file for each kernel) as a recording. Kernels are read
// one after the other, when they are asked for.
#pragma once
#include <memory>
#include <string>

#include "raddle/trace/recording.h"

namespace raddle::accelsim {

class TraceRecording final : public trace::Recording {
 public:
  /// Reads the list and every kernel's header. Throws InputError naming file and line.
  explicit TraceRecording(const std::string& path);
  ~TraceRecording() override;

  /// "workload": the list's path; "parameters": kernels and copies; "seed".
  const nlohmann::ordered_json& header() const override;
  /// After the last launch: input_hash, verdict, "import" (what was met) and "import_cost" (seconds
  /// of the processor, bytes of text, warp instructions).
  const nlohmann::ordered_json& trailer() const override;
  std::size_t launches() const override;
  /// Reads the kernel's file. Precondition: called in order, as often as wanted for the same one.
  const trace::LaunchHeader& launch(std::size_t i) const override;
  std::unique_ptr<trace::KernelStream> open(std::size_t i) const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace raddle::accelsim

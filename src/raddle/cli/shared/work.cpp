#include "raddle/cli/shared/work.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "raddle/api/recording.h"
#include "raddle/cli/shared/cuda_program.h"
#include "raddle/cli/shared/exec.h"
#include "raddle/cli/shared/reports.h"

namespace raddle::cli {

namespace {

class CudaProgramOfWords final : public api::Program {
 public:
  CudaProgramOfWords(std::vector<std::string> words, std::string out_of_bounds)
      : words_(std::move(words)), out_of_bounds_(std::move(out_of_bounds)) {}
  sim::WorkloadInfo info() const override {
    return {std::filesystem::path(words_.front()).filename().string(),
            {{"arguments", std::vector<std::string>(words_.begin() + 1, words_.end())}}};
  }
  void record(sim::Setup& machine, const sim::Options& options,
              const std::string& file) const override {
    record_program({words_, "", program_hash(words_, ""), out_of_bounds_}, machine, options, file);
  }

 private:
  std::vector<std::string> words_;
  std::string out_of_bounds_;
};

}  // namespace

std::vector<std::string> words_of_program(const std::vector<std::string>& arguments) {
  const auto dashes = std::ranges::find(arguments, "--");
  return {dashes == arguments.end() ? dashes : dashes + 1, arguments.end()};
}

Work program_work(const std::vector<std::string>& words, const std::string& out_of_bounds) {
  find_program(words.front());  // refused now, not after others have run
  return {joined(words), std::make_unique<CudaProgramOfWords>(words, out_of_bounds)};
}

Work make_work(const std::vector<std::string>& words, const std::string& out_of_bounds) {
  if (api::is_recording(words.front()) || !is_program(words.front())) return Work(words);
  if (words.size() > 1)
    throw InputError("'" + words[1] + "': arguments of a program stand behind --: -- " +
                     joined(words));
  return program_work(words, out_of_bounds);
}

}  // namespace raddle::cli

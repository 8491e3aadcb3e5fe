// Where experiments are found: embedded in the program, or files in a folder.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "raddle/lab/file/experiment_reader.h"

namespace raddle::lab {

/// Experiments by paper. `folder` is one of papers' folders instead of the embedded ones, or "".
class Library {
 public:
  explicit Library(std::filesystem::path folder) : folder_(std::move(folder)) {}
  /// In order of name. Throws InputError when the folder cannot be read.
  std::vector<std::string> papers() const;
  /// Throws InputError naming the known papers, or with everything that is wrong in its files.
  Paper paper(const std::string& name, Scale scale) const;

 private:
  std::filesystem::path folder_;
};

/// One file, with the paper.toml beside it if there is one.
Paper read_single(const std::filesystem::path& file, Scale scale);

/// Experiments of `paper` that `item` names ("fig7"; "" = all, "n" = all of n.*). Throws InputError
/// naming what there is.
std::vector<const Experiment*> select(const Paper& paper, const std::string& item);

}  // namespace raddle::lab

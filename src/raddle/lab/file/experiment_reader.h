// Experiment files (TOML) into Experiments: syntax, types, names. What needs the machine - whether
// settings, parameters and metrics exist - is plan/plan.h's to find out.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "raddle/lab/file/section.h"

namespace raddle::lab {

/// A file, read from disk or embedded.
struct SourceFile {
  std::string path, text;
};

/// `paper_file` is paper.toml, if there is one; without it, `folder` is the paper's name and each
/// file stands alone. Throws InputError with everything that is wrong in all files.
Paper read_paper(const std::optional<SourceFile>& paper_file, const std::vector<SourceFile>& files,
                 const std::string& folder, Scale scale);

}  // namespace raddle::lab

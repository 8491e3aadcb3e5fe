// What clang-19 and nvcc 13 really wrote (tests/data/ptx, with the .cu beside each).
#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>

#include "raddle/ptx/analysis.h"
#include "raddle_paths.h"
#include "unit/ptx/support.h"

namespace raddle::ptx::test::real_files_test {
namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty()) << path;
  return text.str();
}
std::string read_data(const std::string& name) {
  return read(std::filesystem::path(RADDLE_SOURCE_DIR) / "tests/data/ptx" / name);
}

struct FileCase {
  std::string name;
  std::string target;
  std::size_t functions, variables, instructions;
};
void PrintTo(const FileCase& c, std::ostream* out) { *out << '"' << c.name << '"'; }
class RealFiles : public testing::TestWithParam<FileCase> {};

TEST_P(RealFiles, ParseWholeAndPassTheAnalyses) {
  const FileCase& expected = GetParam();
  const Module module = parse(read_data(expected.name), expected.name);
  EXPECT_EQ(module.target, expected.target);
  EXPECT_EQ(module.functions.size(), expected.functions);
  EXPECT_EQ(module.variables.size(), expected.variables);
  std::size_t instructions = 0;
  for (const Function& function : module.functions) {
    instructions += function.instructions.size();
    EXPECT_EQ(reconvergence_points(function).size(), function.instructions.size());
    const RegisterAssignment assignment = assign_registers(function);
    EXPECT_EQ(assignment.number.size(), function.registers.size());
    EXPECT_LE(assignment.registers, 255u) << function.name << ": no GPU has more per thread";
  }
  EXPECT_EQ(instructions, expected.instructions);
}

// Each instruction's words stand in the file where its line and column say.
TEST_P(RealFiles, EveryInstructionKeepsItsText) {
  const std::string text = read_data(GetParam().name);
  const Module module = parse(text, GetParam().name);
  std::vector<std::string> lines{""};
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  for (const Function& function : module.functions) {
    for (const Instruction& instruction : function.instructions) {
      const std::string whole = instruction.text();
      EXPECT_EQ(lines.at(instruction.line).substr(instruction.column - 1, whole.size()), whole);
    }
  }
}

// Instructions were also counted by a script of its own that knows only comments, braces and ';'.
INSTANTIATE_TEST_SUITE_P(All, RealFiles,
                         testing::Values(FileCase{"clang_debug.ptx", "sm_70", 7, 11, 593},
                                         FileCase{"clang_features.ptx", "sm_70", 7, 11, 470},
                                         FileCase{"nvcc_cdp.ptx", "sm_75", 7, 1, 87},
                                         FileCase{"nvcc_cluster.ptx", "sm_90", 2, 0, 89},
                                         FileCase{"nvcc_cooperative.ptx", "sm_80", 1, 11, 138},
                                         FileCase{"nvcc_debug.ptx", "sm_75", 28, 13, 650},
                                         FileCase{"nvcc_features.ptx", "sm_80", 5, 11, 145},
                                         FileCase{"nvcc_math.ptx", "sm_90", 7, 3, 2852},
                                         FileCase{"nvcc_recursion.ptx", "sm_75", 12, 12, 440},
                                         FileCase{"nvcc_tensor.ptx", "sm_80", 3, 0, 188},
                                         FileCase{"nvcc_textures.ptx", "sm_75", 1, 0, 52}));

TEST(RealWorkloads, AllCheckedInKernelsParse) {
  unsigned count = 0;
  const std::filesystem::path root = std::filesystem::path(RADDLE_SOURCE_DIR) / "workloads";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".ptx") continue;
    EXPECT_NO_THROW(parse(read(entry.path()), entry.path().string()));
    ++count;
  }
  EXPECT_GT(count, 0u);
}

}  // namespace
}  // namespace raddle::ptx::test::real_files_test

// Op streams in a file (.rdl): recorded once, timed under any number of policies and machines.
//
//   file     magic "RADDLE\r\n", version, then sections up to an End section
//   section  kind, raw bytes, packed bytes, xxh64 of packed payload and header; payload (zstd)
//   order    Header { Launch { Blocks }* Index }* End
//   memory   a reader needs at most 2,048 times the size of the file (file_sections.h), and of
//            recordings that are not made for that some ten times
//
// A launch is written while it runs: only blocks that have not ended are in memory, and the counts
// that are known at its end stand in its Index. The code of a kernel stands in its first launch;
// the others name it by its number among the codes of the file. Blocks sections hold whole thread
// blocks, column by column (record heads, masks, then pieces with line numbers as differences),
// because columns compress several times better than records. All numbers are little-endian.
// Reading is streamed: a launch keeps only the sections in memory whose blocks are running.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "raddle/trace/recording.h"
#include "raddle/trace/stream.h"

namespace raddle::trace {

/// 8 has groups and the kind of copies in the code of a kernel (code.h), 7 has not.
inline constexpr std::uint32_t kFileVersion = 8, kOldestFileVersion = 7;

class FileWriter {
 public:
  /// Writes beside `path` until finish(). Throws InputError when the file cannot be created. Every
  /// call throws RunError when the disk is full.
  FileWriter(std::string path, const nlohmann::ordered_json& header);
  ~FileWriter();  ///< without finish(): nothing is left
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  /// Starts a launch; what goes into the writer is in the file when its block has ended. The
  /// header's counts are not looked at.
  StreamWriter& begin(const KernelCode& code, const LaunchShape& shape, const LaunchHeader& header);
  /// Every block has ended. Counts are those of the whole launch.
  void end(std::uint64_t warp_instructions, std::uint64_t thread_instructions);
  /// Puts the file in its place.
  void finish(const nlohmann::ordered_json& trailer);
  std::uint64_t bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// What the user of a file asks of the JSON that this room only keeps. Each throws InputError.
struct FileChecks {
  using Check = std::function<void(const nlohmann::ordered_json&)>;
  Check header, operations, trailer;  ///< operations: of each launch, in order
};

/// Checks every byte on opening. Throws InputError naming file and byte offset when it is no such
/// file, of another version, truncated or altered, or makes no sense.
class FileReader final : public Recording {
 public:
  explicit FileReader(std::string path, FileChecks checks = {});
  ~FileReader() override;
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;
  const nlohmann::ordered_json& header() const override;
  const nlohmann::ordered_json& trailer() const override;
  std::size_t launches() const override;
  const LaunchHeader& launch(std::size_t i) const override;
  bool any_order() const override { return true; }
  std::unique_ptr<KernelStream> open(std::size_t i) const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace raddle::trace

// Op streams in a file (.rdl): recorded once, timed under any number of policies and machines.
//
//   file     magic "RADDLE\r\n", version, then sections up to an End section
//   section  kind, raw bytes, packed bytes, xxh64 of packed payload and header; payload (zstd)
//   order    Header { Launch { Blocks }* Index }* End
//
// Blocks sections hold whole thread blocks, column by column (record heads, masks, then pieces with
// line numbers as differences), because columns compress several times better than records. All
// numbers are little-endian. Reading is streamed: a launch keeps only the sections in memory whose
// blocks are running.
#pragma once
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "raddle/trace/stream.h"

namespace raddle::trace {

inline constexpr std::uint32_t kFileVersion = 2;

/// What a file says of one launch apart from its streams.
struct LaunchHeader {
  std::string name;
  std::uint64_t sequence = 0;
  std::uint32_t stream = 0;
  std::uint64_t warp_instructions = 0, thread_instructions = 0;
};

class FileWriter {
 public:
  /// Writes beside `path` until finish() puts the file in its place. Throws InputError when it
  /// cannot be created.
  FileWriter(std::string path, const nlohmann::ordered_json& header);
  ~FileWriter();  ///< without finish(): nothing is left
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  /// Appends every block of the stream, in order. Throws RunError when the disk is full.
  void add(KernelStream& stream, const LaunchHeader& header);
  void finish(const nlohmann::ordered_json& trailer);
  std::uint64_t bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Checks every byte on opening. Throws InputError naming file and byte offset when it is no such
/// file, of another version, truncated or altered.
class FileReader {
 public:
  explicit FileReader(std::string path);
  ~FileReader();
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;
  const nlohmann::ordered_json& header() const;
  const nlohmann::ordered_json& trailer() const;
  std::size_t launches() const;
  const LaunchHeader& launch(std::size_t i) const;
  /// The i-th launch's streams. The reader must outlive it.
  std::unique_ptr<KernelStream> open(std::size_t i) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace raddle::trace

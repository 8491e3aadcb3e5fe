// Files of Accel-Sim 2.0 (.tracez) as the text that they stand for, a piece at a time.
//
// Source of the format: util/tracer_nvbit/tracer_tool/tracez_format.h of accel-sim-framework (its
// comment and its reader), and write_tracez() of its post-processor, both at commit e1c2b67. Whole
// numbers are little-endian:
//   the kernel's header lines, ended by a byte 0
//   u32 bytes of the dictionary, u32 instructions that a sub-chunk was meant to have (not used)
//   the dictionary (zstd), which all sub-chunks share; it may have no bytes
//   for each warp: u32 instructions, u32 sub-chunks, and each of these as u32 bytes and one frame
//     of zstd: instruction lines with a line feed between them and none at the end
//   the index: u32 thread blocks; for each 11 u32 (block, cluster and place in the cluster as x, y,
//     z each, rank in the cluster, warps); for each warp of it u32 instructions, u32 sub-chunks,
//     u64 place in the file, and a u32 of instructions for each sub-chunk
//   u64 place of the index
//
// The text is that of a .traceg file, line for line what Accel-Sim's traceDsm prints.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace raddle::accelsim {

class TracezText {
 public:
  /// Do a file's first bytes look like one? Text has no byte 0.
  static bool begins(std::string_view front);
  /// Of an open file that can be read at any place; it stays its owner's.
  explicit TracezText(std::FILE* file);
  ~TracezText();
  TracezText(const TracezText&) = delete;
  TracezText& operator=(const TracezText&) = delete;
  /// Up to `room` bytes (64 KiB at least), 0 at the end; the first call gives the header alone.
  /// Throws InputError that names the byte of the file, and no place.
  std::size_t read(char* to, std::size_t room);

 private:
  enum class Stage : std::uint8_t { Header, Block, Warp, Chunk, InChunk, End };
  struct Unpacker;

  void header();
  void block();
  void warp();
  void begin_chunk();
  /// Unpacks into the room; returns how many bytes.
  std::size_t in_chunk(char* to, std::size_t room);
  void end_chunk();
  void bytes_at(std::uint64_t at, char* to, std::size_t n, std::string_view what) const;
  template <class Number>
  Number from_index();
  [[noreturn]] static void bad(std::uint64_t at, const std::string& what);

  int file_;
  Stage stage_ = Stage::Header;
  std::string text_;  // made, not yet taken from text_at_ on
  std::size_t text_at_ = 0;
  std::uint64_t data_ = 0, index_ = 0, index_at_ = 0, end_ = 0;  // of warps, index; end of index
  std::vector<char> index_buffer_;
  std::uint64_t buffered_ = 0;  // where in the file the buffer begins
  std::uint32_t blocks_ = 0, block_ = 0, warps_ = 0, warp_ = 0;
  std::uint32_t chunks_ = 0, chunk_ = 0, chunk_lines_ = 0;
  std::uint64_t instructions_ = 0, left_ = 0;  // of the warp; that its sub-chunks are still to have
  std::uint64_t at_ = 0, chunk_end_ = 0;  // in the file: what is read next; the sub-chunk's end
  std::uint64_t lines_ = 0;               // of the sub-chunk, ended
  bool line_open_ = false;                // its text does not end with a line feed
  std::unique_ptr<Unpacker> unpacker_;
};

}  // namespace raddle::accelsim

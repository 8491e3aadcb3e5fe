// One line of a trace: what is the same each time (opcode, registers) and what is not (lanes,
// addresses).
//
//   [cta_x cta_y cta_z warp] [line] PC mask nd [Rd]*nd OPCODE ns [Rs]*ns width [mode addresses]
//   [imm]
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "raddle/accelsim/access.h"
#include "raddle/accelsim/isa.h"
#include "raddle/trace/code.h"

namespace raddle::accelsim {

/// Which fields the lines of a kernel have.
struct LineFormat {
  Generation generation = Generation::Volta;
  bool block_first = false;  ///< tracer version < 3: block and warp in front
  bool lineinfo = false;
  bool more_last = false;  ///< tracer version >= 6: fields behind the immediate
};

/// Reads a line field by field. Throws InputError without a place.
class Fields {
 public:
  explicit Fields(std::string_view line) : at_(line.data()), end_(line.data() + line.size()) {}
  /// The next word; empty at the end.
  std::string_view word();
  std::uint64_t hex(std::string_view what);  ///< with or without 0x
  std::int64_t decimal(std::string_view what);
  /// A number in whichever of the two forms; 0 at the end of the line.
  std::int64_t immediate();
  /// What has not been read, without blanks in front.
  std::string_view rest();
  void skip(std::size_t n) { at_ += n; }
  bool at_end() { return rest().empty(); }

 private:
  const char *at_, *end_;
};

/// What a line says each time it comes.
struct StaticLine {
  std::uint64_t pc = 0;
  std::string text;  ///< of the line, from nd to width
  std::string mnemonic;
  const Opcode* opcode = nullptr;  ///< null: unknown
  bool addresses_follow = false;   ///< width is not 0
  bool has_addresses = false;      ///< and they mean something
  unsigned bytes = 0;              ///< of a memory operand, per lane
  Space space = Space::None;
  LaneMask lanes = kFullMask;  ///< those whose addresses count (ldmatrix)
  trace::StaticInst inst;
};

/// `text`: a line from nd on. Throws InputError without a place.
StaticLine read_static(std::uint64_t pc, std::string_view text, Generation generation);

/// The addresses of the lanes in `mask`, mode and all.
void read_addresses(Fields& fields, LaneMask mask, Addresses& out);

}  // namespace raddle::accelsim

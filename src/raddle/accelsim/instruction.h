// One line of a trace: what is the same each time (opcode, registers) and what is not (lanes,
// addresses).
//
//   [cta_x cta_y cta_z warp] [line] PC mask nd [Rd]*nd OPCODE ns [Rs]*ns width [mode addresses]
//   [imm]
//
// From tracer version 6 on (accel-sim-framework, trace_parser.cc beside tracez_format.h of commit
// e1c2b67): registers may be uniform ones and predicates; of *GMMA a digit before the width says
// whether it ends a group; bulk and tensor copies have other fields (CopyLine); behind imm there
// may be a second one, and then NoVal, or Val and for each register named 1 and its value, or 32
// and the values of all lanes.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/accelsim/access.h"
#include "raddle/accelsim/isa.h"
#include "raddle/trace/code.h"

namespace raddle::accelsim {

/// Which fields the lines of a kernel have.
struct LineFormat {
  Generation generation = Generation::Volta;
  bool block_first = false;  ///< tracer version < 3: block and warp in front
  bool lineinfo = false;
  bool version_6 = false;  ///< or later
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

/// What an instruction of barrier objects (SYNCS) does; numbers may be of its register.
struct ObjectUse {
  static constexpr std::uint8_t kOfRegister = 2;
  trace::ObjectAction action = trace::ObjectAction::Init;
  std::uint8_t arrivals = 0, bytes = 0;  ///< 0, 1 or kOfRegister
  bool reads_register() const {
    return action == trace::ObjectAction::Wait || arrivals == kOfRegister || bytes == kOfRegister;
  }
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
  Effect effect = Effect::None;
  bool ends_group = false;  ///< of a product
  ObjectUse object;
  std::uint8_t destinations = 0, sources = 0;  ///< registers named
  trace::StaticInst inst;
};

/// `text`: a line from nd on. Throws InputError without a place.
StaticLine read_static(std::uint64_t pc, std::string_view text, const LineFormat& format);
bool has_modifier(std::string_view mnemonic, std::string_view modifier);

/// The addresses of the lanes in `mask`, mode and all.
void read_addresses(Fields& fields, LaneMask mask, Addresses& out);

/// What a line has of a bulk or tensor copy.
struct CopyLine {
  std::uint64_t object = 0;             ///< address of the barrier object in shared memory
  std::optional<std::uint32_t> blocks;  ///< multicast to these of the cluster, by rank
  std::uint64_t bytes = 0, outside = 0;
  std::vector<std::uint64_t> elements;  ///< addresses of the tensor's elements, or pieces of bytes
};
/// Behind the width. Throws InputError without a place.
void read_copy(Fields& fields, CopyLine& out);

/// What stands behind the addresses.
struct Tail {
  std::int64_t first = 0, second = 0;  ///< immediates
  bool values = false;                 ///< those of registers follow
};
Tail read_tail(Fields& fields, bool version_6);
/// Values of the register named as number `wanted`, behind read_tail(). Throws InputError.
std::array<std::uint64_t, kLanes> read_values(Fields& fields, unsigned wanted);

}  // namespace raddle::accelsim

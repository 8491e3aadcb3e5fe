#include "raddle/accelsim/isa.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "raddle/base/error.h"

namespace raddle::accelsim {

namespace {

using K = trace::OpKind;
using C = trace::OpClass;
using E = Effect;

constexpr std::uint8_t kV = 1, kT = 2, kA = 4, kH = 8;
constexpr std::uint8_t kAll = kV | kT | kA | kH, kFromT = kT | kA | kH, kFromA = kA | kH;

/// Names that share everything else.
struct Row {
  std::string_view names;
  K kind;
  C op_class;
  std::uint8_t generations = kAll;
  Space space = Space::None;
  Width width = Width::Plain;
  Effect effect = Effect::None;
};

constexpr Row kRows[] = {
    // --- floating point
    {"FADD FADD32I FCHK FFMA FFMA32I FMNMX FMUL FMUL32I FSEL FSET FSETP FSWZADD", K::Alu, C::Fp32},
    {"FMNMX3 FADD2 FMUL2 FFMA2", K::Alu, C::Fp32, kH},
    {"MUFU", K::Alu, C::Sfu},
    {"HADD2 HADD2_32I HFMA2 HFMA2_32I HMUL2 HMUL2_32I HSET2 HSETP2", K::Alu, C::Fp16},
    {"HMNMX2", K::Alu, C::Fp16, kFromA},
    {"VHMNMX", K::Alu, C::Fp16, kH},
    {"DADD DFMA DMUL DSETP", K::Alu, C::Fp64, kAll, Space::None, Width::Double},
    {"HMMA", K::Alu, C::Tensor, kAll, Space::None, Width::Matrix},
    {"IMMA", K::Alu, C::Tensor, kAll, Space::None, Width::Matrix},
    {"BMMA", K::Alu, C::Tensor, kFromT, Space::None, Width::Matrix},
    {"DMMA", K::Alu, C::Tensor, kFromA, Space::None, Width::Matrix},
    {"QMMA", K::Alu, C::Tensor, kH, Space::None, Width::Matrix},
    {"HGMMA IGMMA BGMMA QGMMA", K::Alu, C::Tensor, kH, Space::None, Width::Matrix, E::Product},
    {"GENMETADATA SPMETADATA", K::Alu, C::Int, kFromA},
    // --- integer
    {"BMSK BREV FLO IABS IADD IADD3 IADD32I IDP IDP4A IMNMX ISCADD ISCADD32I ISETP LEA LOP LOP3 "
     "LOP32I POPC SHF SHL SHR VABSDIFF VABSDIFF4 SGXT",
     K::Alu, C::Int},
    {"IMAD", K::Alu, C::IntMul, kAll, Space::None, Width::Wide},
    {"IMUL IMUL32I IMAD32I IMADSP", K::Alu, C::IntMul},
    {"VIADD VIADDMNMX VIMNMX VIMNMX3", K::Alu, C::Int, kH},
    // --- conversion
    {"F2F F2I I2F I2I FRND", K::Alu, C::Convert, kAll, Space::None, Width::Sized},
    {"I2IP F2FP I2FP F2IP", K::Alu, C::Convert},
    // --- movement
    {"MOV MOV32I PRMT SEL", K::Alu, C::Move},
    {"MOVM", K::Alu, C::Move, kFromT},
    {"SHFL", K::Alu, C::Shuffle},
    // --- predicates
    {"PLOP3 PSETP P2R R2P", K::Alu, C::Int},
    // --- uniform datapath
    {"R2UR S2UR UBMSK UBREV UCLEA UFLO UIADD3 UIMAD UISETP ULEA ULOP ULOP3 ULOP32I UMOV UP2UR "
     "UPLOP3 UPOPC UPRMT UPSETP UR2UP USEL USGXT USHF USHL USHR VOTEU UIABS UIMNMX",
     K::Alu, C::Int, kFromT},
    {"UF2FP UI2FP", K::Alu, C::Convert, kFromA},
    {"ULDC", K::LoadConst, C::Memory, kFromT, Space::Const},
    // --- memory
    {"LD", K::LoadGlobal, C::Memory, kAll, Space::Generic, Width::Data},
    {"LDG", K::LoadGlobal, C::Memory, kAll, Space::Global, Width::Data},
    {"LDGMC", K::LoadGlobal, C::Memory, kH, Space::Global, Width::Data},
    {"LDL", K::LoadLocal, C::Memory, kAll, Space::Local, Width::Data},
    {"LDS", K::LoadShared, C::Memory, kAll, Space::Shared, Width::Data},
    {"LDSM", K::LoadShared, C::Memory, kFromT, Space::Shared, Width::Data},
    {"LDC", K::LoadConst, C::Memory, kAll, Space::Const, Width::Data},
    {"ST", K::StoreGlobal, C::Memory, kAll, Space::Generic, Width::Data},
    {"STG", K::StoreGlobal, C::Memory, kAll, Space::Global, Width::Data},
    {"STL", K::StoreLocal, C::Memory, kAll, Space::Local, Width::Data},
    {"STS STAS", K::StoreShared, C::Memory, kAll, Space::Shared, Width::Data},
    {"STSM", K::StoreShared, C::Memory, kH, Space::Shared, Width::Data},
    {"ATOM", K::AtomicGlobal, C::Memory, kAll, Space::Generic, Width::Data},
    {"ATOMG", K::AtomicGlobal, C::Memory, kAll, Space::Global, Width::Data},
    {"ATOMS", K::AtomicShared, C::Memory, kAll, Space::Shared, Width::Data},
    {"RED", K::ReduceGlobal, C::Memory, kAll, Space::Global, Width::Data},
    {"REDG", K::ReduceGlobal, C::Memory, kH, Space::Global, Width::Data},
    {"REDAS", K::AtomicShared, C::Memory, kH, Space::Shared, Width::Data},
    {"LDGSTS", K::LoadGlobal, C::Memory, kFromA, Space::Global, Width::Plain},
    {"MEMBAR", K::Fence, C::Control},
    {"FENCE", K::Fence, C::Control, kH},
    {"CCTL CCTLL CCTLT", K::Alu, C::Control, kAll, Space::None, Width::Plain, E::Untimed},
    {"ERRBAR QSPC", K::Alu, C::Control},
    {"LDGDEPBAR", K::Alu, C::Control, kFromA, Space::None, Width::Plain, E::EndsCopies},
    {"ARRIVES", K::Alu, C::Barrier, kFromA, Space::None, Width::Plain, E::CopiesArrive},
    {"CGAERRBAR", K::Alu, C::Control, kH},
    {"MATCH", K::Alu, C::Int},
    {"REDUX", K::Alu, C::Int, kFromA},
    // --- Hopper's asynchronous copies, barriers in shared memory and clusters
    {"SYNCS", K::Alu, C::Barrier, kH, Space::None, Width::Plain, E::Object},
    {"UBLKCP UTMALDG", K::LoadGlobal, C::Memory, kH, Space::None, Width::Plain, E::Copy},
    {"UTMASTG", K::StoreGlobal, C::Memory, kH, Space::None, Width::Plain, E::Copy},
    {"UBLKRED UTMAREDG", K::ReduceGlobal, C::Memory, kH, Space::None, Width::Plain, E::Copy},
    {"UTMACMDFLUSH", K::Alu, C::Control, kH, Space::None, Width::Plain, E::EndsBulk},
    {"UCGABAR_ARV", K::Barrier, C::Barrier, kH, Space::None, Width::Plain, E::ClusterArrive},
    {"UCGABAR_WAIT", K::Barrier, C::Barrier, kH, Space::None, Width::Plain, E::ClusterWait},
    {"WARPGROUP", K::Alu, C::Control, kH, Space::None, Width::Plain, E::Warpgroup},
    {"MAPA", K::Alu, C::Int, kH},
    {"ELECT ENDCOLLECTIVE WARPGROUPSET", K::Alu, C::Control, kH},
    {"UBLKPF UTMAPF UTMACCTL ACQBULK PREEXIT USETMAXREG USETSHMSZ", K::Alu, C::Control, kH,
     Space::None, Width::Plain, E::Untimed},
    {"REPLAY_START REPLAY_END", K::Alu, C::Control, kAll, Space::None, Width::Plain, E::Marker},
    // --- texture and surface: no addresses in traces
    {"TEX TLD TLD4 TMML TXD TXQ SUATOM SULD SUQUERY SURED SUST FOOTPRINT", K::Alu, C::Sfu, kAll,
     Space::None, Width::Plain, E::Untimed},
    // --- control
    {"BRA BRX CALL JMP JMX RET", K::Branch, C::Control},
    {"BRXU JMXU", K::Branch, C::Control, kFromT},
    {"EXIT KILL", K::Exit, C::Control},
    {"BAR", K::Barrier, C::Barrier},
    {"NANOSLEEP", K::Sleep, C::Control},
    {"BMOV BPT BREAK BSSY BSYNC RPCMOV RTT WARPSYNC YIELD", K::Alu, C::Control},
    // --- the rest
    {"DEPBAR", K::Alu, C::Control, kAll, Space::None, Width::Plain, E::Waits},
    {"B2R R2B NOP PMTRIG SETCTAID SETLMEMBASE GETLMEMBASE LEPC VOTE_VTG CSMTEST", K::Alu,
     C::Control},
    {"CS2R S2R", K::Alu, C::Move},
    {"VOTE", K::Alu, C::Int},
};

std::vector<Opcode> make_table() {
  std::vector<Opcode> out;
  for (const Row& row : kRows)
    for (std::string_view names = row.names; !names.empty();) {
      const std::size_t end = std::min(names.find(' '), names.size());
      out.push_back({names.substr(0, end), row.kind, row.op_class, row.space, row.width,
                     row.generations, row.effect});
      names.remove_prefix(std::min(end + 1, names.size()));
    }
  std::ranges::sort(out, {}, &Opcode::name);
  return out;
}

const std::vector<Opcode>& table() {
  static const std::vector<Opcode> kTable = make_table();
  return kTable;
}

}  // namespace

Generation generation_of(std::uint64_t binary_version) {
  switch (binary_version) {
    case 70:
    case 72:
      return Generation::Volta;
    case 75:
      return Generation::Turing;
    case 80:
    case 86:
    case 87:
    case 89:
      return Generation::Ampere;
    case 90:
      return Generation::Hopper;
    default:
      throw InputError("binary version " + std::to_string(binary_version) +
                       " has no opcode table; there are tables for 70, 72 (Volta), 75 (Turing), "
                       "80, 86, 87, 89 (Ampere, Ada) and 90 (Hopper)");
  }
}

std::string_view name_of(Generation generation) {
  constexpr std::array<std::string_view, 4> kNames = {"Volta", "Turing", "Ampere", "Hopper"};
  return kNames[static_cast<unsigned>(generation)];
}

const Opcode* find_opcode(Generation generation, std::string_view mnemonic) {
  const std::string_view name = mnemonic.substr(0, mnemonic.find('.'));
  const auto at = std::ranges::lower_bound(table(), name, {}, &Opcode::name);
  if (at == table().end() || at->name != name) return nullptr;
  return (at->generations >> static_cast<unsigned>(generation) & 1) != 0 ? &*at : nullptr;
}

}  // namespace raddle::accelsim

// From a parsed function to records. One class, in files by instruction family; each family's
// function turns one PTX instruction into one or more records (intermediate results in temporary
// registers) and says what it is to the timing model.
#pragma once
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/exec/decode/program.h"
#include "raddle/exec/isa/kernel.h"
#include "raddle/exec/slow/matrix.h"
#include "raddle/ptx/analysis.h"

namespace raddle::exec {

class VideoInstruction;

/// An instruction that cannot be executed; thrown within the decoder only.
struct Refusal {
  std::string why;
};

/// Addresses that instructions and initialisers may name. Shared ones are offsets into the block's
/// memory.
struct Layout {
  const ptx::Module* module = nullptr;
  std::vector<std::uint64_t> variables;  ///< by module variable
};
std::uint64_t function_address(std::uint32_t module_index);

/// Decodes an entry and what it calls. Throws InputError naming every unsupported instruction on
/// the way.
std::unique_ptr<Kernel> decode_kernel(const Layout& layout, std::uint32_t entry);
/// What decode_kernel would refuse in one function.
std::vector<Unsupported> refusals(const Layout& layout, std::uint32_t function);

/// Per kernel: where its .shared variables lie.
struct SharedLayout {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> local;  ///< (function, variable)
  std::vector<std::uint32_t> module;                                       ///< by module variable
  std::uint32_t static_bytes = 0;
};

struct DecodeScope {
  const Layout* layout;
  const SharedLayout* shared;
  const ParameterLayout* parameters;  ///< of the entry
  std::uint32_t function = 0;         ///< module index
  std::uint32_t first_instruction = 0;
};

class Decoder {
 public:
  explicit Decoder(const DecodeScope& scope);
  /// Decodes everything. Instructions that cannot be executed are listed in refused(); their
  /// records are absent.
  void run();
  Code take_code() { return std::move(code_); }
  std::vector<trace::StaticInst> take_static() { return std::move(static_); }
  const std::vector<std::string>& opcode_texts() const { return texts_; }  ///< by instruction
  const std::vector<Unsupported>& refused() const { return refused_; }
  /// Module indices of the functions called; indirect calls may reach any whose address is taken.
  const std::vector<std::uint32_t>& callees() const { return callees_; }
  bool has_indirect_call() const { return indirect_; }
  bool takes_stack() const { return takes_stack_; }  ///< alloca
  /// Instructions (function-local) that access generic addresses and need alias entries.
  const std::vector<std::uint32_t>& generic_accesses() const { return generic_; }

 private:
  using Inst = ptx::Instruction;
  using Type = ptx::Type;
  struct Pred {
    std::uint32_t offset;
    bool negated;
  };

  // decode.cpp: frame and driver
  void lay_out_frame();
  void place_parameters();
  void decode_all();
  void decode_instruction(std::uint32_t index);
  /// Who decodes an opcode.
  using Handler = void (Decoder::*)(const Inst&);
  static const std::map<std::string_view, Handler> kHandlers;
  void dispatch(const Inst& inst);
  void patch_targets();
  void describe(std::uint32_t index);
  Record& emit(Op op, std::uint32_t d = 0, std::uint32_t a = 0, std::uint32_t b = 0,
               std::uint32_t c = 0, std::int32_t imm = 0);
  /// Arithmetic. A destination may be a source only where both have the same width (frames see to
  /// that).
  void alu(Op op, std::uint32_t d, std::uint32_t a, std::uint32_t b = 0, std::uint32_t c = 0,
           std::uint32_t k = 0);
  [[noreturn]] void refuse(const std::string& why = "") const;
  /// This instruction has a stream record of its own, written by the record emitted next.
  Record& emit_own(Op op, trace::OpKind kind);
  void kind(trace::OpKind kind, trace::OpClass op_class = trace::OpClass::Memory);
  void op_class(trace::OpClass op_class) { current_.op_class = op_class; }

  // operands.cpp
  std::uint32_t temporary();
  std::uint32_t temporary_predicate();
  std::uint32_t constant(unsigned width, std::uint64_t bits);
  std::uint32_t register_offset(std::uint32_t reg) const { return register_at_[reg]; }
  unsigned register_width(std::uint32_t reg) const;
  std::uint32_t special(const ptx::Operand& operand, unsigned width);
  std::optional<std::uint64_t> symbol_value(const ptx::Operand& operand);
  std::uint64_t immediate(const ptx::Operand& operand, Type type) const;
  /// Register holding the operand as a value of `type` (its width; other widths are converted).
  std::uint32_t source(const ptx::Operand& operand, Type type);
  std::uint32_t destination(const ptx::Operand& operand, Type type);
  std::uint32_t resize(std::uint32_t offset, unsigned from, unsigned to, bool is_signed);
  Pred predicate(const ptx::Operand& operand);
  std::uint32_t predicate_value(const ptx::Operand& operand);  ///< negation done
  std::uint32_t predicate_register(std::uint32_t reg) const { return register_at_[reg]; }
  const ptx::Operand& operand(std::size_t i) const;
  Type type(std::size_t i = 0) const;

  // decode_integer.cpp
  void add_sub(const Inst& inst);
  void mul(const Inst& inst);
  void mad(const Inst& inst);
  void mul24(const Inst& inst);
  void div_rem(const Inst& inst);
  void unary(const Inst& inst);
  void min_max(const Inst& inst);
  void logic(const Inst& inst);
  void shift(const Inst& inst);
  void bits(const Inst& inst);
  void bit_field(const Inst& inst);
  void bytes(const Inst& inst);
  void carry(Op sum, Op out, std::uint32_t d, std::uint32_t a, std::uint32_t b, bool in, bool set);
  void carry_add(const Inst& inst);
  void carry_mad(const Inst& inst);
  // decode_float.cpp
  struct FloatOps;
  void float_binary(const Inst& inst, const FloatOps& ops);
  void float_instruction(const Inst& inst);
  void half_instruction(const Inst& inst, Op op, unsigned sources);
  void half_min_max(const Inst& inst);
  void fma(const Inst& inst);
  void float_unary(const Inst& inst);
  void float_min_max(const Inst& inst);
  void testp(const Inst& inst);
  template <class Body>
  void with_rounding(const Inst& inst, Body body);
  // decode_compare.cpp
  std::uint32_t compare(const Inst& inst, Type type, std::size_t first);
  std::uint32_t compare_half(const Inst& inst, Type type, unsigned half);
  std::uint32_t compare_values(const Inst& inst, Type type, std::uint32_t a, std::uint32_t b);
  std::uint64_t true_value(Type to) const;
  void combine(const Inst& inst, std::uint32_t t, std::size_t at, std::uint32_t p, std::uint32_t q);
  void setp(const Inst& inst);
  void set(const Inst& inst);
  void selp(const Inst& inst);
  void slct(const Inst& inst);
  // decode_convert.cpp
  void mov(const Inst& inst);
  void unpack(const Inst& inst);
  void pack(const Inst& inst);
  void cvt(const Inst& inst);
  void cvt_integer(const Inst& inst, Type to, Type from);
  void cvt_to_float(const Inst& inst, Type to, Type from);
  void cvt_to_integer(const Inst& inst, Type to, Type from);
  void cvt_float(const Inst& inst, Type to, Type from);
  void cvt_pack_half(const Inst& inst, Type to);
  void cvt_rare(const Inst& inst, Type to, Type from);
  void cvt_pack_integers(const Inst& inst, Type to, Type from);
  std::uint32_t extended(const ptx::Operand& operand, Type from, unsigned* width);
  void narrow(std::uint32_t d, unsigned d_width, std::uint32_t value, unsigned width, Type to);
  void cvta(const Inst& inst);
  void isspacep(const Inst& inst);
  // decode_memory.cpp
  struct Access;
  struct Elements;
  struct Form;
  Access access(const Inst& inst, const ptx::Operand& address);
  void place_address(Record& record, const Access& access);
  Elements elements(const ptx::Operand& data, Type type);
  void place_elements(Elements& e, Type type, bool store);
  Record& emit_access(const Form& form, const Access& access, const Elements& e);
  void load(const Inst& inst);
  void store(const Inst& inst);
  void load_kernel_parameter(const Elements& e, Type t, const ptx::Operand& address);
  void load_plane(const ptx::Operand& to, Type type, std::uint32_t plane, std::int64_t offset);
  void store_plane(const ptx::Operand& from, Type type, std::uint32_t plane, std::int64_t offset);
  void atom(const Inst& inst);
  void vector_atom(const Inst& inst, std::uint32_t what, std::size_t at);
  std::optional<std::uint32_t> parameter_area(const ptx::Operand& address) const;
  // decode_matrix.cpp
  struct MatrixWords;
  void wmma(const Inst& inst);
  void wmma_access(const MatrixWords& words);
  void matrix_product(const MatrixWords& words, bool wmma);
  void mma(const Inst& inst);
  void matrix_rows(const Inst& inst);
  void matrix_transpose(const Inst& inst);
  std::shared_ptr<const Fragment> fragment(Role role, const MatrixWords& words, Element element,
                                           unsigned registers);
  FragmentRegisters fragment_registers(std::shared_ptr<const Fragment> fragment,
                                       const ptx::Operand& operand, bool written);
  SlowAddress slow_address(const Inst& inst, const ptx::Operand& operand);
  template <class T>
  void emit_slow(std::unique_ptr<T> instruction);
  template <class T>
  void emit_slow_access(std::unique_ptr<T> instruction, ptx::Space space, bool store);
  // decode_async.cpp
  void async_copy(const Inst& inst);
  void barrier_object(const Inst& inst);
  void pending_count(const Inst& inst);
  void elect(const Inst& inst);
  SlowAddress object_address(const Inst& inst, const ptx::Operand& operand);
  // decode_video.cpp
  void video(const Inst& inst);
  void video_parts(VideoInstruction& made);
  void video_lanes(VideoInstruction& made);
  std::uint32_t video_source(const ptx::Operand& operand);
  // decode_image.cpp
  void texture(const Inst& inst);
  void surface(const Inst& inst);
  void image_query(const Inst& inst);
  ImageSite image_site(const Inst& inst, const ptx::Operand& address, Type coordinate);
  void image_handle(ImageSite& site, const ptx::Operand& address);
  void image_results(ImageSite& site, const ptx::Operand& data);
  void emit_image(ImageSite site, trace::OpKind kind);
  // decode_control.cpp
  void bra(const Inst& inst);
  void brx(const Inst& inst);
  void call(const Inst& inst);
  bool host_call(const ptx::Call& call, const ptx::Function& callee);
  std::vector<ParameterPlace> places(const std::vector<ptx::Operand>& operands);
  void stack(const Inst& inst);
  // decode_device.cpp
  bool device_call(const ptx::Call& call, const ptx::Function& callee);
  void ret_exit(const Inst& inst);
  void bar(const Inst& inst);
  void simple(const Inst& inst);
  void vote(const Inst& inst);
  void match(const Inst& inst);
  void shfl(const Inst& inst);
  void redux(const Inst& inst);
  void activemask(const Inst& inst);
  void create_policy(const Inst& inst);
  // decode_cluster.cpp
  void cluster_barrier(const Inst& inst);
  void mapa(const Inst& inst);
  void getctarank(const Inst& inst);
  void warp_op(WarpOp op, std::uint32_t d, std::uint32_t a, std::uint32_t mask);

  const DecodeScope scope_;
  const ptx::Module& module_;
  const ptx::Function& function_;
  Code code_;
  std::vector<trace::StaticInst> static_;
  std::vector<std::string> texts_;
  std::vector<Unsupported> refused_;
  std::vector<std::uint32_t> callees_, generic_;
  bool indirect_ = false, takes_stack_ = false;

  std::vector<std::uint32_t> register_at_;    ///< frame offset by virtual register
  std::vector<std::uint16_t> architectural_;  ///< number by virtual register
  std::vector<std::uint32_t>
      variable_at_;  ///< by variable of the function: frame, shared or local offset
  std::vector<std::uint32_t> start_;  ///< first record by instruction
  std::vector<std::uint32_t> joins_;  ///< reconvergence point by instruction
  struct Fix {
    std::size_t record;
    std::uint32_t target, join;  ///< instruction indices
  };
  std::vector<Fix> fixes_;
  std::map<std::pair<unsigned, std::uint64_t>, std::uint32_t> constants_;
  std::map<std::pair<unsigned, unsigned>, std::uint32_t> specials_;
  std::map<std::array<std::uint64_t, 3>, std::uint32_t> parameter_fills_;
  std::map<std::array<unsigned, 6>, std::shared_ptr<const Fragment>> fragments_;
  std::uint32_t temporaries_at_ = 0, temporaries_used_ = 0, predicates_used_ = 0;
  std::uint32_t predicate_temporaries_at_ = 0, carry_at_ = 0, trash_at_ = 0, false_at_ = 0;

  std::uint32_t index_ = 0;  ///< instruction being decoded
  const Inst* inst_ = nullptr;
  bool own_ = false;  ///< its stream record has been emitted by a record of its own
  trace::StaticInst current_;
};

}  // namespace raddle::exec

// Video instructions (PTX ISA 9.0, 9.7.16).
#include "raddle/exec/slow/video.h"
#include "raddle/exec/decode/decode_context.h"
#include "raddle/exec/decode/syntax.h"

namespace raddle::exec {

using u32 = std::uint32_t;
using ptx::Type;
using Kind = ptx::Operand::Kind;
using What = VideoInstruction::What;
using Second = VideoInstruction::Second;
using Compare = VideoInstruction::Compare;
using ptx::Instruction;

namespace {

template <class T>
struct Word {
  std::string_view name;
  T value;
};
constexpr Word<What> kWhat[] = {{"vadd", What::Add},         {"vsub", What::Sub},
                                {"vabsdiff", What::AbsDiff}, {"vmin", What::Min},
                                {"vmax", What::Max},         {"vavrg", What::Average},
                                {"vshl", What::ShiftLeft},   {"vshr", What::ShiftRight},
                                {"vmad", What::Mad},         {"vset", What::Set}};
constexpr Word<Compare> kCompare[] = {{"eq", Compare::Eq}, {"ne", Compare::Ne},
                                      {"lt", Compare::Lt}, {"le", Compare::Le},
                                      {"gt", Compare::Gt}, {"ge", Compare::Ge}};
constexpr Word<Second> kSecond[] = {
    {"add", Second::Add}, {"min", Second::Min}, {"max", Second::Max}};

/// "b2", "h1": one part of a register.
std::optional<VideoPart> part_named(std::string_view selector) {
  if (selector.size() != 2) return std::nullopt;
  const unsigned bits = selector[0] == 'b' ? 8 : 16,
                 index = static_cast<unsigned>(selector[1] - '0');
  if (index * bits >= 32) return std::nullopt;
  return VideoPart{bits, index * bits};
}

u32 video_source(DecodeContext& ctx, const ptx::Operand& operand) {
  if (operand.kind == Kind::Register &&
      !register_fits(ctx.function.registers[operand.reg].type, Type::U32, false))
    refuse("type of a register");
  ptx::Operand whole = operand;
  whole.has_selector = false;
  return ctx.in.source(whole, Type::U32);
}

/// Selectors of the scalar forms.
void video_parts(DecodeContext& ctx, const Instruction& inst, VideoInstruction& made) {
  const auto part = [&](const ptx::Operand& o) {
    if (!o.has_selector) return VideoPart{};
    const auto p = part_named(o.selector);
    if (!p) refuse("selector");
    return *p;
  };
  made.a_part[0] = part(ctx.in.operand(1));
  made.b_part[0] = part(ctx.in.operand(2));
  const bool has_c = inst.operands.size() > 3;
  if (ctx.in.operand(0).has_selector) {
    if (!has_c || made.second != Second::None) refuse("selector");
    made.d_part = part(ctx.in.operand(0));
    made.second = Second::Merge;
  } else if (made.what != What::Mad && has_c != (made.second != Second::None)) {
    refuse();
  }
}

/// Selectors of the SIMD forms: digits from the highest part down, counting through a, then b.
void video_lanes(DecodeContext& ctx, const Instruction& inst, VideoInstruction& made) {
  const unsigned bits = 32 / made.parts;
  const char letter = made.parts == 4 ? 'b' : 'h';
  const auto digits = [&](const ptx::Operand& operand) {
    std::string_view text = operand.selector;
    if (text.empty() || text[0] != letter) refuse("selector");
    text.remove_prefix(1);
    return text;
  };
  const auto parts = [&](const ptx::Operand& operand, unsigned start,
                         std::array<VideoPart, 4>& to) {
    for (unsigned index = 0; index < made.parts; ++index) {
      unsigned from = start + index;
      if (operand.has_selector) {
        const std::string_view text = digits(operand);
        if (text.size() != made.parts) refuse("selector");
        from = static_cast<unsigned>(text[made.parts - 1 - index] - '0');
      }
      if (from >= 2 * made.parts) refuse("selector");
      to[index] = {bits, from * bits};
    }
  };
  parts(ctx.in.operand(1), 0, made.a_part);
  parts(ctx.in.operand(2), made.parts, made.b_part);
  if (inst.operands.size() != 4) refuse();
  if (made.saturate && made.second != Second::None) refuse("'.sat' with '.add'");
  if (!ctx.in.operand(0).has_selector) return;
  made.written = 0;
  for (char digit : digits(ctx.in.operand(0))) {
    if (static_cast<unsigned>(digit - '0') >= made.parts) refuse("selector");
    made.written |= 1u << (digit - '0');
  }
}

/// What vmad alone has: negated operands and `.po`; and what it has not.
void video_mad(DecodeContext& ctx, const Instruction& inst, VideoInstruction& made) {
  made.plus_one = inst.has("po");
  if (made.what != What::Mad) {
    if (made.plus_one) refuse("'.po'");
    return;
  }
  if (inst.operands.size() != 4 || made.second != Second::None) refuse();
  if (ctx.in.operand(0).has_selector) refuse("selector");
  const bool minus_a = ctx.in.operand(1).negated, minus_b = ctx.in.operand(2).negated;
  made.minus_product = minus_a != minus_b;
  made.minus_c = ctx.in.operand(3).negated;
  if (ctx.in.operand(0).negated) refuse("negation of the destination");
  if (made.plus_one && (minus_a || minus_b || made.minus_c)) refuse("'.po' with a negated operand");
  if (made.minus_product && made.minus_c) refuse("negation of both the product and the addend");
}

void video(DecodeContext& ctx, const Instruction& inst) {
  ctx.out.op_class(trace::OpClass::Int);
  auto made = std::make_unique<VideoInstruction>();
  std::string_view name = inst.opcode;
  if (name.back() == '2' || name.back() == '4') {
    made->parts = static_cast<unsigned>(name.back() - '0');
    name.remove_suffix(1);
  }
  bool known = false;
  for (const auto& [word, what] : kWhat)
    if (word == name) {
      made->what = what;
      known = true;
    }
  if (!known) refuse();
  const bool sets = made->what == What::Set;
  const std::size_t first = sets ? 0 : 1;
  if (inst.types.size() != first + 2) refuse();
  made->d_signed = !sets && ptx::is_signed(ctx.in.type(0));
  made->a_signed = ptx::is_signed(ctx.in.type(first));
  made->b_signed = ptx::is_signed(ctx.in.type(first + 1));
  made->saturate = inst.has("sat");
  made->wrap = inst.has("wrap");
  made->scale = inst.has("shr7") ? 7 : inst.has("shr15") ? 15 : 0;
  for (const auto& [word, comparison] : kCompare)
    if (inst.has(word)) made->compare = comparison;
  for (const auto& [word, operation] : kSecond)
    if (inst.has(word)) made->second = operation;
  video_mad(ctx, inst, *made);
  if (made->parts == 1) video_parts(ctx, inst, *made);
  else video_lanes(ctx, inst, *made);
  made->a = video_source(ctx, ctx.in.operand(1));
  made->b = video_source(ctx, ctx.in.operand(2));
  made->c =
      inst.operands.size() > 3 ? video_source(ctx, ctx.in.operand(3)) : ctx.frame.constant(4, 0);
  made->d = ctx.in.destination(0, Type::U32);
  ctx.out.emit_slow(std::move(made));
}

}  // namespace

void add_decode_video(Handlers& handlers) {
  handlers.add({"vadd",      "vadd2",  "vadd4", "vsub",  "vsub2", "vsub4", "vabsdiff", "vabsdiff2",
                "vabsdiff4", "vmin",   "vmin2", "vmin4", "vmax",  "vmax2", "vmax4",    "vavrg",
                "vavrg2",    "vavrg4", "vshl",  "vshr",  "vmad",  "vset",  "vset2",    "vset4"},
               video);
}

}  // namespace raddle::exec

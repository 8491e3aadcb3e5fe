// Textures and surfaces (PTX ISA 9.7.11), in the unified mode: a texture carries its sampler.
#include "raddle/exec/decode/decode_context.h"
#include "raddle/exec/decode/syntax.h"

namespace raddle::exec {

using u32 = std::uint32_t;
using ptx::Type;
using trace::OpKind;
using Kind = ptx::Operand::Kind;
using ptx::Instruction;

namespace {

struct Geometry {
  std::string_view name;
  unsigned dimensions;
  bool layered, cube;
};
constexpr Geometry kGeometries[] = {{"1d", 1, false, false}, {"2d", 2, false, false},
                                    {"3d", 3, false, false}, {"a1d", 1, true, false},
                                    {"a2d", 2, true, false}, {"cube", 2, false, true},
                                    {"acube", 2, true, true}};

/// The handle: a register, or a module's .texref or .surfref by name.
void image_handle(DecodeContext& ctx, ImageSite& site, const ptx::Operand& address) {
  if (address.kind != Kind::Address || address.offset != 0) refuse("texture operand");
  if (address.reg != ptx::kNoIndex) {
    if (ctx.frame.register_width(address.reg) != 8) refuse("texture handle of another size");
    site.handle = ctx.frame.register_at(address.reg);
    return;
  }
  const auto value = ctx.in.symbol_value(address);
  if (!value) refuse("texture operand");
  site.handle = ctx.frame.constant(8, *value);
  site.reference = true;
}

ImageSite image_site(DecodeContext& ctx, const Instruction& inst, const ptx::Operand& address,
                     Type coordinate) {
  ImageSite site;
  bool known = false;
  for (const Geometry& geometry : kGeometries)
    if (inst.has(geometry.name)) {
      site.dimensions = geometry.dimensions;
      site.layered = geometry.layered;
      site.cube = geometry.cube;
      known = true;
    }
  if (!known) refuse("geometry");
  image_handle(ctx, site, address);
  if (address.elements.size() != 1) refuse("separate sampler");
  const ptx::Operand& at = address.elements[0];
  const auto& given = at.kind == Kind::Vector ? at.elements : address.elements;
  const unsigned needed = (site.layered ? 1 : 0) + (site.cube ? 3 : site.dimensions);
  if (given.size() < needed) refuse("too few coordinates");
  if (given.size() > 4 || given.size() == 3) refuse("number of coordinates");
  if (coordinate != Type::F32 && coordinate != Type::S32) refuse("type of coordinates");
  site.float_coordinates = coordinate == Type::F32;
  if (site.cube && !site.float_coordinates) refuse("type of coordinates");
  for (unsigned i = 0; i < needed; ++i) {
    const Type wanted = site.layered && i == 0 ? Type::U32 : coordinate;
    if (given[i].kind == Kind::Register &&
        !register_fits(ctx.function.registers[given[i].reg].type, wanted, false))
      refuse("type of coordinates");
    site.coordinates[i] = ctx.in.source(given[i], wanted);
  }
  return site;
}

void image_results(DecodeContext& ctx, ImageSite& site, const ptx::Operand& data) {
  std::vector<ptx::Operand> one{data};
  const auto& list = data.kind == Kind::Vector ? data.elements : one;
  if (list.size() > 4) refuse();
  site.elements = static_cast<unsigned>(list.size());
  unsigned width = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].kind == Kind::Sink) {
      site.data[i] = ctx.frame.trash();
      continue;
    }
    if (list[i].kind != Kind::Register || list[i].has_selector) refuse("destination");
    const unsigned w = ctx.frame.register_width(list[i].reg);
    if (width != 0 && w != width) refuse("registers of different sizes");
    if (w > 8) refuse("128-bit values");
    width = w;
    site.data[i] = ctx.frame.register_at(list[i].reg);
  }
  site.register_bytes = width == 0 ? 4 : width;
  site.resident = ctx.in.second_predicate(data);
}

void emit_image(DecodeContext& ctx, ImageSite site, OpKind kind) {
  ctx.out.current().bytes = static_cast<std::uint8_t>(site.element_bytes * site.elements);
  ctx.out.emit_own(O_image, kind).imm = static_cast<std::int32_t>(ctx.code().images.size());
  ctx.code().images.push_back(site);
}

void texture(DecodeContext& ctx, const Instruction& inst) {
  const Type result = ctx.in.type(0), coordinate = ctx.in.type(1);
  if (result != Type::F32 && result != Type::S32 && result != Type::U32) refuse();
  if (inst.has("2dms") || inst.has("a2dms")) refuse();
  // A texture has one level, so level and gradients choose nothing; what else follows is refused.
  const std::size_t extra = inst.has("level") ? 1 : inst.has("grad") ? 2 : 0;
  if (inst.operands.size() != 2 + extra) refuse("offsets or depth comparison");
  ImageSite site = image_site(ctx, inst, ctx.in.operand(1), coordinate);
  const std::size_t slopes = site.cube || site.dimensions == 3 ? 4 : site.dimensions;
  for (std::size_t i = 2; inst.has("grad") && i < inst.operands.size(); ++i)
    if (ctx.in.operand(i).elements.size() != slopes) refuse("number of gradients");
  image_results(ctx, site, ctx.in.operand(0));
  if (site.register_bytes != 4) refuse("destination register of another size");
  if (inst.opcode == "tld4") {
    if (!site.float_coordinates || site.dimensions != 2) refuse();
    site.op = ImageOp::Gather;
    site.component = inst.has("r") ? 0 : inst.has("g") ? 1 : inst.has("b") ? 2 : 3;
  }
  emit_image(ctx, site, OpKind::LoadGlobal);
}

void surface(DecodeContext& ctx, const Instruction& inst) {
  const bool load = inst.opcode == "suld";
  if (!inst.has("b")) refuse();  // formatted stores
  const Type t = ctx.in.type(0);
  const unsigned size = ptx::size_of(t);
  ImageSite site = image_site(ctx, inst, ctx.in.operand(load ? 1 : 0), Type::S32);
  if (site.cube) refuse("geometry");
  site.surface = true;
  site.op = load ? ImageOp::Load : ImageOp::Store;
  site.clamp = inst.has("clamp")  ? SurfaceClamp::Clamp
               : inst.has("zero") ? SurfaceClamp::Zero
                                  : SurfaceClamp::Trap;
  const ptx::Operand& data = ctx.in.operand(load ? 0 : 1);
  image_results(ctx, site, data);
  site.element_bytes = size;
  if (size > 8 || size * site.elements > 16 || site.register_bytes < size) refuse();
  emit_image(ctx, site, load ? OpKind::LoadGlobal : OpKind::StoreGlobal);
}

void image_query(DecodeContext& ctx, const Instruction& inst) {
  static constexpr std::pair<std::string_view, ImageQuery> kQueries[] = {
      {"width", ImageQuery::Width},
      {"height", ImageQuery::Height},
      {"depth", ImageQuery::Depth},
      {"array_size", ImageQuery::ArraySize},
      {"normalized_coords", ImageQuery::Normalized},
      {"num_mipmap_levels", ImageQuery::Levels},
      {"num_samples", ImageQuery::Samples}};
  ImageSite site;
  site.op = ImageOp::Query;
  site.surface = inst.opcode == "suq";
  bool known = false;
  for (const auto& [name, query] : kQueries)
    if (inst.has(name)) {
      site.query = query;
      known = true;
    }
  if (!known || inst.has("level")) refuse();
  image_handle(ctx, site, ctx.in.operand(1));
  image_results(ctx, site, ctx.in.operand(0));
  if (site.register_bytes != 4) refuse("destination register of another size");
  emit_image(ctx, site, OpKind::Alu);
}

}  // namespace

void add_decode_image(Handlers& handlers) {
  handlers.add({"tex", "tld4"}, texture);
  handlers.add({"txq", "suq"}, image_query);
  handlers.add({"suld", "sust"}, surface);
}

}  // namespace raddle::exec

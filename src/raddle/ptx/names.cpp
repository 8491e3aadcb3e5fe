// Tables of PTX ISA 9.0, sections 5.2 (types) and 10 (special registers).
#include "raddle/ptx/names.h"

#include <algorithm>
#include <array>
#include <utility>

namespace raddle::ptx {
namespace {

struct TypeRow {
  std::string_view name;
  unsigned size;
  bool is_float, is_signed;
};

// In the order of the enumeration.
constexpr std::array kTypes = {
    TypeRow{"", 0, false, false},           TypeRow{"b8", 1, false, false},
    TypeRow{"b16", 2, false, false},        TypeRow{"b32", 4, false, false},
    TypeRow{"b64", 8, false, false},        TypeRow{"b128", 16, false, false},
    TypeRow{"u8", 1, false, false},         TypeRow{"u16", 2, false, false},
    TypeRow{"u32", 4, false, false},        TypeRow{"u64", 8, false, false},
    TypeRow{"s8", 1, false, true},          TypeRow{"s16", 2, false, true},
    TypeRow{"s32", 4, false, true},         TypeRow{"s64", 8, false, true},
    TypeRow{"f16", 2, true, true},          TypeRow{"f16x2", 4, true, true},
    TypeRow{"bf16", 2, true, true},         TypeRow{"bf16x2", 4, true, true},
    TypeRow{"tf32", 4, true, true},         TypeRow{"f32", 4, true, true},
    TypeRow{"f64", 8, true, true},          TypeRow{"pred", 1, false, false},
    TypeRow{"u16x2", 4, false, false},      TypeRow{"s16x2", 4, false, true},
    TypeRow{"f32x2", 8, true, true},        TypeRow{"e4m3x2", 2, true, true},
    TypeRow{"e5m2x2", 2, true, true},       TypeRow{"e2m1x2", 1, true, true},
    TypeRow{"e2m3x2", 2, true, true},       TypeRow{"e3m2x2", 2, true, true},
    TypeRow{"ue8m0x2", 2, true, false},     TypeRow{"texref", 8, false, false},
    TypeRow{"samplerref", 8, false, false}, TypeRow{"surfref", 8, false, false},
};
static_assert(kTypes.size() == static_cast<std::size_t>(Type::SurfRef) + 1);

const TypeRow& row(Type type) { return kTypes[static_cast<std::size_t>(type)]; }

using SpecialRow = std::pair<std::string_view, Special>;
constexpr std::array kSpecials = {
    SpecialRow{"%clock", Special::Clock},
    SpecialRow{"%clock64", Special::Clock64},
    SpecialRow{"%clock_hi", Special::ClockHi},
    SpecialRow{"%cluster_ctaid.x", Special::ClusterCtaidX},
    SpecialRow{"%cluster_ctaid.y", Special::ClusterCtaidY},
    SpecialRow{"%cluster_ctaid.z", Special::ClusterCtaidZ},
    SpecialRow{"%cluster_ctarank", Special::ClusterCtarank},
    SpecialRow{"%cluster_nctaid.x", Special::ClusterNctaidX},
    SpecialRow{"%cluster_nctaid.y", Special::ClusterNctaidY},
    SpecialRow{"%cluster_nctaid.z", Special::ClusterNctaidZ},
    SpecialRow{"%cluster_nctarank", Special::ClusterNctarank},
    SpecialRow{"%clusterid.x", Special::ClusterIdX},
    SpecialRow{"%clusterid.y", Special::ClusterIdY},
    SpecialRow{"%clusterid.z", Special::ClusterIdZ},
    SpecialRow{"%ctaid.x", Special::CtaidX},
    SpecialRow{"%ctaid.y", Special::CtaidY},
    SpecialRow{"%ctaid.z", Special::CtaidZ},
    SpecialRow{"%dynamic_smem_size", Special::DynamicSmemSize},
    SpecialRow{"%globaltimer", Special::GlobalTimer},
    SpecialRow{"%globaltimer_hi", Special::GlobalTimerHi},
    SpecialRow{"%globaltimer_lo", Special::GlobalTimerLo},
    SpecialRow{"%gridid", Special::GridId},
    SpecialRow{"%is_explicit_cluster", Special::IsExplicitCluster},
    SpecialRow{"%laneid", Special::LaneId},
    SpecialRow{"%lanemask_eq", Special::LanemaskEq},
    SpecialRow{"%lanemask_ge", Special::LanemaskGe},
    SpecialRow{"%lanemask_gt", Special::LanemaskGt},
    SpecialRow{"%lanemask_le", Special::LanemaskLe},
    SpecialRow{"%lanemask_lt", Special::LanemaskLt},
    SpecialRow{"%nclusterid.x", Special::NclusterIdX},
    SpecialRow{"%nclusterid.y", Special::NclusterIdY},
    SpecialRow{"%nclusterid.z", Special::NclusterIdZ},
    SpecialRow{"%nctaid.x", Special::NctaidX},
    SpecialRow{"%nctaid.y", Special::NctaidY},
    SpecialRow{"%nctaid.z", Special::NctaidZ},
    SpecialRow{"%nsmid", Special::NsmId},
    SpecialRow{"%ntid.x", Special::NtidX},
    SpecialRow{"%ntid.y", Special::NtidY},
    SpecialRow{"%ntid.z", Special::NtidZ},
    SpecialRow{"%nwarpid", Special::NwarpId},
    SpecialRow{"%reserved_smem_offset_1", Special::ReservedSmemOffset},
    SpecialRow{"%smid", Special::SmId},
    SpecialRow{"%tid.x", Special::TidX},
    SpecialRow{"%tid.y", Special::TidY},
    SpecialRow{"%tid.z", Special::TidZ},
    SpecialRow{"%total_smem_size", Special::TotalSmemSize},
    SpecialRow{"%warpid", Special::WarpId},
    SpecialRow{"WARP_SZ", Special::WarpSize},
};
constexpr bool by_name(const SpecialRow& a, const SpecialRow& b) { return a.first < b.first; }
static_assert(std::is_sorted(kSpecials.begin(), kSpecials.end(), by_name));

constexpr std::array<std::string_view, 16> kUnsupportedSpecials = {
    "%tid",
    "%ntid",
    "%ctaid",
    "%nctaid",
    "%clusterid",
    "%nclusterid",
    "%cluster_ctaid",
    "%cluster_nctaid",
    "%tid.w",
    "%ntid.w",
    "%ctaid.w",
    "%nctaid.w",
    "%aggr_smem_size",
    "%current_graph_exec",
    "%pm",
    "%reserved_smem_offset",
};

}  // namespace

unsigned size_of(Type type) { return row(type).size; }
bool is_float(Type type) { return row(type).is_float; }
bool is_signed(Type type) { return row(type).is_signed; }
std::string_view name_of(Type type) { return row(type).name; }

Type type_named(std::string_view word) {
  for (std::size_t i = 1; i < kTypes.size(); ++i)
    if (kTypes[i].name == word) return static_cast<Type>(i);
  return Type::None;
}

Type wide_of(Type type) {
  switch (type) {
    case Type::U16:
      return Type::U32;
    case Type::S16:
      return Type::S32;
    case Type::U32:
      return Type::U64;
    case Type::S32:
      return Type::S64;
    default:
      return Type::None;
  }
}

std::optional<Special> special_named(std::string_view name) {
  const auto at =
      std::lower_bound(kSpecials.begin(), kSpecials.end(), SpecialRow{name, {}}, by_name);
  if (at == kSpecials.end() || at->first != name) return std::nullopt;
  return at->second;
}

bool is_unsupported_special(std::string_view name) {
  // The last two stand for families: %pm0 to %pm7_64, %reserved_smem_offset_begin and kin.
  return std::any_of(kUnsupportedSpecials.begin(), kUnsupportedSpecials.end() - 2,
                     [&](std::string_view known) { return known == name; }) ||
         std::any_of(
             kUnsupportedSpecials.end() - 2, kUnsupportedSpecials.end(),
             [&](std::string_view family) { return name.substr(0, family.size()) == family; });
}

}  // namespace raddle::ptx

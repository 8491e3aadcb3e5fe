// Warped-Slicer: blocks of all tenants on every SM, so many of each that the one that loses most
// loses least, by how each scales alone (Xu et al., "Warped-Slicer: Efficient Intra-SM Slicing
// through Dynamic Resource Partitioning for GPU Multiprogramming", ISCA 2016). The curves are
// given; runs of each tenant alone with --policy scheme=static:blocks_0=1, 2, ... measure them.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>

#include "raddle/policy/registry.h"
#include "raddle/policy/scheme/present_tenants.h"
#include "raddle/policy/scheme/water_filling.h"

namespace raddle::policy {
namespace {

std::optional<double> read_number(const std::string& text) {
  char* rest = nullptr;
  const double value = std::strtod(text.c_str(), &rest);
  if (text.empty() || *rest != '\0' || !(value >= 0) || !(value < 1e12)) return std::nullopt;
  return value;
}

/// Adds points up to `blocks`, on a straight line from the last one, or from no blocks.
bool add_point(ScalingCurve& curve, double blocks, double value) {
  constexpr double kMaxBlocks = 1024;
  const auto last = static_cast<double>(curve.size());
  if (!(blocks > last) || blocks > kMaxBlocks || blocks != std::floor(blocks)) return false;
  const double from = curve.empty() ? 0 : curve.back();
  for (double at = last + 1; at <= blocks; ++at)
    curve.push_back(from + (value - from) * (at - last) / (blocks - last));
  return true;
}

/// Reads "0.3/0.55/1" or "1:0.3/4:1"; nothing if it is malformed or no point is above 0.
std::optional<ScalingCurve> read_curve(const std::string& text) {
  ScalingCurve out;
  bool rises = false;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('/', at), text.size());
    const std::string point = text.substr(at, end - at);
    const std::size_t colon = point.find(':');
    const bool keyed = colon != std::string::npos;
    const std::optional<double> value = read_number(keyed ? point.substr(colon + 1) : point);
    const std::optional<double> blocks =
        keyed ? read_number(point.substr(0, colon)) : static_cast<double>(out.size() + 1);
    if (!value || !blocks || !add_point(out, *blocks, *value)) return std::nullopt;
    rises = rises || *value > 0;
    at = end + 1;
  }
  return rises ? std::optional(out) : std::nullopt;
}

class WarpedSlicer final : public SchemePolicy {
 public:
  struct Params {
    std::array<std::string, kMaxTenants> curve;
    void visit(FieldVisitor& v) {
      for (unsigned t = 0; t < kMaxTenants; ++t)
        v.field("curve_" + std::to_string(t), curve[t],
                "tenant " + std::to_string(t) +
                    ": IPC alone with 1, 2, ... blocks on every SM, '0.3/0.55/1', of any unit, or "
                    "with so many, '1:0.3/4:1', and straight lines between; empty = in proportion "
                    "to the blocks");
    }
    std::vector<std::string> violations(const MachineFacts&) const {
      std::vector<std::string> out;
      for (unsigned t = 0; t < kMaxTenants; ++t)
        if (!curve[t].empty() && !read_curve(curve[t]))
          out.push_back("policy.scheme.curve_" + std::to_string(t) +
                        " must be numbers like 0.3/0.55/1 or 1:0.3/4:1, one above 0 (found '" +
                        curve[t] + "')");
      return out;
    }
  };
  WarpedSlicer(const Params& params, const Context& context) : context_(context) {
    for (unsigned t = 0; t < kMaxTenants; ++t)
      if (!params.curve[t].empty()) curves_[t] = *read_curve(params.curve[t]);
  }

  Cycle look(const SchemeView& view, Knobs& knobs) override {
    knobs = {};
    const PresentTenants present = present_tenants(view);
    if (present.count() < 2) return kNever;
    expect_one_of_each(context_.sm, present.blocks, "ws");
    std::vector<ScalingCurve> curves;
    for (std::size_t i = 0; i < present.count(); ++i) {
      curves.push_back(curves_[present.number[i]]);
      if (!curves.back().empty()) continue;
      for (std::uint32_t n = 1; n <= present.blocks[i].maximum; ++n) curves.back().push_back(n);
    }
    const WaterLevel level = fill_by_curves(context_.sm, present.blocks, curves);
    cap_blocks(present, level.blocks, context_.sms, knobs);
    blocks_.fill(0);
    for (std::size_t i = 0; i < present.count(); ++i) blocks_[present.number[i]] = level.blocks[i];
    minimum_ = level.minimum;
    return kNever;
  }
  void visit_statistics(FieldVisitor& v) override {
    v.field("predicted_least", minimum_, {}, "",
            "what the tenant that loses most has of its best, by the curves");
    for (unsigned t = 0; t < kMaxTenants; ++t)
      if (blocks_[t] != 0)
        v.field("blocks_" + std::to_string(t), blocks_[t], {}, "blocks", "on each SM at most");
  }

 private:
  Context context_;
  std::array<ScalingCurve, kMaxTenants> curves_;
  std::array<std::uint32_t, kMaxTenants> blocks_{};
  double minimum_ = 0;
};

}  // namespace

void add_scheme_ws(Registry<SchemePolicy>& r) {
  r.add<WarpedSlicer>("ws", "blocks by how each tenant scales: the least loss of who loses most");
}

}  // namespace raddle::policy

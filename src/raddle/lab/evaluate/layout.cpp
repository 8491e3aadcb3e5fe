#include "raddle/lab/evaluate/layout.h"

#include <fmt/format.h>

namespace raddle::lab {

namespace {

struct Item {
  std::string label, name;
  std::optional<AxisValue> value;
  Step step;
};

/// What a name stands for: one variant, the workloads of a group, the points of an axis.
std::vector<Item> items_of(const Experiment& e, const std::string& name) {
  using Dimension = Step::Dimension;
  std::vector<Item> out;
  if (const auto v = e.find(name, NameKind::Variant)) {
    out.push_back({e.variants[*v].title, name, {}, {Dimension::Variant, 0, static_cast<int>(*v)}});
  } else if (const auto a = e.find(name, NameKind::Axis)) {
    const Axis& axis = e.axes[*a];
    for (std::size_t p = 0; p < axis.points.size(); ++p) {
      const std::string text = shown(axis.points[p].value);
      out.push_back({text, text, axis.points[p].value, {Dimension::Axis, *a, static_cast<int>(p)}});
    }
  } else {
    for (const std::size_t w : e.workloads_of(name))
      out.push_back({e.workloads[w].title,
                     e.workloads[w].name,
                     {},
                     {Dimension::Workload, 0, static_cast<int>(w)}});
  }
  return out;
}

void add_columns(const Experiment& e, const Figure& figure, Layout& out) {
  for (const std::string& name : figure.x)
    for (Item& item : items_of(e, name))
      out.columns.push_back(
          {std::move(item.label), std::move(item.name), std::move(item.value), item.step, "", {}});
  for (const Figure::Mean& mean : figure.means) {
    Column column{mean.name, mean.over.empty() ? mean.mean : mean.name, {}, {}, mean.mean, {}};
    for (const std::size_t w : e.workloads_of(mean.over))
      column.over.push_back({Step::Dimension::Workload, 0, static_cast<int>(w)});
    out.columns.push_back(std::move(column));
  }
  // Bars and tables have a place for each point; only lines put it where its number is.
  if (figure.x.empty() || figure.type != FigureType::Lines) return;
  if (const auto axis = e.find(figure.x.front(), NameKind::Axis)) out.scale = e.axes[*axis].scale;
}

}  // namespace

Layout lay_out(const Experiment& e, const Figure& figure) {
  Layout out;
  add_columns(e, figure, out);
  const Formula* value = figure.value ? &*figure.value : nullptr;
  std::vector<SeriesPlan> plain;
  for (const Figure::Series& series : figure.series) {
    if (series.value) {
      plain.push_back({series.name, series.name, "", {}, &*series.value});
      continue;
    }
    const auto axis = e.find(series.name, NameKind::Axis);
    for (Item& item : items_of(e, series.name)) {
      std::string label = axis ? fmt::format("{} {}", e.axes[*axis].title, item.label) : item.label;
      plain.push_back({std::move(label), std::move(item.name), "", {item.step}, value});
    }
  }
  if (figure.series.empty()) plain.push_back({figure.title, "", "", {}, value});
  if (figure.type != FigureType::Stacked) {
    for (const SeriesPlan& one : plain) RADDLE_ASSERT(one.value != nullptr);
    out.series = std::move(plain);
    return out;
  }
  for (const SeriesPlan& bar : plain)
    for (const Figure::Series& transaction : figure.transactions)
      out.series.push_back({transaction.name, transaction.name,
                            figure.series.empty() ? "" : bar.label, bar.steps,
                            &*transaction.value});
  return out;
}

}  // namespace raddle::lab

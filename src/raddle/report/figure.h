// The figures of a reproduction document as files of their own, made without a browser: CSV with
// all numbers, and SVG in the style of the page, light, for papers and slides.
#pragma once
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/report/document.h"

namespace raddle::report {

/// Colours of series, in order (web/src/theme.ts has the same).
inline constexpr std::array<std::string_view, 8> kSeriesColours = {
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#7a5195", "#7f7f7f"};

/// Comma-separated (RFC 4180, lines end with a newline): a row per x, a column per series, and
/// after each series for which the paper states numbers a column "<series> (stated)". Parts of
/// stacks are called "<stack> / <series>".
std::string figure_csv(const Figure& figure);

/// The figure as an SVG document. What the paper states is marked by diamonds on a line.
std::string figure_svg(const Figure& figure);

struct Written {
  std::vector<std::string> names;  ///< relative to the folder, in order of the document
  std::string note;                ///< why there are no PNG files; empty when there are
};

/// Writes <experiment>.csv, .svg and .png for each figure into `folder` (made when absent);
/// experiments of several figures have <experiment>.1.csv and so on. PNG needs rsvg-convert in
/// the PATH; without it PNG is left out with a note. Throws InputError when the
/// document is not sound (nothing is written), RunError when a file cannot be written.
Written write_figures(const nlohmann::ordered_json& document, const std::filesystem::path& folder);

}  // namespace raddle::report

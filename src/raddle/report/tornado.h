// A tornado: how far each constant moves one number, the widest bar first.
#pragma once
#include <string>

#include "raddle/report/document.h"

namespace raddle::report {

/// As an SVG document: a bar for each constant from the least to the most that the number becomes,
/// the constant's values at the ends, and a line where the number is with all constants as
/// declared. Precondition: the figure is a tornado of a sound document.
std::string tornado_svg(const Figure& figure);

}  // namespace raddle::report
